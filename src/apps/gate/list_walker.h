// The ListWalker reads Slack's lists of channels and people into the Roster, page by page: at the
// first event of a team, and again before what was read is too old, as long as events of the team
// arrive. A team without events costs no calls.
//
//   ListWalker walker({.lists = &web_api, .tokens = &tokens, .roster = &roster, ...}, runtime);
//   walker.Step(patience);   // Every second: asks for at most one page of each list.
//
// A list is read from its first page to the page without a cursor. When our budget or Slack refuses
// a page, the walk goes on with the same cursor later. After any other failure it begins again,
// after a pause; until then look-ups do the work. When a page took too long or was too large, pages
// are smaller from then on; each finished walk lets them grow again.
//
// Step is for one thread. All teams share it, and it waits for no single one of them: the pages of
// all teams are asked for at the same time, and a page is handled when it is there. So a team whose
// lists do not answer delays no other. The number of calls under way is bounded, and teams take
// turns. Stop may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/gate/existence.h"
#include "apps/gate/limits.h"
#include "apps/gate/roster.h"
#include "apps/gate/tokens.h"
#include "base/arrivals.h"
#include "base/runtime.h"
#include "slack/lists.h"

namespace tidemark::gate {

// All outlive the walker.
struct ListWalkerParts {
  slack::Lists* lists = nullptr;
  const Tokens* tokens = nullptr;
  Roster* roster = nullptr;
  Existence* existence = nullptr;  // For what is found to have ended.
  // Called with every page, on the thread of Step. May be empty.
  std::function<void(const PageOrigin&, const std::vector<slack::Person>&)> on_people;
  std::function<void(const PageOrigin&, const std::vector<slack::Conversation>&)> on_conversations;
};

class ListWalker {
 public:
  ListWalker(ListWalkerParts parts, const Runtime& runtime);

  // Asks for the pages that are due, and handles those that come within the patience. The others
  // are handled by a later Step.
  void Step(std::chrono::nanoseconds patience);
  // A running Step ends soon, and later calls do nothing.
  void Stop() {
    stopping_ = true;
    arrivals_.Stop();
  }

 private:
  enum class ListKind { kPublicChannels, kPrivateChannels, kPeople };
  static constexpr std::array kLists = {ListKind::kPublicChannels, ListKind::kPrivateChannels,
                                        ListKind::kPeople};
  static std::string_view ToString(ListKind kind);

  // How far the walk through one list is.
  struct Walk {
    bool is_under_way = false;
    bool has_begun = false;
    std::chrono::nanoseconds began{0};
    std::chrono::nanoseconds next_try{0};
    std::string cursor = {};
    uint32_t limit = slack::kLargestListPage;
    uint32_t failures = 0;
    bool is_asked = false;  // A page was asked for and has not been handled.
  };
  struct TeamWalks {
    std::string credential;
    std::chrono::nanoseconds wanted{0};
    std::map<ListKind, Walk> lists;
  };

  // The teams, beginning with the one whose turn it is.
  std::vector<slack::TeamId> TeamsInTurn() const;
  // Asks for the pages of the team that are due. False when too many calls are under way.
  bool StepTeam(const slack::TeamId& team);
  bool IsDue(const TeamWalks& team, const Walk& walk) const;
  void AskForPage(const slack::TeamId& team, const Credential& credential, ListKind kind,
                  Walk* walk);
  template <typename T>
  void Expect(const PageOrigin& origin, ListKind kind, slack::LaterCall<slack::ListPage<T>> answer);
  // The walk that the page was asked for; null when its token is not used any more.
  Walk* FindWalk(const PageOrigin& origin, ListKind kind);
  template <typename T>
  void Take(const PageOrigin& origin, ListKind kind,
            const slack::CallResult<slack::ListPage<T>>& answer, Walk* walk);
  void Tell(const PageOrigin& origin, const std::vector<slack::Person>& people) const;
  void Tell(const PageOrigin& origin, const std::vector<slack::Conversation>& conversations) const;
  void End(const std::vector<slack::Lookup>& ended);
  void Advance(const std::string& next_cursor, Walk* walk) const;
  void Fail(const PageOrigin& origin, ListKind kind, const slack::CallError& error, Walk* walk);

  const ListWalkerParts parts_;
  const Clock& clock_;
  const Logger& logger_;
  std::map<slack::TeamId, TeamWalks> teams_;
  std::optional<slack::TeamId> next_team_;  // The one that had no room for its calls.
  std::atomic<bool> stopping_ = false;
  Arrivals arrivals_;
};

}  // namespace tidemark::gate
