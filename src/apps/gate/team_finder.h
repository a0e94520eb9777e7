// The TeamFinder asks Slack of which team each bot token is, and wants the lists of that team
// (roster.h). So the lists are read before the first event of the team arrives.
//
// Call Step at regular times, from one thread. It asks about all tokens at the same time, and about
// a token only until Slack has answered. Stop may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string>

#include "apps/gate/roster.h"
#include "apps/gate/tokens.h"
#include "base/arrivals.h"
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

  // Handles the answers that come within the patience. The others are handled by a later Step.
  void Step(std::chrono::nanoseconds patience);
  // A running Step ends soon, and later calls do nothing.
  void Stop() {
    stopping_ = true;
    arrivals_.Stop();
  }

 private:
  void Ask(const Credential& credential);
  void Take(const Credential& credential, const Result<slack::CallResult<slack::AuthTest>>& answer);
  // Wants the lists of the team that auth.test names for this token, if the token is used for it.
  void Want(const slack::TeamId& team, const Credential& credential);

  const TeamFinderParts parts_;
  const Clock& clock_;
  const Logger& logger_;
  std::atomic<bool> stopping_ = false;
  // Those that Slack has answered about, and those that it is asked about now.
  std::set<std::string> known_credentials_;
  std::set<std::string> asked_credentials_;
  std::map<std::string, std::chrono::nanoseconds> next_tries_;  // After a failure.
  Arrivals arrivals_;
};

}  // namespace tidemark::gate
