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

// The ids of people, up to the limit. What is added first is kept.
class NamedPeople {
 public:
  void Add(const std::string& user) {
    if (!user.empty() && ids_.size() < kMaxNamedPeople) ids_.insert(user);
  }
  // The editor, and those whom the text mentions.
  void AddAllIn(const archive::Body& body) {
    Add(body.edited_by);
    for (const std::string& user : archive::MentionedIn(body.text.value_or(""))) Add(user);
  }
  const std::set<std::string>& ids() const { return ids_; }

 private:
  std::set<std::string> ids_;
};

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

std::set<std::string> NamedIn(const std::vector<archive::Message>& messages) {
  NamedPeople named;
  for (const archive::Message& message : messages) named.Add(message.traits.user);
  for (const archive::Message& message : messages) {
    if (message.body) named.AddAllIn(*message.body);
  }
  return named.ids();
}

void SetAuthorName(archive::Message* message, archive::People::Names* names) {
  const archive::Traits& traits = message->traits;
  const auto known = names->find(traits.user);
  message->user_name = known == names->end() ? traits.author_name : known->second;
  if (!traits.user.empty() && !message->user_name.empty()) {
    names->emplace(traits.user, message->user_name);
  }
}

std::set<std::string> NamedIn(const archive::MessageDetail& detail) {
  NamedPeople named;
  named.Add(detail.message.traits.user);
  if (detail.message.body) named.AddAllIn(*detail.message.body);
  for (const archive::Body& body : detail.versions) named.AddAllIn(body);
  for (const archive::Reaction& reaction : detail.reactions) {
    for (const std::string& user : reaction.users) named.Add(user);
  }
  return named.ids();
}

}  // namespace tidemark::api
