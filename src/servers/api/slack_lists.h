// SlackLists is the background work with Slack's lists: the gate finds the teams of the bot tokens
// and reads their lists, and the archive gets the names in them.
//
// Call Step every second, from one thread. A team for which Slack does not answer delays no other.
// Stop may be called from any thread.
#pragma once

#include <chrono>
#include <optional>

#include "apps/gate/existence.h"
#include "apps/gate/list_walker.h"
#include "apps/gate/roster.h"
#include "apps/gate/team_finder.h"
#include "apps/gate/tokens.h"
#include "base/runtime.h"
#include "servers/api/archive/names.h"
#include "slack/web_api.h"

namespace tidemark::api {

// All outlive the SlackLists.
struct SlackListsParts {
  slack::WebApi* web_api = nullptr;
  const gate::Tokens* tokens = nullptr;
  gate::Roster* roster = nullptr;
  gate::Existence* existence = nullptr;
  std::optional<NamesParts> names;  // nullopt: there is no archive.
};

class SlackLists {
 public:
  SlackLists(const SlackListsParts& parts, const Runtime& runtime);

  // Waits for Slack's answers, twice for the patience at most. What comes later is handled by a
  // later Step.
  void Step(std::chrono::nanoseconds patience);
  // A running Step ends soon, and later calls ask Slack nothing.
  void Stop();

 private:
  gate::Roster& roster_;
  std::optional<Names> names_;
  gate::TeamFinder teams_;
  gate::ListWalker walker_;
};

}  // namespace tidemark::api
