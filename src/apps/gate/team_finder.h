// The TeamFinder asks Slack of which team each bot token is, and wants the lists of that team
// (roster.h). So the lists are read before the first event of the team arrives.
//
// Call Step at regular times, from one thread. It blocks while it waits for Slack, and asks about a
// token only until Slack has answered. Stop may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <set>
#include <string>

#include "apps/gate/roster.h"
#include "apps/gate/tokens.h"
#include "base/runtime.h"
#include "slack/web_api.h"

namespace tidemark::gate {

// All outlive the finder.
struct TeamFinderParts {
  slack::WebApi* web_api = nullptr;
  const Tokens* tokens = nullptr;
  Roster* roster = nullptr;
};

class TeamFinder {
 public:
  TeamFinder(const TeamFinderParts& parts, const Runtime& runtime)
      : parts_(parts), clock_(runtime.clock), logger_(runtime.logger) {}

  void Step();
  // A running Step ends after its call, and later calls do nothing.
  void Stop() { stopping_ = true; }

 private:
  // Wants the lists of the team that auth.test names for this token, if the token is used for it.
  void Want(const slack::TeamId& team, const Credential& credential);

  const TeamFinderParts parts_;
  const Clock& clock_;
  const Logger& logger_;
  std::atomic<bool> stopping_ = false;
  std::set<std::string> known_credentials_;
  std::chrono::nanoseconds next_try_{0};
};

}  // namespace tidemark::gate
