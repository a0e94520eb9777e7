#include "apps/gate/roster.h"

#include <utility>

#include "apps/gate/limits.h"
#include "base/expiry.h"

namespace tidemark::gate {

using slack::EntityKind;

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

bool Roster::IsFresh(EpochSeconds asked_at) const {
  return IsLive(asked_at + kVerifiedLifeSeconds, clock_.NowSeconds());
}

// What is in no list any more is forgotten.
void Roster::DropStale(Team* team) const {
  std::erase_if(team->people, [&](const auto& entry) { return !IsFresh(entry.second); });
  std::erase_if(team->channels, [&](const auto& entry) { return !IsFresh(entry.second.asked_at); });
}

std::vector<slack::Lookup> Roster::Add(const PageOrigin& origin,
                                       const std::vector<slack::Person>& people) {
  const std::lock_guard lock(mutex_);
  Team& team = OpenTeam(origin);
  std::vector<slack::Lookup> ended;
  for (const slack::Person& person : people) {
    if (!person.is_deactivated) {
      team.people[person.id] = origin.asked_at;
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
  std::vector<slack::Lookup> ended;
  for (const slack::Conversation& conversation : conversations) {
    if (conversation.is_archived) {
      if (team.channels.erase(conversation.id) == 0) continue;
      ended.push_back({EntityKind::kChannel, conversation.id});
      continue;
    }
    ListedChannel& listed = team.channels[conversation.id];
    const bool is_changed = listed.is_used && listed.conversation != conversation;
    if (is_changed) AddFound({origin.team, conversation, origin.asked_at});
    listed.conversation = conversation;
    listed.asked_at = origin.asked_at;
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
    return Observation{.state = EntityState::kActive, .verified_at = person->second};
  }
  const auto channel = known->channels.find(entity.id);
  if (channel == known->channels.end() || !IsFresh(channel->second.asked_at)) return std::nullopt;
  ListedChannel& listed = channel->second;
  if (!std::exchange(listed.is_used, true)) {
    AddFound({team, listed.conversation, listed.asked_at});
  }
  return Observation{.state = EntityState::kActive,
                     .verified_at = listed.asked_at,
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
