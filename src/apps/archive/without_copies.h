// An event may carry copies of other messages: the root of a broadcast reply, the message that
// somebody shares or pins. Such a copy would outlive the deletion of its message, and it may be of
// a conversation that is not kept. So no copy is stored or shown: only what says which message it
// was.
//
// Pure functions. A text without copies stays as it is, byte for byte.
#pragma once

#include <string>

#include "base/json.h"

namespace tidemark::archive {

// The event, or the message, as text.
std::string WithoutCopies(const Json& event);

// The attachments of a message as text: those of its author, and references to the messages that it
// quotes. Empty when it has none.
std::string AttachmentsWithoutCopies(const Json& message);

// The same as WithoutCopies for a text that may have been stored with its copies. A text that is
// not JSON becomes empty.
std::string WithoutCopies(const std::string& raw_event);

}  // namespace tidemark::archive
