// The rules: pure functions that decide about an account by a policy, and change the account. They
// read no clock and no store, so that a test can run every order of calls.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/attempts/account.h"
#include "apps/attempts/decision.h"
#include "apps/attempts/policy.h"

namespace tidemark::attempts {

// Another identifier of the same person: its account, and the lane of the device there.
struct Identity {
  const Account* account = nullptr;
  std::string lane = {};
};

// What the caller wants to do: a resolved name with its lane, and the rule for it.
struct Action {
  Name name;
  const Rule* rule = nullptr;
  std::string notification_type = {};
  std::string method_type = {};
  // The person's other identifiers. Their failures and open attempts count towards the same limits
  // and the same ceiling, and their locks and states refuse the action too. A failure is counted
  // under one identifier only: if it were counted under two, the sums would count it twice.
  std::vector<Identity> elsewhere = {};
  // The text of the source that the attempt comes from, where it has a slot too; empty: none.
  std::string source = {};
};

// Whether the action is permitted now.
Decision Judge(const Account& account, const Policy& policy, const Action& action);

// Whether a person who has several identifiers may use the journey. A lock of any of its steps
// refuses it. The counts of all identifiers are added up, over all methods.
Decision JudgeJourney(const std::vector<Account>& accounts, const Policy& policy,
                      const std::string& journey);

// Books attempts that were reserved and not settled in time as failures, each at the time of its
// deadline. True when one of them reached a limit.
bool BookAbandoned(const Policy& policy, Account* account);

// Takes a slot when the action is permitted. The id of an open attempt gets the same slot again;
// the id of an attempt that is over gets none.
Decision Reserve(const Policy& policy, const Action& action, const std::string& id,
                 Account* account);

struct Verification {
  std::string id;
  bool right = false;
  // The length of the lock that this failure may set; 0: the policy's.
  std::chrono::seconds lock_length = std::chrono::seconds(0);
};
struct Settlement {
  bool known = true;    // There is such an attempt, open or over.
  bool settled = true;  // It was open, and this call ended it.
  bool right = false;   // As recorded.
  Decision decision = {};
  // The source of the attempt, even if an earlier call ended the attempt: the slot at the source
  // may still be open.
  std::string source = {};
};
// Ends an open attempt. Method and lane are those of the reservation; the action only names the
// count.
Settlement Settle(const Policy& policy, const Action& action, const Verification& verification,
                  Account* account);

// What a success under one identifier of a person changes under another one. The limits are for all
// of them together, so failures that a success forgives must be forgiven under all of them.
void ForgiveElsewhere(const Action& action, Account* account);

// Removes an open attempt whose secret was not verified.
void Withdraw(const Action& action, const std::string& id, Account* account);

// Counts an action that cannot be wrong, such as sending a code. The call that reaches the limit is
// refused.
Decision Spend(const Policy& policy, const Action& action, const std::string& id, Account* account);

struct Increment {
  std::string id;
  std::chrono::seconds life;
  Window window = Window::kFixed;
};
// Counts one, and sets no lock. The same id again returns the same count again.
uint64_t CountOne(const Action& action, const Increment& increment, Account* account);

// How many open attempts have exactly this name.
uint64_t UnderWay(const Account& account, const Name& name);

// The action for the slots of a source. nullopt when the policy has no rule for sources.
std::optional<Action> SourceAction(const Policy& policy);

}  // namespace tidemark::attempts
