#include "apps/archive/people.h"

#include <utility>

#include "apps/archive/attributes.h"
#include "tables/pages.h"

namespace tidemark::archive {

const std::string& Person::shown_name() const {
  if (!display_name.empty()) return display_name;
  return real_name.empty() ? name : real_name;
}

Person DecodePerson(const item::Item& row, const std::string& user) {
  return {.user = user,
          .name = TextIn(row, "name"),
          .real_name = TextIn(row, "real_name"),
          .display_name = TextIn(row, "display_name"),
          .avatar = TextIn(row, "avatar"),
          .is_bot = IsTrueIn(row, "is_bot"),
          .deactivated = IsTrueIn(row, "deactivated")};
}

std::set<std::string> MentionedIn(std::string_view text) {
  constexpr std::string_view kMention = "<@";
  std::set<std::string> users;
  for (size_t at = text.find(kMention); at != std::string_view::npos; at = text.find(kMention)) {
    text.remove_prefix(at + kMention.size());
    const std::string_view id = text.substr(0, text.find_first_of("|>"));
    if (slack::UserId::Parse(id)) users.emplace(id);
  }
  return users;
}

Result<tables::Page> People::ReadPage(const std::string& partition,
                                      const std::optional<std::string>& after,
                                      uint32_t limit) const {
  tables::QueryRequest request = table_.QueryOf(partition);
  request.limit = limit;
  if (after) request.start_after = KeyOf(partition, *after);
  return table_.tables().Query(request);
}

Result<PeoplePage> People::List(const slack::TeamId& team, const std::optional<std::string>& after,
                                uint32_t limit) const {
  const tables::Page rows = TRY(ReadPage(PeopleOf(team), after, limit));
  PeoplePage page;
  for (const item::Item& row : rows.items) {
    page.people.push_back(DecodePerson(row, TextIn(row, "timestamp")));
  }
  if (rows.last) page.next = TextIn(*rows.last, "timestamp");
  return page;
}

// Rows that an earlier release stored are only in the history of the person.
Result<std::optional<Person>> People::Find(const slack::TeamId& team,
                                           const std::string& user) const {
  if (const auto row = TRY(table_.Get(PeopleOf(team), user))) return DecodePerson(*row, user);
  tables::QueryRequest newest = table_.QueryOf(UserRowsOf(team, user));
  newest.forward = false;
  newest.limit = 1;
  const tables::Page page = TRY(table_.tables().Query(newest));
  if (page.items.empty()) return std::nullopt;
  return DecodePerson(page.items.front(), user);
}

Result<People::Names> People::NamesOf(const slack::TeamId& team,
                                      const std::set<std::string>& users) const {
  Names names;
  for (const std::string& user : users) {
    const auto person = TRY(Find(team, user));
    if (person && !person->shown_name().empty()) names.emplace(user, person->shown_name());
  }
  return names;
}

Result<EmojiPage> People::ListEmoji(const slack::TeamId& team,
                                    const std::optional<std::string>& after, uint32_t limit) const {
  const tables::Page rows = TRY(ReadPage(EmojiOf(team), after, limit));
  EmojiPage page;
  for (const item::Item& row : rows.items) {
    if (IsTrueIn(row, "removed")) continue;
    page.emoji.push_back({.name = TextIn(row, "timestamp"), .value = TextIn(row, "value")});
  }
  if (rows.last) page.next = TextIn(*rows.last, "timestamp");
  return page;
}

}  // namespace tidemark::archive
