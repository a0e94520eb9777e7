// What a message shows besides its text. Its blocks and attachments are in the raw event, when the
// row has one, or else in attributes of their own; these functions look in both places.
//
// Pure functions. The Reader has already removed from the message what the policy hides.
#pragma once

#include <string>

#include "apps/archive/message.h"

namespace tidemark::archive {

// A JSON array, or an empty text when there are none. If the raw event is stored as an object, the
// caller must have read it into the body before.
std::string BlocksOf(const Body& body);
std::string AttachmentsOf(const Body& body);

// For a message without text: one line for people, made from its blocks, its attachments and the
// names of its files. Empty when the message has a text, or none of these.
std::string SummaryOf(const Message& message);

}  // namespace tidemark::archive
