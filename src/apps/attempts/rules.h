// What a policy makes of an account: pure functions, which decide and note what is to change. They
// read no clock and no table, so that every schedule can be played through.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "apps/attempts/account.h"
#include "apps/attempts/decision.h"
#include "apps/attempts/policy.h"

namespace tidemark::attempts {

// What somebody wants to do: a resolved name with its lane, and the rule for it.
struct Action {
  Name name;
  const Rule* rule = nullptr;
  std::string notification_type = {};
  std::string method_type = {};
};

// Whether it may be done now.
Decision Judge(const Account& account, const Policy& policy, const Action& action);

// Books attempts that were reserved and never settled, once their time is over, as failures.
void BookAbandoned(const Policy& policy, const Action& action, Account* account);

// Takes a slot when the judgement permits. The id of an attempt under way gets its slot again; that
// of one that is over gets none.
Decision Reserve(const Policy& policy, const Action& action, const std::string& id,
                 Account* account);

struct Verification {
  std::string id;
  bool right = false;
  // Of a lock that this sets; 0: the policy's.
  std::chrono::seconds lock_length = std::chrono::seconds(0);
};
struct Settlement {
  bool known = true;
  Decision decision = {};
};
Settlement Settle(const Policy& policy, const Action& action, const Verification& verification,
                  Account* account);

// Counts what has no outcome; the call that reaches the limit is refused.
Decision Spend(const Policy& policy, const Action& action, const std::string& id, Account* account);

struct Increment {
  std::string id;
  std::chrono::seconds life;
  Window window = Window::kFixed;
};
// Counts, and nothing follows from it.
uint64_t CountOne(const Action& action, const Increment& increment, Account* account);

}  // namespace tidemark::attempts
