#include "servers/api/front_door/conversation.h"

namespace tidemark::api {

// The type decides when the event has one. Membership events have the first letter of the id only.
// Of ids without a type only D and G tell something: private channels too may begin with C. Of
// names only group_* tells something: Slack documents channel_* for public channels, but an event
// of a private channel whose id begins with C must not make it public.
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
  const bool is_told = type == "channel" || event.channel.empty();
  return is_told ? Conversation::kPublic : Conversation::kUntold;
}

}  // namespace tidemark::api
