#include "apps/attempts/rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace tidemark::attempts {

namespace {

// How far clocks of processes may differ.
constexpr EpochSeconds kSkewSeconds = 2;

// The strongest first.
constexpr std::array kStates = {AccountState::kBlocked, AccountState::kSuspended,
                                AccountState::kResetPassword, AccountState::kReproveIdentity};

Name LockName(const Action& action, bool of_method) {
  Name name = action.name;
  name.count = kLockCount;
  name.classifier = action.rule->lock_classifier;
  if (!of_method) name.method.clear();
  return name;
}

uint64_t FailuresOf(const std::vector<const CountRow*>& rows) {
  uint64_t sum = 0;
  for (const CountRow* row : rows) sum += row->count;
  return sum;
}

uint64_t UsedOf(const std::vector<const CountRow*>& rows) {
  uint64_t sum = 0;
  for (const CountRow* row : rows) sum += row->used();
  return sum;
}

struct Usage {
  uint64_t count = 0;       // Failures of the method.
  uint64_t used = 0;        // With those under way.
  uint64_t total_used = 0;  // Over all methods.

  uint64_t Remaining(const Rule& rule) const {
    uint64_t remaining = rule.limit > used ? rule.limit - used : 0;
    if (rule.total_limit) {
      const uint64_t of_all = *rule.total_limit > total_used ? *rule.total_limit - total_used : 0;
      remaining = std::min(remaining, of_all);
    }
    return remaining;
  }
};

Usage UsageOf(const Account& account, const Action& action) {
  const CountRow* row = account.FindCount(action.name);
  return {.count = row ? row->count : 0,
          .used = row ? row->used() : 0,
          .total_used = UsedOf(account.MethodsOf(action.name))};
}

std::optional<Decision> JudgeState(const Account& account, const Policy& policy,
                                   const std::string& journey) {
  for (const AccountState state : kStates) {
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

std::optional<Decision> JudgeLocks(const Account& account, const Action& action) {
  const Lock* longest = nullptr;
  for (const bool of_method : {false, true}) {
    const Lock* lock = account.FindLock(LockName(action, of_method));
    if (lock == nullptr) continue;
    const bool is_longer =
        longest == nullptr || !lock->until || (longest->until && *lock->until > *longest->until);
    if (is_longer) longest = lock;
  }
  if (longest == nullptr) return std::nullopt;
  return LockedBy(account, *longest);
}

Count CountOf(const CountRow& row) {
  return {.name = row.name, .count = row.count, .under_way = row.open.size(), .until = row.until};
}

// Counts of the journey that hold it for as long as they live.
std::optional<Decision> JudgeHolds(const Account& account, const Policy& policy,
                                   const Action& action) {
  std::vector<Count> blocking;
  for (const CountRow* row : account.Counts()) {
    if (row->name.journey != action.name.journey || row->name.lane != action.name.lane) continue;
    const Rule* rule = policy.FindRule(row->name, row->method_type);
    if (rule == nullptr || rule->on_limit != OnLimit::kHold || row->count < rule->limit) continue;
    blocking.push_back(CountOf(*row));
  }
  if (blocking.empty()) return std::nullopt;
  const auto last = std::max_element(
      blocking.begin(), blocking.end(),
      [](const Count& left, const Count& right) { return left.until < right.until; });
  Decision decision =
      LockedBy(account, {.name = last->name, .reason = "too many errors", .until = last->until});
  decision.blocking = std::move(blocking);
  return decision;
}

CountRow RowToChange(const Account& account, const Action& action, std::chrono::seconds life,
                     Window window) {
  const CountRow* known = account.FindCount(action.name);
  CountRow row = known ? *known : CountRow{.name = action.name};
  if (known == nullptr || window == Window::kSliding) row.until = account.now() + life.count();
  if (!action.notification_type.empty()) row.notification_type = action.notification_type;
  if (!action.method_type.empty()) row.method_type = action.method_type;
  return row;
}

// An existing lock is never moved.
void SetLock(const Policy& policy, const Action& action, bool of_method, uint64_t count,
             uint64_t limit, std::chrono::seconds length, Account* account) {
  const Name name = LockName(action, of_method);
  if (account->FindLock(name) != nullptr) return;
  const Rule& rule = *action.rule;
  const auto seconds = length.count() > 0 ? length : policy.LockLength(rule.lock);
  LockRow row{.lock = {.name = name,
                       .kind = rule.lock,
                       .reason = fmt::format("{} {}", rule.count, rule.classifier)}};
  if (rule.lock != LockKind::kPermanent) {
    row.length = seconds.count();
    row.lock.until = account->now() + seconds.count();
  }
  account->Audit({.what = "lock set",
                  .name = SortKeyOf(name).value(),
                  .reason = row.lock.reason,
                  .count = count,
                  .limit = limit});
  account->Set(std::move(row));
}

// What reaching a limit does to the counts that reached it.
void EndCounts(const Action& action, bool of_method, Account* account) {
  const Rule& rule = *action.rule;
  std::vector<Name> names = {action.name};
  if (!of_method) {
    names.clear();
    for (const CountRow* row : account->MethodsOf(action.name)) names.push_back(row->name);
  }
  for (const Name& name : names) {
    const bool counts_further = of_method && rule.total_limit && rule.on_limit == OnLimit::kLock;
    if (!counts_further) {
      account->RemoveCount(name);
      continue;
    }
    // It still counts towards the total, but not beyond the lock: then the method begins anew.
    CountRow row = *account->FindCount(name);
    const Lock* lock = account->FindLock(LockName(action, true));
    if (lock != nullptr && lock->until) row.until = std::min(row.until, *lock->until);
    account->Set(std::move(row));
  }
}

// True when a limit is reached, with what follows from it done.
bool ApplyLimits(const Policy& policy, const Action& action, std::chrono::seconds lock_length,
                 Account* account) {
  const Rule& rule = *action.rule;
  const CountRow* row = account->FindCount(action.name);
  const uint64_t count = row ? row->count : 0;
  const uint64_t total = FailuresOf(account->MethodsOf(action.name));
  const bool over_total = rule.total_limit && total >= *rule.total_limit;
  if (!over_total && count < rule.limit) return false;
  if (rule.on_limit == OnLimit::kHold) return true;
  if (rule.on_limit == OnLimit::kLock) {
    // Without methods the lock of the one is that of all.
    if (over_total) SetLock(policy, action, false, total, *rule.total_limit, lock_length, account);
    if (count >= rule.limit) SetLock(policy, action, true, count, rule.limit, lock_length, account);
  }
  EndCounts(action, !over_total, account);
  return true;
}

// Counts one failure and what follows from it; true when it reached a limit.
bool Book(const Policy& policy, const Action& action, const std::string& id,
          std::chrono::seconds lock_length, Account* account) {
  CountRow row = RowToChange(*account, action, action.rule->life, action.rule->window);
  std::erase_if(row.open, [&](const OpenAttempt& one) { return one.id == id; });
  ++row.count;
  row.ids.push_back(id);
  account->Set(std::move(row));
  return ApplyLimits(policy, action, lock_length, account);
}

void BookFailure(const Policy& policy, const Action& action, const Verification& verification,
                 Account* account, bool* reached) {
  const uint64_t failures = account->FailuresInARow(action.name.lane) + 1;
  account->SetFailuresInARow(action.name.lane, failures);
  if (failures == policy.ceiling()) {
    account->Audit({.what = "locked indefinitely",
                    .name = SortKeyOf(action.name).value(),
                    .reason = "failures in a row",
                    .count = failures,
                    .limit = policy.ceiling()});
  }
  *reached = Book(policy, action, verification.id, verification.lock_length, account);
}

void ClearAfterSuccess(const Action& action, const std::string& id, Account* account) {
  if (const CountRow* row = account->FindCount(action.name)) {
    CountRow changed = *row;
    std::erase_if(changed.open, [&](const OpenAttempt& one) { return one.id == id; });
    if (changed.used() > 0) {
      account->Set(std::move(changed));
    } else {
      account->RemoveCount(action.name);
    }
  }
  for (const std::string& classifier : action.rule->clears) {
    Name cleared = action.name;
    cleared.classifier = classifier;
    for (const CountRow* row : account->MethodsOf(cleared)) {
      // Slots of others under way stay theirs.
      CountRow changed = *row;
      changed.count = 0;
      changed.ids.clear();
      if (changed.open.empty()) {
        account->RemoveCount(changed.name);
      } else {
        account->Set(std::move(changed));
      }
    }
  }
  account->SetFailuresInARow(action.name.lane, 0);
}

bool IsUnderWay(const Account& account, const Action& action, const std::string& id) {
  const CountRow* row = account.FindCount(action.name);
  return row != nullptr && std::any_of(row->open.begin(), row->open.end(),
                                       [&](const OpenAttempt& one) { return one.id == id; });
}

bool IsOver(const Account& account, const Action& action, const std::string& id) {
  const CountRow* row = account.FindCount(action.name);
  return account.FindSettled(id) || (row != nullptr && row->Counts(id));
}

Decision Permitted(const Account& account, const Action& action) {
  const Usage usage = UsageOf(account, action);
  return {.verdict = Verdict::kPermitted,
          .count = usage.count,
          .remaining = usage.Remaining(*action.rule)};
}

}  // namespace

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPermitted:
      return "permitted";
    case Verdict::kBusy:
      return "busy";
    case Verdict::kTemporarilyLocked:
      return "temporarily_locked";
    case Verdict::kIndefinitelyLocked:
      return "indefinitely_locked";
    case Verdict::kBlocked:
      return "blocked";
  }
  return "blocked";
}

