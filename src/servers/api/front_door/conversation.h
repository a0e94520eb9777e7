// What an event says about the conversation that it is of. Nothing is kept of direct messages, nor
// of private channels that were never public. A pure function.
#pragma once

#include "slack/event.h"

namespace tidemark::api {

enum class Conversation {
  kPublic,   // A public channel, or the event is not of a conversation.
  kUntold,   // The event names a channel and does not say of which kind it is.
  kPrivate,  // A private channel.
  kDirect,   // A direct message, of two or more.
};

Conversation ConversationOf(const slack::Event& event);

}  // namespace tidemark::api
