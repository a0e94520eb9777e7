// What a policy makes of an account: pure functions, which decide and note what is to change. They
// read no clock and no table, so that every schedule can be played through.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

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

// Whether the journey may go on for a person who is known under several identifiers: their counts
// are summed, over all methods.
Decision JudgeJourney(const std::vector<Account>& accounts, const Policy& policy,
                      const std::string& journey);

// Books attempts that were reserved and never settled, once their time is over, as failures.
void BookAbandoned(const Policy& policy, Account* account);

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
  bool known = true;    // There is such an attempt.
  bool settled = true;  // It was under way until now.
  bool right = false;   // How it is recorded.
  Decision decision = {};
};
// What was reserved decides about the method and the lane; of the action only the count is used.
Settlement Settle(const Policy& policy, const Action& action, const Verification& verification,
                  Account* account);

// Counts what has no outcome; the call that reaches the limit is refused.
Decision Spend(const Policy& policy, const Action& action, const std::string& id, Account* account);

struct Increment {
  std::string id;
  std::chrono::seconds life;
  Window window = Window::kFixed;
};
// Counts, and nothing follows from it. The same id again gives what it gave the first time.
uint64_t CountOne(const Action& action, const Increment& increment, Account* account);

// The lock goes, and with it the counts that led to it: whoever was locked begins anew.
void Unlock(const Policy& policy, const Name& lock, Account* account);

// Removes a count; the audit gets what it was, before it is gone.
void ClearCount(const Name& name, Account* account);
// Of all journeys and lanes. False when there are more than can be cleared at once.
bool ClearCounts(Account* account);
// The whole journey has succeeded: its counts go, in all lanes, and the locks that it lifts, with
// the counts that lead to them. A lock without an end stays, for whoever set it. False as above.
bool FinishJourney(const Policy& policy, const std::string& journey, Account* account);

// How many of this name are under way.
uint64_t UnderWay(const Account& account, const Name& name);

}  // namespace tidemark::attempts
