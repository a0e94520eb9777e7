// People reads who is who in a team, and the team's emoji: as they are now, from rows that are in
// one partition for each team (docs/formats/archive.md).
//
//   const People people(&tables, "SlackArchive");
//   const auto names = TRY(people.NamesOf(team, {"U01234567"}));
//
// A small value: copy it. May be used from any thread. All reads are consistent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/archive/archive_table.h"
#include "apps/archive/message.h"
#include "base/result.h"
#include "item/value.h"
#include "slack/ids.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct Person {
  std::string user;
  std::string name = {};
  std::string real_name = {};
  std::string display_name = {};
  std::string avatar = {};
  bool is_bot = false;
  bool deactivated = false;

  // The name that Slack shows: the display name, or else the real name, or else the handle.
  const std::string& shown_name() const;
};

struct PeoplePage {
  std::vector<Person> people;
  std::optional<std::string> next = std::nullopt;  // Set when there may be more.
};

struct Emoji {
  std::string name;
  std::string value;  // A URL, or "alias:other".
};

struct EmojiPage {
  std::vector<Emoji> emoji;
  std::optional<std::string> next = std::nullopt;
};

// A row about a person, of any time.
Person DecodePerson(const item::Item& row, const std::string& user);

// The ids of the users that a text of Slack's mentions: "<@U01234567>".
std::set<std::string> MentionedIn(std::string_view text);

class People {
 public:
  // The tables outlive this.
  People(tables::Tables* tables, std::string table) : table_(tables, std::move(table)) {}

  // In the order of their ids, starting after `after`.
  Result<PeoplePage> List(const slack::TeamId& team, const std::optional<std::string>& after,
                          uint32_t limit) const;
  // nullopt when nothing is known about them.
  Result<std::optional<Person>> Find(const slack::TeamId& team, const std::string& user) const;
  // The shown names of those who have one, by id.
  using Names = std::map<std::string, std::string>;
  Result<Names> NamesOf(const slack::TeamId& team, const std::set<std::string>& users) const;

  // In the order of their names, without those that were removed.
  Result<EmojiPage> ListEmoji(const slack::TeamId& team, const std::optional<std::string>& after,
                              uint32_t limit) const;

 private:
  Result<tables::Page> ReadPage(const std::string& partition,
                                const std::optional<std::string>& after, uint32_t limit) const;

  const ArchiveTable table_;
};

}  // namespace tidemark::archive
