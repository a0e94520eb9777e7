// People and emoji of a team, and the names of the people that messages name.
#pragma once

#include <set>
#include <string>

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

// Everybody whom a message names: its author, its editor, and those whom its text mentions.
std::set<std::string> NamedIn(const archive::Message& message);

// The same for a message with its reactions.
std::set<std::string> NamedIn(const archive::MessageDetail& detail);

}  // namespace tidemark::api
