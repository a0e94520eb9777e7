#include "servers/api/archive/people_routes.h"

#include <utility>

#include <fmt/format.h>

#include "servers/api/archive/json.h"
#include "servers/api/archive/places.h"
#include "servers/api/json_object.h"
#include "servers/api/page.h"
#include "slack/ids.h"

namespace tidemark::api {

namespace {

void WriteNext(const std::optional<std::string>& next, JsonWriter* writer) {
  if (!next) return;
  writer->Key("cursor");
  writer->String(*next);
}

}  // namespace

Result<std::string> ListPeople(const archive::People& people, const http::RoutedRequest& routed) {
  const PageRequest request = TRY(ParsePage(routed.request.query));
  const slack::TeamId team = TRY(TeamIn(routed));
  const auto page = TRY(people.List(team, request.cursor, request.limit));
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("people");
    writer->BeginArray();
    for (const archive::Person& person : page.people) Write(person, writer);
    writer->EndArray();
    WriteNext(page.next, writer);
  });
}

Result<http::Response> ShowPerson(const archive::People& people,
                                  const http::RoutedRequest& routed) {
  const slack::TeamId team = TRY(TeamIn(routed));
  const auto user = TRY(slack::UserId::Parse(routed.parameters.find("user")->second));
  const auto person = TRY(people.Find(team, user.text()));
  if (!person) {
    return http::Problem(404, fmt::format("the archive has nothing about user {} of team {}",
                                          user.text(), team.text()));
  }
  std::string text;
  JsonWriter writer(&text);
  Write(*person, &writer);
  return http::Json(200, std::move(text));
}

Result<std::string> ListEmoji(const archive::People& people, const http::RoutedRequest& routed) {
  const PageRequest request = TRY(ParsePage(routed.request.query));
  const slack::TeamId team = TRY(TeamIn(routed));
  const auto page = TRY(people.ListEmoji(team, request.cursor, request.limit));
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("emoji");
    writer->BeginArray();
    for (const archive::Emoji& emoji : page.emoji) {
      writer->BeginObject();
      writer->Key("name");
      writer->String(emoji.name);
      writer->Key("value");
      writer->String(emoji.value);
      writer->EndObject();
    }
    writer->EndArray();
    WriteNext(page.next, writer);
  });
}

std::set<std::string> NamedIn(const archive::Message& message) {
  std::set<std::string> users;
  if (message.body) {
    users = archive::MentionedIn(message.body->text.value_or(""));
    if (!message.body->edited_by.empty()) users.insert(message.body->edited_by);
  }
  if (!message.traits.user.empty()) users.insert(message.traits.user);
  return users;
}

std::set<std::string> NamedIn(const archive::MessageDetail& detail) {
  std::set<std::string> users = NamedIn(detail.message);
  for (const archive::Body& body : detail.versions) {
    if (!body.edited_by.empty()) users.insert(body.edited_by);
    users.merge(archive::MentionedIn(body.text.value_or("")));
  }
  for (const archive::Reaction& reaction : detail.reactions) {
    users.insert(reaction.users.begin(), reaction.users.end());
  }
  return users;
}

}  // namespace tidemark::api
