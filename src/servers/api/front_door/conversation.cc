#include "servers/api/front_door/conversation.h"

namespace tidemark::api {

// The type decides when the event has one. Membership events have the first letter of the id only.
// Of ids without a type only D and G tell something: private channels too may begin with C.
// channel_* events are sent for public channels alone, group_* events for private ones.
Conversation ConversationOf(const slack::Event& event) {
  const std::string& type = event.channel_type;
  if (type == "im" || type == "mpim" || type == "app_home" || type == "D" ||
      event.channel.starts_with('D')) {
    return Conversation::kDirect;
  }
  const bool is_untyped_group = type.empty() && event.channel.starts_with('G');
  if (type == "group" || type == "privatechannel" || type == "G" || is_untyped_group ||
      event.type.starts_with("group_")) {
    return Conversation::kPrivate;
  }
  const bool is_told = type == "channel" || event.type.starts_with("channel_");
  return is_told || event.channel.empty() ? Conversation::kPublic : Conversation::kUntold;
}

}  // namespace tidemark::api
