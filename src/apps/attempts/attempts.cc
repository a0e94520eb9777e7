#include "apps/attempts/attempts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/attempts/account.h"
#include "apps/attempts/rules.h"
#include "base/hashing.h"
#include "tables/ensure_table.h"

namespace tidemark::attempts {

namespace {

constexpr size_t kVersionBytes = 8;
constexpr size_t kIdBytes = 16;
constexpr size_t kMaxIdBytes = 128;
constexpr size_t kMaxReasonBytes = 256;
constexpr size_t kLaneDigits = 16;
// How often a decision is made anew because somebody else changed the account meanwhile. Each
// time somebody came through, so few are enough for as many as may come through at all.
constexpr int kMaxRounds = 256;
constexpr std::chrono::seconds kDefaultLife(900);
constexpr int64_t kMaxLifeSeconds = 366LL * 86'400;

Status CheckAttemptId(const std::string& id) {
  if (!id.empty() && id.size() <= kMaxIdBytes) return Done{};
  return Invalid(
      fmt::format("an attempt has an id of 1 to {} bytes, different for each try", kMaxIdBytes));
}

Status CheckLength(std::string_view what, std::chrono::seconds length) {
  if (length.count() >= 1 && length.count() <= kMaxLifeSeconds) return Done{};
  return Invalid(fmt::format("the {} should be between 1 and {} seconds, not {}", what,
                             kMaxLifeSeconds, length.count()));
}

Status CheckReason(const std::string& reason) {
  if (reason.size() <= kMaxReasonBytes) return Done{};
  return Invalid(fmt::format("a reason has at most {} bytes", kMaxReasonBytes));
}

Count CountOf(const Account& account, const CountRow& row) {
  return {.name = row.name,
          .count = row.count,
          .under_way = UnderWay(account, row.name),
          .until = row.until};
}

}  // namespace

class Attempts::Engine {
 public:
  Engine(AttemptsOptions options, const Policy* policy, tables::Tables* tables, const Clock* clock,
         Random* random, const Logger* logger, Metrics* metrics);

  Status CreateTable();
  Result<Account> Load(const Subject& subject);
  // Decides on the account and writes what the decision changed; anew when somebody else wrote
  // meanwhile, and when the reply was lost: then the decision finds what was written.
  template <typename Rule>
  auto Change(const Subject& subject, const Rule& decide) -> decltype(decide(nullptr));

  // kInvalid when the name is not known or has no rule.
  Result<Action> ActionOf(const Account& account, const ReserveRequest& request) const;
  // kInvalid when the name is not known. Different types of methods are counted apart.
  Result<Name> NameOf(const Name& name, const std::string& notification_type,
                      const std::string& method_type) const;
  Status ClearAll(const Subject& subject, const std::string& journey);
  void Warn(std::string_view message, const std::string& sort_key) const;
  std::string LaneOf(const Subject& subject, const std::string& device) const;
  std::string NewId() { return random_.Hex(kIdBytes); }
  void CountDecision(const Decision& decision);

  const AttemptsOptions& options() const { return options_; }

 private:
  // False when somebody else wrote since the account was loaded.
  Result<bool> Write(const Account& account, const std::string& version);
  Result<bool> WriteHead(const tables::PutRequest& put);
  Result<bool> WriteTogether(std::vector<tables::TransactAction> actions);
  void Tell(const Account& account) const;

