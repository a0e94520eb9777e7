// SlackLists is the background work with Slack's lists: it finds out the teams of the bot tokens,
// reads their lists for the gate, and gives the names in them to the archive.
//
// Call Step every second, from one thread. It blocks while it waits for Slack. Stop may be called
// from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "apps/gate/existence.h"
#include "apps/gate/list_walker.h"
#include "apps/gate/roster.h"
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

  void Step();
  // A running Step ends after its page, and later calls do nothing.
  void Stop();

 private:
  // The team of a token is known before its first event, so that the first start reads its lists.
  void FindTeams();
  // Reads the lists of the team that auth.test names for this token, if the token is used for it.
  void Want(const slack::TeamId& team, const gate::Credential& credential);

  const SlackListsParts parts_;
  const Clock& clock_;
  const Logger& logger_;
  std::optional<Names> names_;
  gate::ListWalker walker_;
  std::atomic<bool> stopping_ = false;
  std::set<std::string> known_credentials_;
  std::chrono::nanoseconds next_try_{0};
};

}  // namespace tidemark::api
