// CallBudgets limits the calls per minute for each token and Web API method. It keeps us below
// Slack's own rate limits, and a flood of calls to one method leaves the others their budget.
//
// The limit is exact: no span of 60 seconds on the monotonic clock has more calls than the budget.
// Tokens are stored as hashes, and their number is limited. When it is reached, tokens without a
// call in the last minute are removed; if there is none, calls of a new token are refused.
// May be called from any thread.
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

enum class ApiMethod {
  kTeamInfo,
  kUsersInfo,
  kConversationsInfo,
  kFilesInfo,
  kAuthTest,
  kRefresh,
  kConversationsList,
  kUsersList,
};
inline constexpr size_t kApiMethods = 8;

// "users.info"
std::string_view ToString(ApiMethod method);

// Calls per minute, indexed by method.
using MethodBudgets = std::array<uint32_t, kApiMethods>;

class CallBudgets {
 public:
  // The clock outlives this.
  CallBudgets(MethodBudgets budgets, size_t max_tokens, const Clock* clock)
      : budgets_(budgets), max_tokens_(max_tokens), clock_(*clock) {}

  // Counts one call. False when the budget is used up: the caller must not make the call.
  bool Take(const Secret& token, ApiMethod method);

  // Refuses calls of the method for this long, because Slack asked for a pause.
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
