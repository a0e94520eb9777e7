// What a message shows besides its text. Its blocks and attachments are in the raw event, when the
// row has one, or else in attributes of their own; these functions look in both places.
//
// Pure functions. They show what the Reader left in the message: of a message that the policy hides
// there is nothing.
#pragma once

#include <string>

#include "apps/archive/message.h"

namespace tidemark::archive {

// As JSON, an array; empty when there are none. A raw event that is in an object must have been
// read into the body before.
std::string BlocksOf(const Body& body);
std::string AttachmentsOf(const Body& body);

// For a message without text: one line that tells people what it shows, from its blocks, its
// attachments and the names of its files. Empty when it has a text, or nothing of these.
std::string SummaryOf(const Message& message);

}  // namespace tidemark::archive
