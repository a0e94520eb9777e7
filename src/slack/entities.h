// People and conversations as Slack's Web API describes them: in users.info and users.list, in
// conversations.info and conversations.list, and in events. Any field except the id may be missing,
// null or empty in Slack's JSON; then it is empty or false here. Plain values and pure functions.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace tidemark::slack {

struct Person {
  std::string id;
  std::string name = {};  // The handle: "amira.haddad".
  std::string real_name = {};
  std::string display_name = {};
  std::string avatar = {};  // Its URL.
  bool is_bot = false;
  bool is_deactivated = false;
  friend bool operator==(const Person&, const Person&) = default;
};

struct Conversation {
  std::string id;
  std::string name = {};
  std::string topic = {};
  std::string purpose = {};
  // Only where Slack says that it is not private. A direct conversation is not public either.
  bool is_public = false;
  bool is_archived = false;
  friend bool operator==(const Conversation&, const Conversation&) = default;
};

// nullopt when there is no id of the right form.
std::optional<Person> ReadPerson(const Json& user);
std::optional<Conversation> ReadConversation(const Json& channel);

}  // namespace tidemark::slack
