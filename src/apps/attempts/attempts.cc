#include "apps/attempts/attempts.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/attempts/account.h"
#include "apps/attempts/engine.h"
#include "apps/attempts/lifting.h"
#include "apps/attempts/rules.h"
#include "base/hashing.h"

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

// ---- Reserve and settle ----

struct Attempts::Person {
  std::vector<Account> accounts;
  std::vector<Identity> identities;  // Of these accounts.
};

Result<Attempts::Person> Attempts::LoadOthers(const std::vector<Subject>& also,
                                              const Subject& subject, const Action& action,
                                              const std::string& device) const {
  std::set<Subject> others(also.begin(), also.end());
  others.erase(subject);
  Person person;
  person.accounts.reserve(others.size());
  for (const Subject& other : others) {
    person.accounts.push_back(TRY(engine_->Load(other)));
    Account& account = person.accounts.back();
    BookAbandoned(policy_, &account);
    // A device with a lane keeps to its lane under every id: a stranger who fails under another one
    // must not lock it out.
    const std::string lane = action.name.lane.empty()
                                 ? engine_->KnownLaneOf(account, action.name.classifier, device)
                                 : engine_->LaneOf(other, device);
    person.identities.push_back({.account = &account, .lane = lane});
  }
  return person;
}

Result<Decision> Attempts::ReserveIn(const ReserveRequest& request, Account* account) const {
  Action action = TRY(engine_->ActionOf(*account, request));
  const Person person = TRY(LoadOthers(request.also, request.subject, action, request.device));
  action.elsewhere = person.identities;
  if (request.source) action.source = request.source->text();
  Decision decision = attempts::Reserve(policy_, action, request.attempt_id, account);
  // Two reservations under two identifiers at once would both find the last slot free.
  for (const Account& other : person.accounts) account->Require(other);
  return decision;
}

Later<Decision> Attempts::ReserveSlot(ReserveRequest request, WorkerPool* workers) {
  const Subject subject = request.subject;
  Author by = request.by;
  return engine_->Change<Decision>(
      subject,
      [this, request = std::move(request)](Account* account) {
        return ReserveIn(request, account);
      },
      workers, std::move(by));
}

namespace {

// True when the caller verifies nothing. After kUnknown the slot may be stored, and the caller may
// ask again and get it: then the slot at the source must still be there.
bool HasNoSlot(const Result<Decision>& decision) {
  if (decision) return decision->verdict != Verdict::kPermitted;
  const ErrorCode code = decision.error().code;
  return code == ErrorCode::kInvalid || code == ErrorCode::kUnavailable;
}

}  // namespace

bool Attempts::BeginsWithoutBlocking() const { return engine_->BeginsWithoutBlocking(); }

Later<Decision> Attempts::Reserve(ReserveRequest request, WorkerPool* workers) {
  TRY(CheckAttemptId(request.attempt_id));
  if (request.also.empty()) return BeginReserve(std::move(request), workers);
  // The decision reads the other accounts, and blocks meanwhile.
  return workers->Run(
      [this, request = std::move(request), workers] { return BeginReserve(request, workers); });
}

Later<Decision> Attempts::BeginReserve(ReserveRequest request, WorkerPool* workers) {
  const auto count = [this](Result<Decision> decision) {
    return engine_->CountVerdict(std::move(decision));
  };
  if (!request.source) return ReserveSlot(std::move(request), workers).Then(count);
  // A request that names no rule is refused before it takes a slot anywhere.
  TRY(engine_->ActionOf(request));
  // The source comes first. If it came second, a request that the source refuses would have taken a
  // slot of the subject for a moment, and a network of guessers could keep the owner waiting.
  //
  // What follows the first write reads and writes again, so it does not run on a thread of the
  // store.
  const auto after_subject = [this, workers](ReserveRequest own, Result<Decision> decision) {
    return workers->Run([this, own = std::move(own), decision = std::move(decision)] {
      return GiveBackAtSource(own, decision);
    });
  };
  const auto after_source = [this, workers, after_subject](ReserveRequest own,
                                                           Decision of_source) -> Later<Decision> {
    if (auto refused = TRY(JudgeBySource(std::move(of_source), &own))) return *std::move(refused);
    Later<Decision> reserved = ReserveSlot(own, workers);
    if (!own.source) return reserved;
    return std::move(reserved).Then(
        [own = std::move(own), after_subject](Result<Decision> decision) -> Later<Decision> {
          if (!HasNoSlot(decision)) return decision;
          return after_subject(own, std::move(decision));
        });
  };
  const Subject source = *request.source;
  Author by = request.by;
  return engine_
      ->Change<Decision>(
          source, [this, request](Account* account) { return ReserveAtSource(request, account); },
          workers, std::move(by))
      .Then([request = std::move(request), workers,
             after_source](Result<Decision> of_source) -> Later<Decision> {
        if (!of_source) return of_source.error();
        return workers->Run([=] { return after_source(request, *of_source); });
      })
      .Then(count);
}

