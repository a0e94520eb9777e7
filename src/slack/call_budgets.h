// CallBudgets counts the calls of each Web API method that each token makes, so that we stay
// below Slack's limits by ourselves and a flood of one kind cannot use up what others need.
//
// The bound is exact: in no 60 seconds, counted on the monotonic clock, are there more calls
// than the budget. Tokens are remembered by their hash, a bounded number of them; when it is
// reached, one that has not called for a minute makes room, and without such a one calls are
// refused. May be called from any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/secret.h"

namespace tidemark::slack {

enum class ApiMethod { kTeamInfo, kUsersInfo, kConversationsInfo, kFilesInfo, kAuthTest, kRefresh };
inline constexpr size_t kApiMethods = 6;

// "users.info"
std::string_view ToString(ApiMethod method);

// Calls a minute, by method.
using MethodBudgets = std::array<uint32_t, kApiMethods>;

class CallBudgets {
 public:
  // The clock outlives this.
  CallBudgets(MethodBudgets budgets, size_t max_tokens, const Clock* clock)
      : budgets_(budgets), max_tokens_(max_tokens), clock_(*clock) {}

  // Counts a call that is about to be made; false when it must not be made.
  bool Take(const Secret& token, ApiMethod method);

  // Slack asked for a pause: no call of the method for this long.
  void Rest(const Secret& token, ApiMethod method, std::chrono::nanoseconds length);

 private:
  struct Use {
    std::vector<std::chrono::nanoseconds> calls;  // Of the last minute, oldest first.
    std::chrono::nanoseconds rests_until{0};
  };
  using Uses = std::array<Use, kApiMethods>;

  // Null when there is no room for another token.
  Uses* Find(const Secret& token, std::chrono::nanoseconds now);
  static bool IsIdle(const Uses& uses, std::chrono::nanoseconds now);

  const MethodBudgets budgets_;
  const size_t max_tokens_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Uses> tokens_;  // By the token's SHA-256.
};

}  // namespace tidemark::slack
