#include "servers/api/archive/names.h"

#include <utility>
#include <variant>

#include "apps/archive/read_event.h"

namespace tidemark::api {

namespace {

archive::News NewsOf(const gate::Found& found) {
  const auto at = slack::Timestamp::FromSeconds(found.asked_at);
  if (const auto* person = std::get_if<slack::Person>(&found.entity)) {
    return archive::NewsOf(*person, at);
  }
  auto news = archive::NewsOf(std::get<slack::Conversation>(found.entity), at);
  if (!news) return archive::NoNews{};
  return *std::move(news);
}

// When more people than this are remembered, all of them are forgotten. Then the next lists are
// compared with the archive again.
constexpr size_t kMaxKeptPeople = 200'000;

bool IsShown(const slack::Person& listed, const archive::Person& shown) {
  return shown.name == listed.name && shown.real_name == listed.real_name &&
         shown.display_name == listed.display_name && shown.avatar == listed.avatar &&
         shown.is_bot == listed.is_bot && shown.deactivated == listed.is_deactivated;
}

}  // namespace

Names::Names(const NamesParts& parts, const Runtime& runtime)
    : index_(*parts.index),
      people_(parts.tables, parts.archive->options().table),
      writer_(parts.archive, parts.tables, archive::ImportMode::kStore),
      failures_({.level = LogLevel::kWarning, .work = "keeping names of people and channels"},
                runtime) {}

void Names::Keep(const gate::PageOrigin& origin, const std::vector<slack::Person>& people) {
  failures_.Note(StorePeople(origin, people));
}

void Names::Keep(const gate::PageOrigin& origin,
                 const std::vector<slack::Conversation>& conversations) {
  failures_.Note(StoreChannels(origin, conversations));
}

void Names::Keep(const std::vector<gate::Found>& found) {
  if (!found.empty()) failures_.Note(StoreFound(found));
}

Status Names::StorePeople(const gate::PageOrigin& origin,
                          const std::vector<slack::Person>& people) {
  const auto at = slack::Timestamp::FromSeconds(origin.asked_at);
  size_t remembered = 0;
  for (const auto& [team, of_team] : kept_) remembered += of_team.size();
  if (remembered >= kMaxKeptPeople) kept_.clear();
  KeptPeople& kept = kept_[origin.team];
  std::vector<archive::News> news;
  std::vector<const slack::Person*> changed;
  for (const slack::Person& person : people) {
    const auto known = kept.find(person.id);
    if (known != kept.end() && known->second == person) continue;
    changed.push_back(&person);
    news.emplace_back(archive::NewsOf(person, at));
  }
  TRY(writer_.StoreNews(origin.team, news));
  for (const slack::Person* person : changed) {
    // The archive may have a later date, from a clock that was ahead. Then the list is told again,
    // until its own date is later.
    const auto shown = TRY(people_.Find(origin.team, person->id));
    if (shown && IsShown(*person, *shown)) kept.insert_or_assign(person->id, *person);
  }
  return Done{};
}

Status Names::StoreChannels(const gate::PageOrigin& origin,
                            const std::vector<slack::Conversation>& conversations) {
  if (conversations.empty()) return Done{};
  const auto known = TRY(index_.All(origin.team));
  std::vector<archive::News> news;
  for (const slack::Conversation& conversation : conversations) {
    const auto entry = known.find(conversation.id);
    if (entry == known.end() || entry->second == conversation.name) continue;
    news.push_back(NewsOf(gate::Found{origin.team, conversation, origin.asked_at}));
  }
  TRY(writer_.StoreNews(origin.team, news));
  return Done{};
}

Status Names::StoreFound(const std::vector<gate::Found>& found) {
  std::map<slack::TeamId, std::vector<archive::News>> news;
  for (const gate::Found& one : found) news[one.team].push_back(NewsOf(one));
  for (const auto& [team, of_team] : news) TRY(writer_.StoreNews(team, of_team));
  return Done{};
}

}  // namespace tidemark::api