  const AttemptsOptions options_;
  const Policy& policy_;
  tables::Tables& tables_;
  const Clock& clock_;
  Random& random_;
  const Logger* const logger_;
  std::map<Verdict, Counter*> decisions_;
  Counter* locks_ = nullptr;  // May be null, like the next.
  Counter* conflicts_ = nullptr;
};

Attempts::Engine::Engine(AttemptsOptions options, const Policy* policy, tables::Tables* tables,
                         const Clock* clock, Random* random, const Logger* logger, Metrics* metrics)
    : options_(std::move(options)),
      policy_(*policy),
      tables_(*tables),
      clock_(*clock),
      random_(*random),
      logger_(logger) {
  if (metrics == nullptr) return;
  for (const Verdict verdict : {Verdict::kPermitted, Verdict::kBusy, Verdict::kTemporarilyLocked,
                                Verdict::kIndefinitelyLocked, Verdict::kBlocked}) {
    decisions_[verdict] =
        &metrics->AddCounter({.name = "tidemark_attempts_decisions_total",
                              .help = "Decisions about attempts, by verdict.",
                              .labels = {{"verdict", std::string(ToString(verdict))}}});
  }
  locks_ = &metrics->AddCounter(
      {.name = "tidemark_attempts_locks_total", .help = "Locks that reaching a limit set."});
  conflicts_ =
      &metrics->AddCounter({.name = "tidemark_attempts_conflicts_total",
                            .help = "Decisions made anew because the account changed meanwhile."});
}

Status Attempts::Engine::CreateTable() {
  return tables::EnsureTable(
      tables_,
      {.table = options_.table,
       .keys = {.partition = {.name = std::string(kPartitionAttribute)},
                .sort = item::KeyAttribute{.name = std::string(kSortAttribute)}}},
      "ttl");
}

Result<Account> Attempts::Engine::Load(const Subject& subject) {
  tables::QueryRequest query{.table = options_.table,
                             .key_condition = "subject_id = :subject",
                             .values = {{":subject", subject.text()}},
                             .consistent = true};
  std::vector<item::Item> rows;
  for (;;) {
    tables::Page page = TRY(tables_.Query(query));
    std::move(page.items.begin(), page.items.end(), std::back_inserter(rows));
    if (!page.last) break;
    query.start_after = std::move(page.last);
  }
  std::vector<std::string> skipped;
  Account account = Account::Decode(subject, rows, clock_.NowSeconds(), &skipped);
  for (const std::string& sort_key : skipped) {
    Warn("a row of attempts cannot be read; it is passed over", sort_key);
  }
  return account;
}

void Attempts::Engine::Warn(std::string_view message, const std::string& sort_key) const {
  if (logger_ != nullptr) logger_->Log(LogLevel::kWarning, message, {{"sk", sort_key}});
}

Result<bool> Attempts::Engine::Write(const Account& account, const std::string& version) {
  auto actions = account.Writes(options_.table, version);
  const auto written = actions.size() == 1 ? WriteHead(std::get<tables::PutRequest>(actions[0]))
                                           : WriteTogether(std::move(actions));
  if (!written && written.error().code == ErrorCode::kConflict) return false;
  return written;
}

// The head alone, as in every Reserve, needs no transaction.
Result<bool> Attempts::Engine::WriteHead(const tables::PutRequest& put) {
  return TRY(tables_.Put(put)).applied;
}

Result<bool> Attempts::Engine::WriteTogether(std::vector<tables::TransactAction> actions) {
  const auto reply = TRY(tables_.TransactWrite({.actions = std::move(actions)}));
  for (const tables::CancellationReason& reason : reply.reasons) {
    if (reason.code == tables::CancellationCode::kValidationError) return Invalid(reason.message);
  }
  return reply.outcome == tables::TransactOutcome::kApplied;
}

template <typename Rule>
auto Attempts::Engine::Change(const Subject& subject, const Rule& decide)
    -> decltype(decide(nullptr)) {
  struct Lost {
    Account account;
    std::string version;
    bool told = false;
  };
  std::optional<Lost> lost;
  for (int round = 0; round < kMaxRounds; ++round) {
    Account account = TRY(Load(subject));
    auto reply = decide(&account);
    if (!reply) return reply;
    // What was written without a reply is told once it is seen to be there.
    if (lost && !lost->told && (account.version() == lost->version || !account.IsChanged())) {
      Tell(lost->account);
      lost->told = true;
    }
    if (!account.IsChanged()) return reply;
    std::string version = random_.Hex(kVersionBytes);
    const auto written = Write(account, version);
    if (written && *written) {
      Tell(account);
      return reply;
    }
    if (written) {
      if (conflicts_ != nullptr) conflicts_->Add();
      continue;
    }
    // A second loss is one too many: the caller asks again, under the same id.
    if (written.error().code != ErrorCode::kUnknown || lost) return written.error();
    lost = Lost{std::move(account), std::move(version)};
  }
  return Error{ErrorCode::kUnavailable,
               "too many change this account at once, so that nothing can be decided; try again"};
}

Status Attempts::Engine::ClearAll(const Subject& subject, const std::string& journey) {
  for (;;) {
    const bool are_all = TRY(Change(subject, [&](Account* account) -> Result<bool> {
      return attempts::ClearJourney(journey, account);
    }));
    if (are_all) return Done{};
  }
}

// No secret and no address is in any of this.
void Attempts::Engine::Tell(const Account& account) const {
  for (const AuditEvent& event : account.audit()) {
    if (locks_ != nullptr && event.limit > 0) locks_->Add();
    if (logger_ == nullptr) continue;
    logger_->Log(LogLevel::kInfo, "attempts audit",
                 {{"event", event.what},
                  {"subject", account.subject().ForLog()},
                  {"name", event.name},
                  {"reason", event.reason},
                  {"count", event.count},
                  {"limit", event.limit}});
  }
}

std::string Attempts::Engine::LaneOf(const Subject& subject, const std::string& device) const {
  return ToHex(Sha256(subject.text() + "#" + device)).substr(0, kLaneDigits);
}

Result<Name> Attempts::Engine::NameOf(const Name& name, const std::string& notification_type,
                                      const std::string& method_type) const {
  Name resolved = TRY(policy_.Resolve(name));
  if (resolved.method.empty()) resolved.method = method_type;
  if (!notification_type.empty()) TRY(CheckPart("notification type", notification_type));
  if (!method_type.empty()) TRY(CheckPart("method type", method_type));
  return resolved;
}

Result<Action> Attempts::Engine::ActionOf(const Account& account,
                                          const ReserveRequest& request) const {
  Action action{.name = TRY(NameOf(request.name, request.notification_type, request.method_type)),
                .notification_type = request.notification_type,
                .method_type = request.method_type};
  action.rule = policy_.FindRule(action.name, request.method_type);
  if (action.rule == nullptr) {
    return Invalid(fmt::format("the policy has no rule for {}#{} in the journey {}",
                               action.name.count, action.name.classifier, action.name.journey));
  }
  // Whose lane it is, is for the account to say.
  action.name.lane.clear();
  if (!request.device.empty()) {
    const std::string lane = LaneOf(request.subject, request.device);
    if (account.KnowsDevice(lane)) action.name.lane = lane;
  }
  return action;
}

void Attempts::Engine::CountDecision(const Decision& decision) {
  if (const auto counter = decisions_.find(decision.verdict); counter != decisions_.end()) {
    counter->second->Add();
  }
}

// ---- The outside ----

Attempts::Attempts(AttemptsOptions options, Policy policy, tables::Tables* tables,
                   const Clock* clock, Random* random, const Logger* logger, Metrics* metrics)
    : policy_(std::move(policy)),
      engine_(std::make_unique<Engine>(std::move(options), &policy_, tables, clock, random, logger,
                                       metrics)) {}

Attempts::~Attempts() = default;

Status Attempts::CreateTable() { return engine_->CreateTable(); }

Result<Decision> Attempts::Reserve(const ReserveRequest& request) {
  TRY(CheckAttemptId(request.attempt_id));
  auto decision = engine_->Change(request.subject, [&](Account* account) -> Result<Decision> {
    const Action action = TRY(engine_->ActionOf(*account, request));
    return attempts::Reserve(policy_, action, request.attempt_id, account);
  });
  if (decision) engine_->CountDecision(*decision);
  return decision;
}

Result<SettleReply> Attempts::Settle(const SettleRequest& request) {
  TRY(CheckAttemptId(request.attempt_id));
  if (request.lock_length.count() != 0) TRY(CheckLength("lock", request.lock_length));
  return engine_->Change(request.subject, [&](Account* account) -> Result<SettleReply> {
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
                              account->now() + engine_->options().device_life.count());
    }
    return SettleReply{
        .known = settled.known, .right = settled.right, .decision = settled.decision};
  });
}

