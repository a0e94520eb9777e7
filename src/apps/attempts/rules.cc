#include "apps/attempts/rules.h"

#include <algorithm>
#include <map>
#include <utility>

#include "apps/attempts/lifting.h"
#include "apps/attempts/rule_parts.h"

namespace tidemark::attempts {

namespace {

// How far the clocks of two processes may differ.
constexpr EpochSeconds kSkewSeconds = 2;
// A transaction has room for a hundred rows. One booked attempt can change three of them.
constexpr size_t kMaxBookedAtOnce = 32;

// ---- How many attempts are left ----

template <typename Matches>
uint64_t CountOpen(const Account& account, const Matches& matches) {
  return static_cast<uint64_t>(
      std::count_if(account.open().begin(), account.open().end(), matches));
}

uint64_t LeftOf(uint64_t limit, uint64_t used) { return limit > used ? limit - used : 0; }

// What one identifier of a person has used up of the limits of an action.
struct Used {
  uint64_t of_method = 0;  // Failures, and open attempts where they count.
  uint64_t of_all = 0;     // The same over all methods.
};

// Open attempts may still fail, so for a reservation they count as failures.
enum class OpenOnes { kCount, kIgnore };

Used UsedIn(const Account& account, const Name& name, OpenOnes open) {
  const CountRow* row = account.FindCount(name);
  Used used{.of_method = row ? row->count : 0, .of_all = FailuresOf(account.MethodsOf(name))};
  if (open == OpenOnes::kIgnore) return used;
  used.of_method += UnderWay(account, name);
  used.of_all += CountOpen(account, [&](const OpenAttempt& one) {
    return IsSameCount(one.name, name) && one.name.lane == name.lane;
  });
  return used;
}

// By all identifiers of the person together.
Used UsedBy(const Account& account, const Action& action, OpenOnes open) {
  Used used = UsedIn(account, action.name, open);
  for (const Identity& other : action.elsewhere) {
    Name name = action.name;
    name.lane = other.lane;
    const Used there = UsedIn(*other.account, name, open);
    used.of_method += there.of_method;
    used.of_all += there.of_all;
  }
  return used;
}

// Failures in a row at the secret of the action, under one identifier.
uint64_t FailuresInARowIn(const Account& account, const Name& name, OpenOnes open) {
  // A device that is not known under this identifier has no failures of its own there. The failures
  // of everybody else do not count for it.
  if (!name.lane.empty() && !account.HasLane(name.lane)) return 0;
  const uint64_t failures = account.FailuresOf(name);
  if (open == OpenOnes::kIgnore) return failures;
  return failures + CountOpen(account, [&](const OpenAttempt& one) {
           return one.name.classifier == name.classifier && one.name.lane == name.lane;
         });
}

uint64_t FailuresInARowElsewhere(const Action& action, OpenOnes open) {
  uint64_t failures = 0;
  for (const Identity& other : action.elsewhere) {
    Name name = action.name;
    name.lane = other.lane;
    failures += FailuresInARowIn(*other.account, name, open);
  }
  return failures;
}

// Failures under all identifiers of the person together, because they are guesses at one secret. If
// each identifier had its own number, a guesser who alternates between them would reach the ceiling
// later.
uint64_t FailuresInARowBy(const Account& account, const Action& action, OpenOnes open) {
  return FailuresInARowIn(account, action.name, open) + FailuresInARowElsewhere(action, open);
}

// How many more attempts may be reserved. An open attempt may still fail, so it takes a place in
// every limit that a failure would count towards: the method, all methods, and the ceiling. This is
// what makes the limits exact: fifty guesses at once find the slots taken, although none of them
// has failed yet.
uint64_t Remaining(const Account& account, const Policy& policy, const Action& action) {
  const Rule& rule = *action.rule;
  const Used used = UsedBy(account, action, OpenOnes::kCount);
  uint64_t remaining = LeftOf(rule.limit, used.of_method);
  if (rule.total_limit) remaining = std::min(remaining, LeftOf(*rule.total_limit, used.of_all));
  if (rule.HasCeiling()) {
    const uint64_t failures = FailuresInARowBy(account, action, OpenOnes::kCount);
    remaining = std::min(remaining, LeftOf(policy.ceiling(), failures));
  }
  return std::min<uint64_t>(remaining, LeftOf(kMaxOpen, account.open().size()));
}

Decision PermittedDecision(const Account& account, const Policy& policy, const Action& action) {
  return {.verdict = Verdict::kPermitted,
          .count = UsedBy(account, action, OpenOnes::kIgnore).of_method,
          .remaining = Remaining(account, policy, action)};
}

// ---- Reasons to refuse ----

std::optional<Decision> JudgeState(const Account& account, const Policy& policy,
                                   const std::string& journey) {
  for (const AccountState state : kAccountStates) {
    if (!account.HasState(state) || policy.Allows(state, journey)) continue;
    return Decision{.verdict = Verdict::kBlocked, .state = state};
  }
  return std::nullopt;
}

Decision LockedBy(const Account& account, const Lock& lock) {
  Decision decision{.verdict = Verdict::kIndefinitelyLocked, .lock = lock};
  if (!lock.until) return decision;
  decision.verdict = Verdict::kTemporarilyLocked;
  decision.remaining_seconds = std::max<int64_t>(0, *lock.until - account.now());
  return decision;
}

std::optional<Decision> JudgeCeiling(const Account& account, const Policy& policy,
                                     const Action& action) {
  const uint64_t failures = FailuresInARowBy(account, action, OpenOnes::kIgnore);
  if (!action.rule->HasCeiling() || failures < policy.ceiling()) return std::nullopt;
  Lock lock{.name = action.name, .kind = LockKind::kPermanent, .reason = "failures in a row"};
  lock.name.count = kLockCount;
  Decision decision = LockedBy(account, lock);
  decision.count = failures;
  return decision;
}

std::optional<Decision> JudgeLocks(const Account& account, const Action& action) {
  const Lock* longest = nullptr;
  for (const Scope scope : {Scope::kAll, Scope::kMethod}) {
    const Lock* lock = account.FindLock(LockName(action.name, *action.rule, scope));
    if (lock == nullptr) continue;
    const bool is_longer =
        longest == nullptr || !lock->until || (longest->until && *lock->until > *longest->until);
    if (is_longer) longest = lock;
  }
  if (longest == nullptr) return std::nullopt;
  return LockedBy(account, *longest);
}

Decision HeldBy(const Account& account, std::vector<Count> blocking) {
  const auto last = std::max_element(
      blocking.begin(), blocking.end(),
      [](const Count& left, const Count& right) { return left.until < right.until; });
  Decision decision =
      LockedBy(account, {.name = last->name, .reason = "too many errors", .until = last->until});
  decision.blocking = std::move(blocking);
  return decision;
}

// Counts of the journey that are at their limit and refuse it until they expire (OnLimit::kHold).
// Those of all identifiers of the person are added up.
std::optional<Decision> JudgeHolds(const Account& account, const Policy& policy,
                                   const Action& action) {
  std::vector<Identity> person = action.elsewhere;
  person.push_back({.account = &account, .lane = action.name.lane});
  std::map<Name, Count> sums;            // By the name without its lane.
  std::map<Name, uint64_t> all_methods;  // And without its method.
  std::map<Name, const Rule*> rules;
  for (const Identity& one : person) {
    for (const CountRow* row : one.account->Counts()) {
      if (row->name.journey != action.name.journey || row->name.lane != one.lane) continue;
      const Rule* rule = policy.FindRule(row->name, row->method_type);
      if (rule == nullptr || rule->on_limit != OnLimit::kHold) continue;
      Name name = row->name;
      name.lane.clear();
      Count& sum = sums[name];
      sum.name = row->name;
      sum.count += row->count;
      sum.under_way += UnderWay(*one.account, row->name);
      sum.until = std::max(sum.until, row->until);
      rules[name] = rule;
      name.method.clear();
      all_methods[name] += row->count;
    }
  }
  std::vector<Count> blocking;
  for (const auto& [name, sum] : sums) {
    Name all = name;
    all.method.clear();
    if (IsAtLimit(*rules[name], sum.count, all_methods[all])) blocking.push_back(sum);
  }
  if (blocking.empty()) return std::nullopt;
  return HeldBy(account, std::move(blocking));
}

// ---- What happens at a limit ----

struct Reached {
  uint64_t count = 0;
  uint64_t limit = 0;
};

// An existing lock keeps its end. If every further failure moved it, anybody could keep the owner
// out for ever.
void SetLock(const Policy& policy, const Action& action, Scope scope, const Reached& reached,
             std::chrono::seconds length, Account* account) {
  const Rule& rule = *action.rule;
  const Name name = LockName(action.name, rule, scope);
  if (account->FindLock(name) != nullptr) return;
  LockRow row{.lock = {.name = name, .kind = rule.lock, .reason = ReasonOf(rule)},
              .set_by = SetBy::kRule,
              .notification_type = action.notification_type,
              .method_type = action.method_type};
  if (rule.lock != LockKind::kPermanent) {
    row.length = (length.count() > 0 ? length : policy.LockLength(rule.lock)).count();
    row.lock.until = account->lock_start() + row.length;
  }
  account->Audit({.what = "lock set",
                  .name = SortKeyOf(name).value(),
                  .reason = row.lock.reason,
                  .count = reached.count,
                  .limit = reached.limit});
  account->Set(std::move(row));
}

// The failures of a locked method still count towards the total of all methods, but only until the
// lock ends. Then the method starts from zero.
void KeepForTotal(const Action& action, Account* account) {
  CountRow row = *account->FindCount(action.name);
  const Lock* lock = account->FindLock(LockName(action.name, *action.rule, Scope::kMethod));
  if (lock != nullptr && lock->until) row.until = std::min(row.until, *lock->until);
  account->Set(std::move(row));
}

void EndCounts(const Action& action, Scope scope, Account* account) {
  if (scope == Scope::kAll) {
    const std::vector<Name> names = NamesOf(account->MethodsOf(action.name));
    for (const Name& name : names) account->RemoveCount(name);
  } else if (action.rule->total_limit && action.rule->on_limit == OnLimit::kLock) {
    KeepForTotal(action, account);
  } else {
    account->RemoveCount(action.name);
  }
}

// Does what the rule says when a limit is reached. False when none is.
bool ApplyLimits(const Policy& policy, const Action& action, std::chrono::seconds lock_length,
                 Account* account) {
  const Rule& rule = *action.rule;
  const auto [count, total] = UsedBy(*account, action, OpenOnes::kIgnore);
  if (!IsAtLimit(rule, count, total)) return false;
  if (rule.on_limit == OnLimit::kHold) return true;
  const bool at_total = rule.total_limit && total >= *rule.total_limit;
  if (rule.on_limit == OnLimit::kLock) {
    if (at_total) {
      SetLock(policy, action, Scope::kAll, {total, *rule.total_limit}, lock_length, account);
    }
    if (count >= rule.limit) {
      SetLock(policy, action, Scope::kMethod, {count, rule.limit}, lock_length, account);
    }
  }
  EndCounts(action, at_total ? Scope::kAll : Scope::kMethod, account);
  return true;
}

// ---- Counting ----

CountRow RowToChange(const Account& account, const Action& action, std::chrono::seconds life,
                     Window window) {
  const CountRow* known = account.FindCount(action.name);
  CountRow row = known ? *known : CountRow{.name = action.name};
  if (known == nullptr || window == Window::kSliding) row.until = account.now() + life.count();
  if (!action.notification_type.empty()) row.notification_type = action.notification_type;
  if (!action.method_type.empty()) row.method_type = action.method_type;
  return row;
}

// The counts that the rule clears after a success.
void ClearBySuccess(const Action& action, Account* account) {
  if (action.rule == nullptr) return;
  for (const std::string& classifier : action.rule->clears) {
    Name cleared = action.name;
    cleared.classifier = classifier;
    const std::vector<Name> names = NamesOf(account->MethodsOf(cleared));
    for (const Name& name : names) ClearCount(name, account);
  }
}

// Counts one failure. True when it reached a limit.
bool Book(const Policy& policy, const Action& action, const std::string& id,
          std::chrono::seconds lock_length, Account* account) {
  CountRow row = RowToChange(*account, action, action.rule->life, action.rule->window);
  ++row.count;
  row.ids.push_back(id);
  account->Set(std::move(row));
  return ApplyLimits(policy, action, lock_length, account);
}

// Failures in a row grow with every wrong answer. Unlike counts they do not expire and are not
// removed by a lock, so they bound a guesser who waits for every lock to end. True when they have
// reached the ceiling.
bool AddFailureInARow(const Policy& policy, const Action& action, Account* account) {
  const uint64_t own = account->FailuresOf(action.name) + 1;
  account->SetFailures(action.name, own);
  const uint64_t failures = own + FailuresInARowElsewhere(action, OpenOnes::kIgnore);
  if (failures != policy.ceiling()) return false;
  account->Audit({.what = "locked indefinitely",
                  .name = SortKeyOf(action.name).value(),
                  .reason = "failures in a row",
                  .count = failures,
                  .limit = policy.ceiling()});
  return true;
}

Action ActionOf(const Policy& policy, const OpenAttempt& open) {
  return {.name = open.name,
          .rule = policy.FindRule(open.name, open.method_type),
          .notification_type = open.notification_type,
          .method_type = open.method_type,
          .source = open.source};
}

// Ends an open attempt as a failure. True when it reached a limit.
bool BookFailure(const Policy& policy, const Action& action, const Verification& verification,
                 Account* account) {
  // The policy may have changed since the reservation. Without a rule there is no count to raise.
  bool reached = false;
  if (action.rule != nullptr) {
    reached = Book(policy, action, verification.id, verification.lock_length, account);
    if (action.rule->HasCeiling()) reached |= AddFailureInARow(policy, action, account);
  }
  account->Close(
      {.id = verification.id, .name = action.name, .reached = reached, .source = action.source});
  return reached;
}

void BookSuccess(const Action& action, const std::string& id, Account* account) {
  account->Close({.id = id, .name = action.name, .right = true, .source = action.source});
  account->SetFailures(action.name, 0);
  ClearBySuccess(action, account);
}

int64_t DeadlineSeconds(const Policy& policy) {
  return policy.verification_deadline().count() + kSkewSeconds;
}

// Also when it was reserved by a clock that was far ahead: by our clock it would stay open for
// ever.
bool IsAbandoned(const Policy& policy, const Account& account, const OpenAttempt& open) {
  return open.at + DeadlineSeconds(policy) <= account.now() ||
         open.at > account.now() + kMaxLeadSeconds;
}

bool IsOver(const Account& account, const Action& action, const std::string& id) {
  if (account.FindSettled(id, action.name) != nullptr) return true;
  const CountRow* row = account.FindCount(action.name);
  return row != nullptr && row->CountAt(id).has_value();
}

}  // namespace

uint64_t UnderWay(const Account& account, const Name& name) {
  return CountOpen(account, [&](const OpenAttempt& one) { return one.name == name; });
}

Decision Judge(const Account& account, const Policy& policy, const Action& action) {
  std::vector<Identity> person = action.elsewhere;
  person.insert(person.begin(), Identity{.account = &account, .lane = action.name.lane});
  // The strongest reason comes first. One identifier of the person that forbids it is enough.
  for (const Identity& one : person) {
    if (auto decision = JudgeState(*one.account, policy, action.name.journey)) return *decision;
  }
  if (auto decision = JudgeCeiling(account, policy, action)) return *decision;
  for (const Identity& one : person) {
    Action there{.name = action.name, .rule = action.rule};
    there.name.lane = one.lane;
    if (auto decision = JudgeLocks(*one.account, there)) return *decision;
  }
  if (auto decision = JudgeHolds(account, policy, action)) return *decision;
  Decision decision = PermittedDecision(account, policy, action);
  if (decision.remaining == 0) decision.verdict = Verdict::kBusy;
  return decision;
}

namespace {

// Locks and ceilings of any step of the journey. A lock of one method leaves the others.
std::optional<Decision> JudgeLocksOf(const std::vector<Account>& accounts, const Policy& policy,
                                     const std::string& journey) {
  for (const Rule& rule : policy.rules()) {
    if (rule.journey != journey) continue;
    Action action{.name = {.journey = journey, .count = rule.count, .classifier = rule.classifier},
                  .rule = &rule};
    for (size_t i = 1; i < accounts.size(); ++i) {
      action.elsewhere.push_back({.account = &accounts[i]});
    }
    if (auto decision = JudgeCeiling(accounts.front(), policy, action)) return decision;
    for (const Account& account : accounts) {
      if (auto decision = JudgeLocks(account, action)) return decision;
    }
  }
  return std::nullopt;
}

}  // namespace

Decision JudgeJourney(const std::vector<Account>& accounts, const Policy& policy,
                      const std::string& journey) {
  std::map<Name, Count> sums;
  for (const Account& account : accounts) {
    if (auto decision = JudgeState(account, policy, journey)) return *decision;
    for (const CountRow* row : account.Counts()) {
      if (row->name.journey != journey || !row->name.lane.empty()) continue;
      Name name = row->name;
      name.method.clear();
      Count& sum = sums[name];
      sum.name = name;
      sum.count += row->count;
      sum.until = std::max(sum.until, row->until);
    }
  }
  if (auto decision = JudgeLocksOf(accounts, policy, journey)) return *decision;
  Decision permitted;
  std::vector<Count> blocking;
  for (const auto& [name, sum] : sums) {
    permitted.count += sum.count;
    const Rule* rule = policy.FindRule(name, "");
    if (rule == nullptr || rule->on_limit != OnLimit::kHold) continue;
    if (IsAtLimit(*rule, sum.count, sum.count)) blocking.push_back(sum);
  }
  if (blocking.empty()) return permitted;
  return HeldBy(accounts.front(), std::move(blocking));
}

bool BookAbandoned(const Policy& policy, Account* account) {
  std::vector<OpenAttempt> abandoned;
  for (const OpenAttempt& one : account->open()) {
    if (IsAbandoned(policy, *account, one)) abandoned.push_back(one);
  }
  std::stable_sort(
      abandoned.begin(), abandoned.end(),
      [](const OpenAttempt& left, const OpenAttempt& right) { return left.at < right.at; });
  if (abandoned.size() > kMaxBookedAtOnce) abandoned.resize(kMaxBookedAtOnce);
  bool reached = false;
  const EpochSeconds now = account->now();
  for (const OpenAttempt& one : abandoned) {
    // Booked with the time of its deadline: it belongs to the count and the lock of that time,
    // which may have ended by now.
    account->SetNow(std::min(now, one.at + DeadlineSeconds(policy)));
    reached |= BookFailure(policy, ActionOf(policy, one), {.id = one.id}, account);
  }
  // Those that were left out are booked by the next call. Until then they take slots, so they
  // count.
  account->SetNow(now);
  return reached;
}

Decision Reserve(const Policy& policy, const Action& action, const std::string& id,
                 Account* account) {
  const bool reached = BookAbandoned(policy, account);
  // The same call again, because its reply was lost. It keeps its slot. Locks are not checked: the
  // slot was taken before they were set, and a failure of it counts. A state is checked: somebody
  // wants this person to be refused now.
  if (account->FindOpen(id, action.name) != nullptr) {
    const auto blocked = JudgeState(*account, policy, action.name.journey);
    return blocked ? *blocked : PermittedDecision(*account, policy, action);
  }
  Decision decision = Judge(*account, policy, action);
  // The caller must be told about a lock that this call has set, even if other attempts led to it.
  decision.just_reached = reached && decision.lock.has_value();
  if (decision.verdict != Verdict::kPermitted) return decision;
  // The id was used before. A slot is for one verification only: otherwise a guesser could settle
  // and reserve again under the same id without a limit.
  if (IsOver(*account, action, id)) {
    decision.verdict = Verdict::kBusy;
    return decision;
  }
  account->Open({.id = id,
                 .at = account->now(),
                 .name = action.name,
                 .notification_type = action.notification_type,
                 .method_type = action.method_type,
                 .source = action.source});
  return PermittedDecision(*account, policy, action);
}

void Withdraw(const Action& action, const std::string& id, Account* account) {
  account->Withdraw(id, action.name);
}

std::optional<Action> SourceAction(const Policy& policy) {
  Action action{.name = {.journey = std::string(kSourceJourney),
                         .count = std::string(kSourceCount),
                         .classifier = std::string(kGeneral)}};
  action.rule = policy.FindRule(action.name, "");
  if (action.rule == nullptr) return std::nullopt;
  return action;
}

Settlement Settle(const Policy& policy, const Action& action, const Verification& verification,
                  Account* account) {
  // An answer after the deadline comes too late, also when there was no other reservation since.
  BookAbandoned(policy, account);
  const OpenAttempt* open = account->FindOpen(verification.id, action.name);
  if (open == nullptr) {
    // Settled before, by a call whose reply was lost, or booked as abandoned. The answer is what
    // was recorded then, even if the caller says something else now.
    const Settled* before = account->FindSettled(verification.id, action.name);
    Settlement settlement{.known = IsOver(*account, action, verification.id),
                          .settled = false,
                          .right = before != nullptr && before->right,
                          .decision = Judge(*account, policy, action)};
    settlement.decision.just_reached = before != nullptr && before->reached;
    // The call that ended it may have failed before it settled the slot at the source.
    if (before != nullptr) settlement.source = before->source;
    return settlement;
  }
  Action reserved = ActionOf(policy, *open);
  reserved.elsewhere = action.elsewhere;
  const bool right = verification.right && !IsAbandoned(policy, *account, *open);
  bool reached = false;
  if (right) {
    BookSuccess(reserved, verification.id, account);
  } else {
    reached = BookFailure(policy, reserved, verification, account);
  }
  Settlement settlement{
      .right = right,
      .decision = Judge(*account, policy, reserved.rule != nullptr ? reserved : action)};
  settlement.decision.just_reached = reached;
  settlement.source = reserved.source;
  return settlement;
}

void ForgiveElsewhere(const Action& action, Account* account) {
  const Name& name = action.name;
  const bool has_own = name.lane.empty() || account->HasLane(name.lane);
  // If the device has no lane here, the failures here are not those of the device, so they stay.
  if (has_own) account->SetFailures(name, 0);
  ClearBySuccess(action, account);
}

Decision Spend(const Policy& policy, const Action& action, const std::string& id,
               Account* account) {
  bool reached = false;
  if (IsOver(*account, action, id)) {
    const Settled* before = account->FindSettled(id, action.name);
    if (before == nullptr) return PermittedDecision(*account, policy, action);
    reached = before->reached;
  } else {
    const Decision decision = Judge(*account, policy, action);
    if (decision.verdict != Verdict::kPermitted) return decision;
    reached = Book(policy, action, id, std::chrono::seconds(0), account);
    if (!reached) return PermittedDecision(*account, policy, action);
    account->Remember({.id = id, .name = action.name, .reached = true});
  }
  Decision decision = Judge(*account, policy, action);
  decision.just_reached = reached;
  // The rule sets no lock (OnLimit::kReset), but this call is over the limit.
  if (decision.verdict == Verdict::kPermitted) decision.verdict = Verdict::kBusy;
  return decision;
}

uint64_t CountOne(const Action& action, const Increment& increment, Account* account) {
  CountRow row = RowToChange(*account, action, increment.life, increment.window);
  if (const auto before = row.CountAt(increment.id)) return *before;
  ++row.count;
  row.ids.push_back(increment.id);
  const uint64_t count = row.count;
  account->Set(std::move(row));
  return count;
}

}  // namespace tidemark::attempts
