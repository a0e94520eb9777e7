#include "apps/attempts/lifting.h"

#include <algorithm>

#include "apps/attempts/rule_parts.h"

namespace tidemark::attempts {

namespace {

// A transaction has room for a hundred rows. With each lock its counts are removed too.
constexpr size_t kMaxLiftedAtOnce = 32;

void LiftLock(const Name& lock, const std::string& reason, Account* account) {
  account->RemoveLock(lock);
  account->Audit({.what = "lock lifted", .name = SortKeyOf(lock).value(), .reason = reason});
}

// False when there are more rows than one write may remove.
bool ClearAll(const std::vector<const CountRow*>& rows, Account* account) {
  const bool are_all = rows.size() <= kMaxClearedAtOnce;
  const std::vector<Name> names = NamesOf(rows);
  for (const Name& name : names) ClearCount(name, account);
  return are_all;
}

// The counts whose limit leads to the lock.
std::vector<const CountRow*> CountsBehind(const Policy& policy, const Name& lock,
                                          const Account& account) {
  const Scope scope = lock.method.empty() ? Scope::kAll : Scope::kMethod;
  std::vector<const CountRow*> led_to_it;
  for (const CountRow* row : account.Counts()) {
    const Rule* rule = policy.FindRule(row->name, row->method_type);
    if (rule != nullptr && LockName(row->name, *rule, scope) == lock) led_to_it.push_back(row);
  }
  return led_to_it;
}

// Rows of earlier programs do not say who set them. Their reason does, unless a person has typed
// the words of a rule.
bool IsSetByRule(const Policy& policy, const LockRow& row) {
  if (row.set_by != SetBy::kUnknown) return row.set_by == SetBy::kRule;
  const Lock& lock = row.lock;
  return std::any_of(policy.rules().begin(), policy.rules().end(), [&](const Rule& rule) {
    return rule.journey == lock.name.journey && rule.lock_classifier == lock.name.classifier &&
           lock.reason == ReasonOf(rule);
  });
}

std::optional<Lock> FindHold(const Policy& policy, const Name& name, const Account& account) {
  for (const Lock& hold : HoldsOf(account, policy)) {
    if (hold.name == name) return hold;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Lock> HoldsOf(const Account& account, const Policy& policy) {
  std::vector<Lock> holds;
  for (const CountRow* row : account.Counts()) {
    const Rule* rule = policy.FindRule(row->name, row->method_type);
    if (rule == nullptr || rule->on_limit != OnLimit::kHold) continue;
    if (!IsAtLimit(*rule, row->count, FailuresOf(account.MethodsOf(row->name)))) continue;
    holds.push_back({.name = LockName(row->name, *rule, Scope::kMethod),
                     .reason = "too many errors",
                     .until = row->until,
                     .since = row->until - rule->life.count()});
  }
  return holds;
}

void Unlock(const Policy& policy, const Name& lock, Account* account) {
  if (account->FindLock(lock) == nullptr && !FindHold(policy, lock, *account)) return;
  LiftLock(lock, "", account);
  ClearAll(CountsBehind(policy, lock, *account), account);
}

std::optional<Lock> UnlockIfSetByRule(const Policy& policy, const Name& name,
                                      const std::function<bool(const Lock&)>& matches,
                                      Account* account) {
  const LockRow* row = account->FindLockRow(name);
  if (row != nullptr && row->lock.until && IsSetByRule(policy, *row) && matches(row->lock)) {
    Lock lifted = row->lock;
    Unlock(policy, name, account);
    return lifted;
  }
  auto hold = FindHold(policy, name, *account);
  if (!hold || !matches(*hold)) return std::nullopt;
  // A lock under the same name is not the hold: a person has set it.
  account->Audit({.what = "hold lifted", .name = SortKeyOf(name).value()});
  ClearAll(CountsBehind(policy, name, *account), account);
  return hold;
}

void ClearCount(const Name& name, Account* account) {
  const CountRow* row = account->FindCount(name);
  if (row == nullptr) return;
  account->Audit({.what = "count cleared",
                  .ahead = "count about to be cleared",
                  .name = SortKeyOf(name).value(),
                  .count = row->count});
  account->RemoveCount(name);
}

bool ClearCounts(Account* account) { return ClearAll(account->Counts(), account); }

namespace {

// A person who has finished a recovery has proved their identity. Failures from before no longer
// count.
void LiftCeilings(const Policy& policy, const std::string& journey, Account* account) {
  for (const Rule& rule : policy.rules()) {
    const Name name{.journey = rule.journey, .count = rule.count, .classifier = rule.classifier};
    if (!policy.IsLifted(LockName(name, rule, Scope::kAll), journey)) continue;
    if (!account->ForgetFailuresOf(rule.classifier)) continue;
    account->Audit({.what = "ceiling lifted",
                    .name = SortKeyOf(name).value(),
                    .reason = journey + " finished"});
  }
}

}  // namespace

bool FinishJourney(const Policy& policy, const std::string& journey, Account* account) {
  std::vector<Lock> locks = account->Locks();
  std::erase_if(
      locks, [&](const Lock& lock) { return !lock.until || !policy.IsLifted(lock.name, journey); });
  const bool are_all = locks.size() <= kMaxLiftedAtOnce;
  if (!are_all) locks.resize(kMaxLiftedAtOnce);
  for (const Lock& lock : locks) LiftLock(lock.name, journey + " finished", account);

  std::vector<const CountRow*> rows = account->Counts();
  std::erase_if(rows, [&](const CountRow* row) {
    if (row->name.journey == journey) return false;
    const Rule* rule = policy.FindRule(row->name, row->method_type);
    return rule == nullptr || !policy.IsLifted(LockName(row->name, *rule, Scope::kAll), journey);
  });
  LiftCeilings(policy, journey, account);
  return ClearAll(rows, account) && are_all;
}

}  // namespace tidemark::attempts