std::string_view ToString(EmailFraud state) {
  switch (state) {
    case EmailFraud::kPending:
      return "PENDING";
    case EmailFraud::kAllow:
      return "ALLOW";
    case EmailFraud::kDeny:
      return "DENY";
  }
  return "PENDING";
}

Decision Judge(const Account& account, const Policy& policy, const Action& action) {
  if (auto decision = JudgeState(account, policy, action.name.journey)) return *decision;
  if (account.FailuresInARow(action.name.lane) >= policy.ceiling()) {
    return {.verdict = Verdict::kIndefinitelyLocked,
            .count = account.FailuresInARow(action.name.lane)};
  }
  if (auto decision = JudgeLocks(account, action)) return *decision;
  if (auto decision = JudgeHolds(account, policy, action)) return *decision;
  Decision decision = Permitted(account, action);
  if (decision.remaining == 0) decision.verdict = Verdict::kBusy;
  return decision;
}

void BookAbandoned(const Policy& policy, const Action& action, Account* account) {
  const EpochSeconds limit = account->now() - policy.verification_deadline().count() - kSkewSeconds;
  std::vector<std::pair<Name, std::string>> abandoned;
  for (const CountRow* row : account->MethodsOf(action.name)) {
    for (const OpenAttempt& one : row->open) {
      if (one.at <= limit) abandoned.emplace_back(row->name, one.id);
    }
  }
  for (const auto& [name, id] : abandoned) {
    Action one = action;
    one.name = name;
    bool reached = false;
    account->Remember({.id = id, .right = false});
    BookFailure(policy, one, {.id = id}, account, &reached);
  }
}

