// What lifts locks and clears counts: a person at the help desk, a finished journey, or all locks
// of an attack at once. Pure functions, like the rules.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/attempts/account.h"
#include "apps/attempts/decision.h"
#include "apps/attempts/policy.h"

namespace tidemark::attempts {

// Removes the lock and the counts that led to it. If the counts stayed, the next failure would lock
// again at once.
void Unlock(const Policy& policy, const Name& lock, Account* account);

// The same for a lock that ends and that a rule has set, or for a hold, if `matches` is true for
// it. A lock that a person has set stays, also beside a hold of the same name. Returns what was
// lifted.
std::optional<Lock> UnlockIfSetByRule(const Policy& policy, const Name& name,
                                      const std::function<bool(const Lock&)>& matches,
                                      Account* account);

// The counts that hold a journey until they expire, as the locks that Unlock lifts.
std::vector<Lock> HoldsOf(const Account& account, const Policy& policy);

// Removes a count. The audit log gets its value before it is removed.
void ClearCount(const Name& name, Account* account);
// Removes the counts of all journeys and lanes. False when there are more than one write may
// remove: then the caller writes this change and calls again.
bool ClearCounts(Account* account);
// Called when a whole journey has succeeded. Removes its counts in all lanes, and the locks that
// the journey lifts with the counts and the failures in a row that lead to them. A permanent lock
// that somebody set stays: only they may lift it. False as above.
bool FinishJourney(const Policy& policy, const std::string& journey, Account* account);

}  // namespace tidemark::attempts
