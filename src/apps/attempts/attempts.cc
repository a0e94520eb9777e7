#include "apps/attempts/attempts.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/attempts/account.h"
#include "apps/attempts/engine.h"
#include "apps/attempts/rules.h"

namespace tidemark::attempts {

namespace {

constexpr size_t kMaxIdBytes = 128;
constexpr size_t kMaxReasonBytes = 256;
constexpr std::chrono::seconds kDefaultLife(900);
// How long a device is known after its last success.
constexpr std::chrono::seconds kDeviceLife = std::chrono::hours(90 * 24);
constexpr int64_t kMaxLifeSeconds = 366LL * 86'400;

Status CheckAttemptId(const std::string& id) {
  if (!id.empty() && id.size() <= kMaxIdBytes) return Done{};
  return Invalid(fmt::format("attempt_id should have 1 to {} bytes, and be a new one for each try",
                             kMaxIdBytes));
}

Status CheckLength(std::string_view what, std::chrono::seconds length) {
  if (length.count() >= 1 && length.count() <= kMaxLifeSeconds) return Done{};
  return Invalid(fmt::format("the {} should be between 1 and {} seconds, not {}", what,
                             kMaxLifeSeconds, length.count()));
}

Status CheckReason(const std::string& reason) {
  if (reason.size() <= kMaxReasonBytes) return Done{};
  return Invalid(fmt::format("a reason should have at most {} bytes", kMaxReasonBytes));
}

Count CountOf(const Account& account, const CountRow& row) {
  return {.name = row.name,
          .count = row.count,
          .under_way = UnderWay(account, row.name),
          .until = row.until};
}

}  // namespace

Attempts::Attempts(Policy policy, AccountStore* store, const Runtime& runtime)
    : policy_(std::move(policy)), engine_(std::make_unique<Engine>(&policy_, store, runtime)) {}

Attempts::~Attempts() = default;

Result<Decision> Attempts::Reserve(const ReserveRequest& request) {
  TRY(CheckAttemptId(request.attempt_id));
  return engine_->CountVerdict(engine_->Change(
      request.subject, [&](Account* account) { return ReserveIn(request, account); }));
}

Later<Decision> Attempts::Reserve(ReserveRequest request, WorkerPool* workers) {
  TRY(CheckAttemptId(request.attempt_id));
  const Subject subject = request.subject;
  return engine_
      ->Change<Decision>(
          subject,
          [this, request = std::move(request)](Account* account) {
            return ReserveIn(request, account);
          },
          workers)
      .Then(
          [this](Result<Decision> decision) { return engine_->CountVerdict(std::move(decision)); });
}

Result<Decision> Attempts::ReserveIn(const ReserveRequest& request, Account* account) const {
  const Action action = TRY(engine_->ActionOf(*account, request));
  return attempts::Reserve(policy_, action, request.attempt_id, account);
}

namespace {

Status CheckSettle(const SettleRequest& request) {
  TRY(CheckAttemptId(request.attempt_id));
  if (request.lock_length.count() != 0) TRY(CheckLength("lock", request.lock_length));
  return Done{};
}

}  // namespace

Result<SettleReply> Attempts::Settle(const SettleRequest& request) {
  TRY(CheckSettle(request));
  return engine_->Change(request.subject,
                         [&](Account* account) { return SettleIn(request, account); });
}

Later<SettleReply> Attempts::Settle(SettleRequest request, WorkerPool* workers) {
  TRY(CheckSettle(request));
  const Subject subject = request.subject;
  return engine_->Change<SettleReply>(
      subject,
      [this, request = std::move(request)](Account* account) { return SettleIn(request, account); },
      workers);
}

Result<SettleReply> Attempts::SettleIn(const SettleRequest& request, Account* account) const {
  const Action action = TRY(engine_->ActionOf(*account, {.subject = request.subject,
                                                         .name = request.name,
                                                         .attempt_id = request.attempt_id,
                                                         .device = request.device,
                                                         .method_type = request.method_type}));
  const Settlement settled = attempts::Settle(
      policy_, action,
      {.id = request.attempt_id, .right = request.right, .lock_length = request.lock_length},
      account);
  if (settled.settled && settled.right && !request.device.empty()) {
    account->RememberDevice(engine_->LaneOf(request.subject, request.device),
                            action.name.classifier, account->now() + kDeviceLife.count());
  }
  return SettleReply{.known = settled.known, .right = settled.right, .decision = settled.decision};
}

Result<Decision> Attempts::Spend(const ReserveRequest& request) {
  TRY(CheckAttemptId(request.attempt_id));
  return engine_->CountVerdict(
      engine_->Change(request.subject, [&](Account* account) -> Result<Decision> {
        const Action action = TRY(engine_->ActionOf(*account, request));
        return attempts::Spend(policy_, action, request.attempt_id, account);
      }));
}

Result<Decision> Attempts::Decide(const ReserveRequest& request) {
  return DecideFor(TRY(engine_->Load(request.subject)), request);
}

Later<Decision> Attempts::SubmitDecide(ReserveRequest request) {
  Later<Account> loaded = engine_->SubmitLoad(request.subject);
  return std::move(loaded).Then(
      [this, request = std::move(request)](Result<Account> account) -> Result<Decision> {
        return DecideFor(TRY(std::move(account)), request);
      });
}

Result<Decision> Attempts::DecideFor(Account account, const ReserveRequest& request) const {
  const Action action = TRY(engine_->ActionOf(account, request));
  BookAbandoned(policy_, &account);
  return Judge(account, policy_, action);
}

Result<Decision> Attempts::DecideJourney(const std::vector<Subject>& subjects,
                                         const std::string& journey) {
  if (subjects.empty())
    return Invalid("the request has no subject: give a subject or a pairwise id");
  const std::string resolved = TRY(policy_.ResolveJourney(journey));
  std::vector<Account> accounts;
  for (const Subject& subject : std::set<Subject>(subjects.begin(), subjects.end())) {
    accounts.push_back(TRY(engine_->Load(subject)));
    BookAbandoned(policy_, &accounts.back());
  }
  return JudgeJourney(accounts, policy_, resolved);
}

Status Attempts::ClearJourney(const std::vector<Subject>& subjects, const std::string& journey) {
  const std::string resolved = TRY(policy_.ResolveJourney(journey));
  for (const Subject& subject : std::set<Subject>(subjects.begin(), subjects.end())) {
    TRY(engine_->FinishJourney(subject, resolved));
  }
  return Done{};
}

Result<uint64_t> Attempts::Increment(const IncrementRequest& request) {
  if (request.life) TRY(CheckLength("life of a count", *request.life));
  const std::string id = request.attempt_id.empty() ? engine_->NewId() : request.attempt_id;
  TRY(CheckAttemptId(id));
  const Name name =
      TRY(engine_->NameOf(request.name, request.notification_type, request.method_type));
  const Rule* rule = policy_.FindRule(name, request.method_type);
  const attempts::Increment increment{
      .id = id,
      .life = request.life.value_or(rule ? rule->life : kDefaultLife),
      .window = rule ? rule->window : Window::kFixed};
  const Action action{.name = name,
                      .rule = rule,
                      .notification_type = request.notification_type,
                      .method_type = request.method_type};
  return engine_->Change(request.subject, [&](Account* account) -> Result<uint64_t> {
    return CountOne(action, increment, account);
  });
}

Result<uint64_t> Attempts::Get(const Subject& subject, const Name& name) {
  const Name resolved = TRY(policy_.Resolve(name));
  const Account account = TRY(engine_->Load(subject));
  const CountRow* row = account.FindCount(resolved);
  return row ? row->count : 0;
}

Result<uint64_t> Attempts::Sum(const Subject& subject, const Name& name) {
  const Name resolved = TRY(policy_.Resolve(name));
  const Account account = TRY(engine_->Load(subject));
  uint64_t sum = 0;
  for (const CountRow* row : account.MethodsOf(resolved)) sum += row->count;
  return sum;
}

Result<std::vector<Count>> Attempts::GetAll(const Subject& subject) {
  const Account account = TRY(engine_->Load(subject));
  std::vector<Count> counts;
  for (const CountRow* row : account.Counts()) {
    if (row->count == 0) continue;
    if (!policy_.Resolve(row->name)) {
      engine_->Warn("the policy does not know the name of a count; it is left out",
                    SortKeyOf(row->name).value());
      continue;
    }
    counts.push_back(CountOf(account, *row));
  }
  return counts;
}

Status Attempts::Reset(const Subject& subject, const Name& name) {
  const Name resolved = TRY(policy_.Resolve(name));
  return engine_->Change(subject, [&](Account* account) -> Status {
    ClearCount(resolved, account);
    return Done{};
  });
}

Status Attempts::ResetAll(const Subject& subject) { return engine_->ClearCounts(subject); }

Result<Lock> Attempts::SetLock(const Subject& subject, const Lock& lock,
                               std::chrono::seconds length) {
  if (lock.kind != LockKind::kPermanent) TRY(CheckLength("lock", length));
  TRY(CheckReason(lock.reason));
  Lock wanted = lock;
  wanted.name = TRY(policy_.ResolveLock(lock.name));
  TRY(policy_.CheckEnforced(wanted.name));
  return engine_->Change(subject, [&](Account* account) -> Result<Lock> {
    if (!wanted.name.lane.empty() && !account->HasLane(wanted.name.lane)) {
      return Invalid(fmt::format("the subject has no known device \"{}\"", wanted.name.lane));
    }
    const Lock* known = account->FindLock(wanted.name);
    // An existing lock keeps its end. Only a permanent lock replaces a lock that ends.
    const bool is_more = known != nullptr && known->until && wanted.kind == LockKind::kPermanent;
    if (known != nullptr && !is_more) return *known;
    Lock set = wanted;
    set.until = std::nullopt;
    if (set.kind != LockKind::kPermanent) set.until = account->now() + length.count();
    account->Set(LockRow{.lock = set, .length = set.until ? length.count() : 0});
    account->Audit({.what = "lock set", .name = SortKeyOf(set.name).value(), .reason = set.reason});
    return set;
  });
}

Status Attempts::Unlock(const Subject& subject, const Name& name) {
  const Name resolved = TRY(policy_.ResolveLock(name));
  return engine_->Change(subject, [&](Account* account) -> Status {
    attempts::Unlock(policy_, resolved, account);
    return Done{};
  });
}

Result<std::vector<Lock>> Attempts::Locks(const Subject& subject) {
  const Account account = TRY(engine_->Load(subject));
  std::vector<Lock> locks = account.Locks();
  const std::vector<Lock> holds = HoldsOf(account, policy_);
  locks.insert(locks.end(), holds.begin(), holds.end());
  return locks;
}

Status Attempts::SetState(const Subject& subject, AccountState state, const std::string& reason) {
  TRY(CheckReason(reason));
  return engine_->Change(subject, [&](Account* account) -> Status {
    if (account->HasState(state)) return Done{};
    account->Set(StateRow{
        .sort_key = StateKey(state), .value = std::string(ToString(state)), .reason = reason});
    account->Audit({.what = "state set", .name = StateKey(state), .reason = reason});
    return Done{};
  });
}

Status Attempts::ClearState(const Subject& subject, AccountState state) {
  return engine_->Change(subject, [&](Account* account) -> Status {
    if (!account->HasState(state)) return Done{};
    account->RemoveState(StateKey(state));
    account->Audit({.what = "state cleared", .name = StateKey(state)});
    return Done{};
  });
}

Result<std::vector<AccountState>> Attempts::States(const Subject& subject) {
  const Account account = TRY(engine_->Load(subject));
  std::vector<AccountState> states;
  for (const AccountState state : kAccountStates) {
    if (account.HasState(state)) states.push_back(state);
  }
  return states;
}

Status Attempts::SetEmailFraud(const Subject& email, EmailFraud state,
                               std::optional<std::chrono::seconds> life) {
  if (life) TRY(CheckLength("life of a state", *life));
  return engine_->Change(email, [&](Account* account) -> Status {
    for (const std::string_view key : {kFraudBlocked, kFraudAllowed}) {
      account->RemoveState(std::string(key));
    }
    const auto set = [&](std::string_view key, const char* value,
                         std::optional<std::chrono::seconds> length) {
      StateRow row{.sort_key = std::string(key), .value = value};
      if (length) row.until = account->now() + length->count();
      account->Set(std::move(row));
      account->Audit({.what = "state set", .name = std::string(key)});
    };
    if (state == EmailFraud::kDeny) set(kFraudBlocked, "FRAUD_BLOCKED", life);
    if (state == EmailFraud::kAllow) set(kFraudAllowed, "FRAUD_ALLOWED", life);
    // A person has checked this address. When the block ends, the address must be allowed, not
    // pending like an address that was never checked. So both rows are written now, and no answer
    // depends on the sweeper.
    if (state == EmailFraud::kDeny && life) set(kFraudAllowed, "FRAUD_ALLOWED", std::nullopt);
    return Done{};
  });
}

Result<EmailFraud> Attempts::GetEmailFraud(const Subject& email) {
  const Account account = TRY(engine_->Load(email));
  if (account.FindState(std::string(kFraudBlocked)) != nullptr) return EmailFraud::kDeny;
  if (account.FindState(std::string(kFraudAllowed)) != nullptr) return EmailFraud::kAllow;
  return EmailFraud::kPending;
}

Result<std::set<std::string>> Attempts::AtCeiling(const Subject& subject) {
  return TRY(engine_->Load(subject)).ClassifiersAt(policy_.ceiling());
}

Status Attempts::LiftCeiling(const Subject& subject) {
  return engine_->Change(subject, [&](Account* account) -> Status {
    if (account->ForgetFailures()) {
      account->Audit({.what = "ceiling lifted", .name = "failures in a row"});
    }
    return Done{};
  });
}

}  // namespace tidemark::attempts