namespace {

Status CheckSettle(const SettleRequest& request) {
  TRY(CheckAttemptId(request.attempt_id));
  if (request.lock_length) TRY(CheckLength("lock", *request.lock_length));
  return Done{};
}

// The name of an attempt in the account of its source. Ids of two subjects may be the same.
std::string IdAtSource(const Subject& subject, const std::string& attempt_id) {
  return ToHex(Sha256(subject.text() + "#" + attempt_id));
}

}  // namespace

struct Attempts::Ended {
  SettleReply reply = {};
  std::string source = {};  // Where the attempt has a slot too; empty: nowhere.
  // Other identifiers with failures that the success forgives, by the action as it is there.
  std::vector<std::pair<Subject, Action>> forgiven = {};
};

Later<SettleReply> Attempts::Settle(SettleRequest request, WorkerPool* workers) {
  TRY(CheckSettle(request));
  if (request.also.empty()) return BeginSettle(std::move(request), workers);
  return workers->Run(
      [this, request = std::move(request), workers] { return BeginSettle(request, workers); });
}

Later<SettleReply> Attempts::BeginSettle(SettleRequest request, WorkerPool* workers) {
  const Subject subject = request.subject;
  Author by = request.by;
  return engine_
      ->Change<Ended>(
          subject, [this, request](Account* account) { return SettleIn(request, account); },
          workers, std::move(by))
      .Then([this, request, workers](Result<Ended> ended) -> Later<SettleReply> {
        if (!ended) return ended.error();
        if (ended->source.empty() && ended->forgiven.empty()) return std::move(ended->reply);
        return workers->Run(
            [this, request, ended = *std::move(ended)] { return FinishElsewhere(request, ended); });
      });
}

Result<Attempts::Ended> Attempts::SettleIn(const SettleRequest& request, Account* account) const {
  Action action = TRY(engine_->ActionOf(*account, {.subject = request.subject,
                                                   .name = request.name,
                                                   .attempt_id = request.attempt_id,
                                                   .device = request.device,
                                                   .method_type = request.method_type}));
  const Person person = TRY(LoadOthers(request.also, request.subject, action, request.device));
  action.elsewhere = person.identities;
  const Settlement settled =
      attempts::Settle(policy_, action,
                       {.id = request.attempt_id,
                        .right = request.right,
                        .lock_length = request.lock_length.value_or(std::chrono::seconds(0))},
                       account);
  // Two failures under two identifiers at once would each see the other's count from before, and
  // none of them would set the lock.
  for (const Account& other : person.accounts) account->Require(other);
  if (settled.settled && settled.right && !request.device.empty()) {
    account->RememberDevice(engine_->LaneOf(request.subject, request.device),
                            action.name.classifier, account->now() + kDeviceLife.count());
  }
  Ended ended{
      .reply = {.known = settled.known, .right = settled.right, .decision = settled.decision},
      .source = settled.source};
  if (!settled.right) return ended;
  for (const Identity& other : person.identities) {
    Action there{.name = action.name, .rule = action.rule};
    there.name.lane = other.lane;
    Account after = *other.account;
    ForgiveElsewhere(there, &after);
    if (after.IsChanged()) ended.forgiven.emplace_back(after.subject(), std::move(there));
  }
  return ended;
}

