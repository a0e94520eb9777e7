// The Roster holds in memory what Slack's lists say: which users and channels of a team are active.
// With it most events are checked without a look-up of their own (docs/decisions/0025-lists.md).
//
// An entry counts for 300 s from the moment the list was asked for, like the answer to a look-up,
// and only for the credential that the list was read with. The roster has only what is active. For
// an id that it does not have it says nothing: the id may be newer than the list, or not be in any
// list, or there was no room for it. Then a look-up decides.
//
// After the clock was set back, entries that were listed before are not used: the time of their
// list cannot be compared with the time of a later invalidation.
//
// It also collects what Slack said about the people and channels that events name (TakeFound), so
// that their names can be kept.
//
// May be called from any thread. Never asks Slack and never reads a table; ListWalker fills it.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "apps/gate/cache_rows.h"
#include "apps/gate/limits.h"
#include "base/clock.h"
#include "slack/directory.h"
#include "slack/entities.h"
#include "slack/ids.h"

namespace tidemark::gate {

// Of which team, with which credential, and when a page was asked for.
struct PageOrigin {
  slack::TeamId team;
  std::string credential;  // The generation of the credential (tokens.h).
  EpochSeconds asked_at = 0;
};

// Something that Slack described because an event named it.
struct Found {
  slack::TeamId team;
  std::variant<slack::Person, slack::Conversation> entity;
  EpochSeconds asked_at = 0;
};

class Roster {
 public:
  // The clock outlives this.
  explicit Roster(const Clock* clock, size_t max_listed = kMaxListed)
      : clock_(*clock), max_listed_(max_listed) {}

  // Notes that events of the team arrive: its lists are wanted. A team beyond the limit of teams is
  // left out.
  void Want(const slack::TeamId& team);
  // The teams that were ever wanted.
  std::vector<slack::TeamId> Teams() const;
  // Whether the team was wanted since the last call of this function.
  bool TakeWanted(const slack::TeamId& team);

  // Adds a page of a list. Returns what it shows as deactivated or archived although the roster had
  // it as active: whatever was verified about it must become invalid.
  std::vector<slack::Lookup> Add(const PageOrigin& origin,
                                 const std::vector<slack::Person>& people);
  std::vector<slack::Lookup> Add(const PageOrigin& origin,
                                 const std::vector<slack::Conversation>& conversations);

  // The user or channel as active, and when the list was asked for. nullopt when the roster does
  // not say.
  std::optional<Observation> Find(const slack::TeamId& team, const std::string& credential,
                                  const slack::Lookup& entity);

  // What a look-up found.
  void NoteFound(Found found);
  // Everything that was found since the last call, and the channels that Find was asked for, with
  // their names, each once.
  std::vector<Found> TakeFound();

 private:
  // When the list of an entry was asked for (wall clock), and when the entry was added (the
  // monotonic clock, which is never set back).
  struct Time {
    EpochSeconds asked_at = 0;
    std::chrono::nanoseconds added{0};
  };
  struct ListedChannel {
    slack::Conversation conversation;
    Time time;
    bool is_used = false;  // Find was asked for it.
  };
  struct Team {
    std::string credential;
    bool is_wanted = false;
    std::unordered_map<std::string, Time> people;
    std::unordered_map<std::string, ListedChannel> channels;

    size_t size() const { return people.size() + channels.size(); }
  };

  // All need mutex_ locked.
  Team* FindTeam(const slack::TeamId& team);
  Team& OpenTeam(const PageOrigin& origin);
  void DropStale(Team* team) const;
  bool IsFresh(const Time& time) const;
  // How many entries may be added to the team, besides those that it has.
  size_t RoomFor(const Team& team);
  void AddFound(Found found);

  const Clock& clock_;
  const size_t max_listed_;
  mutable std::mutex mutex_;
  std::map<slack::TeamId, Team> teams_;
  std::vector<Found> found_;
};

}  // namespace tidemark::gate
