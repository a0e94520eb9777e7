#include "apps/gate/roster.h"

#include <algorithm>
#include <utility>

#include "apps/gate/limits.h"
#include "base/expiry.h"

namespace tidemark::gate {

using slack::EntityKind;

namespace {

// The wall clock counts whole seconds here, and may be corrected a little all the time.
constexpr EpochSeconds kRosterSlackSeconds = 2;

// Whether the entry may be written: it is there already, or one of `room` new ones.
template <typename Entries>
bool HasOrMakesRoom(const Entries& entries, const std::string& id, size_t* room) {
  if (entries.contains(id)) return true;
  if (*room == 0) return false;
  --*room;
  return true;
}

}  // namespace

void Roster::Want(const slack::TeamId& team) {
  const std::lock_guard lock(mutex_);
  if (teams_.size() >= kMaxListedTeams && !teams_.contains(team)) return;
  teams_[team].is_wanted = true;
}

std::vector<slack::TeamId> Roster::Teams() const {
  const std::lock_guard lock(mutex_);
  std::vector<slack::TeamId> teams;
  for (const auto& [id, team] : teams_) teams.push_back(id);
  return teams;
}

bool Roster::TakeWanted(const slack::TeamId& team) {
  const std::lock_guard lock(mutex_);
  Team* const known = FindTeam(team);
  return known != nullptr && std::exchange(known->is_wanted, false);
}

Roster::Team* Roster::FindTeam(const slack::TeamId& team) {
  const auto found = teams_.find(team);
  return found == teams_.end() ? nullptr : &found->second;
}

// What was listed with another credential is dropped.
Roster::Team& Roster::OpenTeam(const PageOrigin& origin) {
  Team& team = teams_[origin.team];
  if (team.credential != origin.credential) {
    team = {.credential = origin.credential, .is_wanted = team.is_wanted};
  }
  return team;
}

// A list is asked for before its entries are added. So the time since the request, by the wall
// clock, is not shorter than the time since the addition, by the monotonic clock. If it is shorter,
// the wall clock was set back.
bool Roster::IsFresh(const Time& time) const {
  const EpochSeconds now = clock_.NowSeconds();
  const auto since_added =
      std::chrono::floor<std::chrono::seconds>(clock_.Monotonic() - time.added).count();
  const bool is_set_back = now - time.asked_at + kRosterSlackSeconds < since_added;
  return !is_set_back && IsLive(time.asked_at + kVerifiedLifeSeconds, now);
}

// A team without new events is not listed again. Its entries stay until another team needs the
// room.
size_t Roster::RoomFor(const Team& team) {
  const auto count = [&] {
    size_t entries = 0;
    for (const auto& [id, one] : teams_) entries += one.size();
    return entries;
  };
  size_t taken = count();
  if (taken >= max_listed_) {
    for (auto& [id, one] : teams_) {
      if (&one != &team) DropStale(&one);
    }
    taken = count();
  }
  return max_listed_ - std::min(taken, max_listed_);
}

// What is in no list any more is forgotten.
void Roster::DropStale(Team* team) const {
  std::erase_if(team->people, [&](const auto& entry) { return !IsFresh(entry.second); });
  std::erase_if(team->channels, [&](const auto& entry) { return !IsFresh(entry.second.time); });
}

std::vector<slack::Lookup> Roster::Add(const PageOrigin& origin,
                                       const std::vector<slack::Person>& people) {
  const std::lock_guard lock(mutex_);
  Team& team = OpenTeam(origin);
  const Time time{.asked_at = origin.asked_at, .added = clock_.Monotonic()};
  size_t room = RoomFor(team);
  std::vector<slack::Lookup> ended;
  for (const slack::Person& person : people) {
    if (!person.is_deactivated) {
      if (HasOrMakesRoom(team.people, person.id, &room)) team.people[person.id] = time;
    } else if (team.people.erase(person.id) > 0) {
      ended.push_back({EntityKind::kUser, person.id});
    }
  }
  DropStale(&team);
  return ended;
}

std::vector<slack::Lookup> Roster::Add(const PageOrigin& origin,
                                       const std::vector<slack::Conversation>& conversations) {
  const std::lock_guard lock(mutex_);
  Team& team = OpenTeam(origin);
  const Time time{.asked_at = origin.asked_at, .added = clock_.Monotonic()};
  size_t room = RoomFor(team);
  std::vector<slack::Lookup> ended;
  for (const slack::Conversation& conversation : conversations) {
    if (conversation.is_archived) {
      if (team.channels.erase(conversation.id) == 0) continue;
      ended.push_back({EntityKind::kChannel, conversation.id});
      continue;
    }
    if (!HasOrMakesRoom(team.channels, conversation.id, &room)) continue;
    ListedChannel& listed = team.channels[conversation.id];
    const bool is_changed = listed.is_used && listed.conversation != conversation;
    if (is_changed) AddFound({origin.team, conversation, origin.asked_at});
    listed.conversation = conversation;
    listed.time = time;
  }
  DropStale(&team);
  return ended;
}

std::optional<Observation> Roster::Find(const slack::TeamId& team, const std::string& credential,
                                        const slack::Lookup& entity) {
  const std::lock_guard lock(mutex_);
  Team* const known = FindTeam(team);
  if (known == nullptr || known->credential != credential) return std::nullopt;
  if (entity.kind == EntityKind::kUser) {
    const auto person = known->people.find(entity.id);
    if (person == known->people.end() || !IsFresh(person->second)) return std::nullopt;
    return Observation{.state = EntityState::kActive, .verified_at = person->second.asked_at};
  }
  const auto channel = known->channels.find(entity.id);
  if (channel == known->channels.end() || !IsFresh(channel->second.time)) return std::nullopt;
  ListedChannel& listed = channel->second;
  if (!std::exchange(listed.is_used, true)) {
    AddFound({team, listed.conversation, listed.time.asked_at});
  }
  return Observation{.state = EntityState::kActive,
                     .verified_at = listed.time.asked_at,
                     .is_public = listed.conversation.is_public};
}

void Roster::NoteFound(Found found) {
  const std::lock_guard lock(mutex_);
  AddFound(std::move(found));
}

// When nobody takes them, further ones are dropped. The next look-up or list has them again.
void Roster::AddFound(Found found) {
  if (found_.size() < kMaxFound) found_.push_back(std::move(found));
}

std::vector<Found> Roster::TakeFound() {
  const std::lock_guard lock(mutex_);
  return std::exchange(found_, {});
}

}  // namespace tidemark::gate