Result<SettleReply> Attempts::FinishElsewhere(const SettleRequest& request, const Ended& ended) {
  for (const auto& other : ended.forgiven) {
    const auto forgive = [&](Account* account) -> Status {
      ForgiveElsewhere(other.second, account);
      return Done{};
    };
    TRY(engine_->Change(other.first, forgive, request.by));
  }
  TRY(SettleAtSource(request, ended));
  return ended.reply;
}

// ---- Slots of a source ----

Result<Action> Attempts::ActionOfSource() const {
  if (auto action = SourceAction(policy_)) return *std::move(action);
  return Invalid(
      fmt::format("the policy has no rule for sources: add one for the journey {}, the count {} "
                  "and the classifier {}, or send no source",
                  kSourceJourney, kSourceCount, kGeneral));
}

Result<Decision> Attempts::ReserveAtSource(const ReserveRequest& request, Account* account) const {
  const Action action = TRY(ActionOfSource());
  return attempts::Reserve(policy_, action, IdAtSource(request.subject, request.attempt_id),
                           account);
}

Result<std::optional<Decision>> Attempts::JudgeBySource(Decision of_source,
                                                        ReserveRequest* request) const {
  if (of_source.verdict == Verdict::kPermitted) return std::optional<Decision>();
  // A stranger in the same network must not keep out somebody whose device is known.
  const Account account = TRY(engine_->Load(request->subject));
  if (!TRY(engine_->ActionOf(account, *request)).name.lane.empty()) {
    request->source = std::nullopt;
    return std::optional<Decision>();
  }
  // The account itself is not locked, so its owner is not told.
  of_source.just_reached = false;
  return std::optional(std::move(of_source));
}

Status Attempts::WithdrawAtSource(const ReserveRequest& request) {
  const Action action = TRY(ActionOfSource());
  return engine_->Change(*request.source, [&](Account* account) -> Status {
    Withdraw(action, IdAtSource(request.subject, request.attempt_id), account);
    return Done{};
  });
}

// A slot that cannot be given back is an error also for a refusal, because the caller may repeat
// the call. If nobody does, it counts as a failure of the source after the deadline.
Result<Decision> Attempts::GiveBackAtSource(const ReserveRequest& request,
                                            Result<Decision> decision) {
  const Status withdrawn = WithdrawAtSource(request);
  if (decision && !withdrawn) return withdrawn.error();
  return decision;
}

Status Attempts::SettleAtSource(const SettleRequest& request, const Ended& ended) {
  if (ended.source.empty()) return Done{};
  // The policy may have lost its rule since the reservation.
  const auto action = SourceAction(policy_);
  if (!action) return Done{};
  return engine_->Change(
      TRY(Subject::Parse(ended.source)),
      [&](Account* account) -> Status {
        attempts::Settle(
            policy_, *action,
            {.id = IdAtSource(request.subject, request.attempt_id), .right = ended.reply.right},
            account);
        return Done{};
      },
      request.by);
}

Result<Decision> Attempts::Spend(const ReserveRequest& request) {
  TRY(CheckAttemptId(request.attempt_id));
  return engine_->CountVerdict(engine_->Change(
      request.subject,
      [&](Account* account) -> Result<Decision> {
        const Action action = TRY(engine_->ActionOf(*account, request));
        return attempts::Spend(policy_, action, request.attempt_id, account);
      },
      request.by));
}

Result<Decision> Attempts::Decide(const ReserveRequest& request) {
  ReserveRequest own = request;
  if (own.source) {
    const Action action = TRY(ActionOfSource());
    Account source = TRY(engine_->Load(*own.source));
    BookAbandoned(policy_, &source);
    if (auto refused = TRY(JudgeBySource(Judge(source, policy_, action), &own))) return *refused;
  }
  return DecideFor(TRY(engine_->Load(own.subject)), own);
}