Decision Reserve(const Policy& policy, const Action& action, const std::string& id,
                 Account* account) {
  BookAbandoned(policy, action, account);
  if (IsUnderWay(*account, action, id)) return Permitted(*account, action);
  Decision decision = Judge(*account, policy, action);
  if (IsOver(*account, action, id)) {
    if (decision.verdict == Verdict::kPermitted) decision.verdict = Verdict::kBusy;
    return decision;
  }
  if (decision.verdict != Verdict::kPermitted) return decision;
  CountRow row = RowToChange(*account, action, action.rule->life, action.rule->window);
  row.open.push_back({.id = id, .at = account->now()});
  account->Set(std::move(row));
  return Permitted(*account, action);
}

Settlement Settle(const Policy& policy, const Action& action, const Verification& verification,
                  Account* account) {
  if (!IsUnderWay(*account, action, verification.id)) {
    return {.known = IsOver(*account, action, verification.id),
            .decision = Judge(*account, policy, action)};
  }
  bool reached = false;
  if (verification.right) {
    ClearAfterSuccess(action, verification.id, account);
  } else {
    BookFailure(policy, action, verification, account, &reached);
  }
  account->Remember({.id = verification.id, .right = verification.right});
  Settlement settlement{.decision = Judge(*account, policy, action)};
  settlement.decision.just_reached = reached;
  return settlement;
}

Decision Spend(const Policy& policy, const Action& action, const std::string& id,
               Account* account) {
  if (IsOver(*account, action, id)) return Judge(*account, policy, action);
  Decision decision = Judge(*account, policy, action);
  if (decision.verdict != Verdict::kPermitted) return decision;
  const bool reached = Book(policy, action, id, std::chrono::seconds(0), account);
  decision = Judge(*account, policy, action);
  decision.just_reached = reached;
  // Without a lock to refuse it the call is refused all the same, this once.
  if (reached && decision.verdict == Verdict::kPermitted) decision.verdict = Verdict::kBusy;
  return decision;
}

uint64_t CountOne(const Action& action, const Increment& increment, Account* account) {
  CountRow row = RowToChange(*account, action, increment.life, increment.window);
  if (row.Counts(increment.id)) return row.count;
  ++row.count;
  row.ids.push_back(increment.id);
  const uint64_t count = row.count;
  account->Set(std::move(row));
  return count;
}

}  // namespace tidemark::attempts
