// People and emoji of a team, and the names of the people that messages name.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "apps/archive/people.h"
#include "apps/archive/reader.h"
#include "base/result.h"
#include "http/message.h"
#include "http/router.h"

namespace tidemark::api {

// The handlers of /teams/{team}/people, …/people/{user} and …/emoji.
Result<std::string> ListPeople(const archive::People& people, const http::RoutedRequest& routed);
Result<http::Response> ShowPerson(const archive::People& people, const http::RoutedRequest& routed);
Result<std::string> ListEmoji(const archive::People& people, const http::RoutedRequest& routed);

// Each name costs a read, and a text may mention thousands of people. A reply has the names of at
// most so many; clients show the others by their ids.
inline constexpr size_t kMaxNamedPeople = 1'000;

// Whom messages name, up to the limit: first their authors, then their editors and those whom their
// texts mention.
std::set<std::string> NamedIn(const std::vector<archive::Message>& messages);

// The same for a message with its versions and reactions.
std::set<std::string> NamedIn(const archive::MessageDetail& detail);

// Fills in the name of the author: the one in `names`, or else the one that came with the message,
// which is added to `names` for those who mention the author.
void SetAuthorName(archive::Message* message, archive::People::Names* names);

}  // namespace tidemark::api