// For requests without `also` and source: what is chained to the load runs on a thread of the
// store, which must not wait for another load.
Later<Decision> Attempts::SubmitDecide(ReserveRequest request) {
  Later<Account> loaded = engine_->SubmitLoad(request.subject);
  return std::move(loaded).Then(
      [this, request = std::move(request)](Result<Account> account) -> Result<Decision> {
        return DecideFor(TRY(std::move(account)), request);
      });
}

Result<Decision> Attempts::DecideFor(Account account, const ReserveRequest& request) const {
  Action action = TRY(engine_->ActionOf(account, request));
  const Person person = TRY(LoadOthers(request.also, request.subject, action, request.device));
  action.elsewhere = person.identities;
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

Status Attempts::ClearJourney(const std::vector<Subject>& subjects, const std::string& journey,
                              const Author& by) {
  const std::string resolved = TRY(policy_.ResolveJourney(journey));
  // One after the other: their counts do not fit into one transaction. A failure at one of them
  // leaves the rest as it was, which is the strict side, and the caller repeats the call.
  for (const Subject& subject : std::set<Subject>(subjects.begin(), subjects.end())) {
    TRY(engine_->FinishJourney(subject, resolved, by));
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
  return KnownCounts(TRY(engine_->Load(subject)));
}

std::vector<Count> Attempts::KnownCounts(const Account& account) const {
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

Status Attempts::Reset(const Subject& subject, const Name& name, const Author& by) {
  const Name resolved = TRY(policy_.Resolve(name));
  const auto clear = [&](Account* account) -> Status {
    ClearCount(resolved, account);
    return Done{};
  };
  return engine_->Change(subject, clear, by);
}

Status Attempts::ResetAll(const Subject& subject, const Author& by) {
  return engine_->ClearCounts(subject, by);
}

Result<Lock> Attempts::SetLock(const Subject& subject, const Lock& lock,
                               std::chrono::seconds length, const Author& by) {
  if (lock.kind != LockKind::kPermanent) TRY(CheckLength("lock", length));
  TRY(CheckReason(lock.reason));
  Lock wanted = lock;
  wanted.name = TRY(policy_.ResolveLock(lock.name));
  wanted.reason = WithoutAddresses(lock.reason);
  TRY(policy_.CheckEnforced(wanted.name));
  const auto set = [&](Account* account) -> Result<Lock> {
    if (!wanted.name.lane.empty() && !account->HasLane(wanted.name.lane)) {
      return Invalid(fmt::format("the subject has no known device \"{}\"", wanted.name.lane));
    }
    const Lock* known = account->FindLock(wanted.name);
    // An existing lock keeps its end. Only a permanent lock replaces a lock that ends.
    const bool is_more = known != nullptr && known->until && wanted.kind == LockKind::kPermanent;
    if (known != nullptr && !is_more) return *known;
    Lock made = wanted;
    made.until = std::nullopt;
    if (made.kind != LockKind::kPermanent) made.until = account->lock_start() + length.count();
    account->Set(
        LockRow{.lock = made, .set_by = SetBy::kPerson, .length = made.until ? length.count() : 0});
    account->Audit(
        {.what = "lock set", .name = SortKeyOf(made.name).value(), .reason = made.reason});
    return *account->FindLock(made.name);
  };
  return engine_->Change(subject, set, by);
}

Status Attempts::Unlock(const Subject& subject, const Name& name, const Author& by) {
  const Name resolved = TRY(policy_.ResolveLock(name));
  const auto unlock = [&](Account* account) -> Status {
    attempts::Unlock(policy_, resolved, account);
    return Done{};
  };
  return engine_->Change(subject, unlock, by);
}

Result<Attempts::Lifted> Attempts::LiftSetByRules(const Subject& subject, const Lifting& lifting,
                                                  const Author& by) {
  Lifted lifted;
  if (subject.IsSource() && !lifting.sources) return lifted;
  const Standing standing = TRY(GetStanding(subject));
  for (const Lock& seen : standing.locks) {
    // Judged again as of the write: somebody may have locked the subject since.
    const auto lift = [&](Account* account) -> Result<std::optional<Lock>> {
      return UnlockIfSetByRule(policy_, seen.name, lifting.matches, account);
    };
    if (auto lock = TRY(engine_->Change(subject, lift, by))) lifted.locks.push_back(*lock);
  }
  if (lifting.ceiling && !standing.at_ceiling.empty()) {
    TRY(LiftCeiling(subject, by));
    lifted.ceilings = standing.at_ceiling;
  }
  return lifted;
}

namespace {

std::vector<Lock> LocksOf(const Account& account, const Policy& policy) {
  std::vector<Lock> locks = account.Locks();
  const std::vector<Lock> holds = HoldsOf(account, policy);
  locks.insert(locks.end(), holds.begin(), holds.end());
  return locks;
}

}  // namespace

Result<std::vector<Lock>> Attempts::Locks(const Subject& subject) {
  return LocksOf(TRY(engine_->Load(subject)), policy_);
}

Status Attempts::SetState(const Subject& subject, AccountState state, const std::string& reason,
                          const Author& by) {
  TRY(CheckReason(reason));
  const auto set = [&](Account* account) -> Status {
    if (account->HasState(state)) return Done{};
    account->Set(StateRow{.sort_key = StateKey(state),
                          .value = std::string(ToString(state)),
                          .reason = WithoutAddresses(reason)});
    account->Audit({.what = "state set", .name = StateKey(state), .reason = reason});
    return Done{};
  };
  return engine_->Change(subject, set, by);
}

Status Attempts::ClearState(const Subject& subject, AccountState state, const Author& by) {
  const auto clear = [&](Account* account) -> Status {
    if (!account->HasState(state)) return Done{};
    account->RemoveState(StateKey(state));
    account->Audit({.what = "state cleared", .name = StateKey(state)});
    return Done{};
  };
  return engine_->Change(subject, clear, by);
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
                               std::optional<std::chrono::seconds> life, const Author& by) {
  if (life) TRY(CheckLength("life of a state", *life));
  const auto change = [&](Account* account) -> Status {
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
  };
  return engine_->Change(email, change, by);
}

namespace {

EmailFraud FraudOf(const Account& account) {
  if (account.FindState(std::string(kFraudBlocked)) != nullptr) return EmailFraud::kDeny;
  if (account.FindState(std::string(kFraudAllowed)) != nullptr) return EmailFraud::kAllow;
  return EmailFraud::kPending;
}

}  // namespace

Result<EmailFraud> Attempts::GetEmailFraud(const Subject& email) {
  return FraudOf(TRY(engine_->Load(email)));
}

Status Attempts::LiftCeiling(const Subject& subject, const Author& by) {
  const auto lift = [&](Account* account) -> Status {
    if (account->ForgetFailures()) {
      account->Audit({.what = "ceiling lifted", .name = "failures in a row"});
    }
    return Done{};
  };
  return engine_->Change(subject, lift, by);
}

Status Attempts::TakeOver(const Subject& from, const Subject& to, const Author& by) {
  return engine_->TakeOver(from, to, by);
}

Result<Standing> Attempts::GetStanding(const Subject& subject) {
  const Account account = TRY(engine_->Load(subject));
  Standing standing{.counts = KnownCounts(account),
                    .locks = LocksOf(account, policy_),
                    .at_ceiling = account.ClassifiersAt(policy_.ceiling()),
                    .email_fraud = FraudOf(account)};
  for (const AccountState state : kAccountStates) {
    const StateRow* row = account.FindState(StateKey(state));
    if (row == nullptr) continue;
    standing.states.push_back({.state = state, .reason = row->reason, .since = row->last_updated});
  }
  const auto add_failures = [&](const FailuresInARow& failures, const std::string& lane) {
    for (const auto& [classifier, count] : failures) {
      standing.failures.push_back({.classifier = classifier, .lane = lane, .failures = count});
    }
  };
  add_failures(account.failures_in_a_row(), "");
  for (const DeviceRow* device : account.Devices()) {
    standing.devices.push_back(
        {.lane = device->lane, .succeeded_at = device->succeeded_at, .until = device->until});
    add_failures(device->failures_in_a_row, device->lane);
  }
  return standing;
}

}  // namespace tidemark::attempts