Result<Decision> Attempts::Spend(const ReserveRequest& request) {
  TRY(CheckAttemptId(request.attempt_id));
  auto decision = engine_->Change(request.subject, [&](Account* account) -> Result<Decision> {
    const Action action = TRY(engine_->ActionOf(*account, request));
    return attempts::Spend(policy_, action, request.attempt_id, account);
  });
  if (decision) engine_->CountDecision(*decision);
  return decision;
}

Result<Decision> Attempts::Decide(const ReserveRequest& request) {
  Account account = TRY(engine_->Load(request.subject));
  const Action action = TRY(engine_->ActionOf(account, request));
  BookAbandoned(policy_, &account);
  return Judge(account, policy_, action);
}

Result<Decision> Attempts::DecideJourney(const std::vector<Subject>& subjects,
                                         const std::string& journey) {
  if (subjects.empty()) return Invalid("a decision needs somebody: give a subject or pairwise id");
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
    TRY(engine_->ClearAll(subject, resolved));
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
      engine_->Warn("a count is of no kind that the policy knows; it is passed over",
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

Status Attempts::ResetAll(const Subject& subject) { return engine_->ClearAll(subject, ""); }

Result<Lock> Attempts::SetLock(const Subject& subject, const Lock& lock,
                               std::chrono::seconds length) {
  if (lock.kind != LockKind::kPermanent) TRY(CheckLength("lock", length));
  TRY(CheckReason(lock.reason));
  Lock wanted = lock;
  wanted.name = TRY(policy_.ResolveLock(lock.name));
  return engine_->Change(subject, [&](Account* account) -> Result<Lock> {
    if (const Lock* known = account->FindLock(wanted.name)) return *known;
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
  return TRY(engine_->Load(subject)).Locks();
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
  for (const AccountState state : {AccountState::kBlocked, AccountState::kSuspended,
                                   AccountState::kResetPassword, AccountState::kReproveIdentity}) {
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
    // A block that ends leaves an address that was looked at: allowed, and not pending again.
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

Status Attempts::LiftCeiling(const Subject& subject) {
  return engine_->Change(subject, [&](Account* account) -> Status {
    if (account->ForgetFailures()) {
      account->Audit({.what = "ceiling lifted", .name = "failures in a row"});
    }
    return Done{};
  });
}

}  // namespace tidemark::attempts
