#include "apps/attempts/engine.h"

#include <iterator>

#include <fmt/format.h>

#include "base/hashing.h"
#include "tables/ensure_table.h"

namespace tidemark::attempts {

namespace {

constexpr size_t kVersionBytes = 8;
constexpr size_t kIdBytes = 16;
constexpr size_t kLaneDigits = 16;
// How often a decision is made anew because somebody else changed the account meanwhile. Each
// time somebody came through, so few are enough for as many as may come through at all.
constexpr int kMaxConflicts = 256;

// Whoever asks has done nothing wrong when the store refuses us: that is no refusal of theirs, and
// no mistake in what they asked.
Error CannotDecide(const Error& error) {
  const std::string message = "the store of attempts fails: " + error.message;
  switch (error.code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:
    case ErrorCode::kDenied:
      return {ErrorCode::kInternal, message};
    case ErrorCode::kInUse:
    case ErrorCode::kConflict:
      return {ErrorCode::kUnavailable, message};
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnknown:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      break;
  }
  return error;
}

}  // namespace

Engine::Engine(AttemptsOptions options, const Policy* policy, tables::Tables* tables,
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

Status Engine::CreateTable() {
  return tables::EnsureTable(
      tables_,
      {.table = options_.table,
       .keys = {.partition = {.name = std::string(kPartitionAttribute)},
                .sort = item::KeyAttribute{.name = std::string(kSortAttribute)}}},
      "ttl");
}

Result<Account> Engine::Load(const Subject& subject) {
  tables::QueryRequest query{.table = options_.table,
                             .key_condition = "subject_id = :subject",
                             .values = {{":subject", subject.text()}},
                             .consistent = true};
  std::vector<item::Item> rows;
  for (;;) {
    auto page = tables_.Query(query);
    if (!page) return CannotDecide(page.error());
    std::move(page->items.begin(), page->items.end(), std::back_inserter(rows));
    if (!page->last) break;
    query.start_after = std::move(page->last);
  }
  std::vector<std::string> skipped;
  Account account = Account::Decode(subject, rows, clock_.NowSeconds(), &skipped);
  for (const std::string& sort_key : skipped) {
    Warn("a row of attempts cannot be read; it is passed over", sort_key);
  }
  return account;
}

void Engine::Warn(std::string_view message, const std::string& sort_key) const {
  if (logger_ != nullptr) logger_->Log(LogLevel::kWarning, message, {{"sk", sort_key}});
}

namespace {

// The head alone, as in every Reserve, needs no transaction.
tables::PutRequest* HeadAlone(std::vector<tables::TransactAction>* actions) {
  return actions->size() == 1 ? std::get_if<tables::PutRequest>(actions->data()) : nullptr;
}

// False: somebody else wrote meanwhile.
Result<bool> AppliedBy(const Result<tables::WriteReply>& reply) {
  if (reply) return reply->applied;
  if (reply.error().code == ErrorCode::kConflict) return false;
  return CannotDecide(reply.error());
}

Result<bool> AppliedBy(const Result<tables::TransactWriteReply>& reply) {
  if (!reply && reply.error().code == ErrorCode::kConflict) return false;
  if (!reply) return CannotDecide(reply.error());
  for (const tables::CancellationReason& reason : reply->reasons) {
    if (reason.code == tables::CancellationCode::kValidationError) {
      return CannotDecide(Invalid(reason.message));
    }
  }
  return reply->outcome == tables::TransactOutcome::kApplied;
}

}  // namespace

Result<bool> Engine::Write(const Draft& draft) {
  auto actions = draft.account.Writes(options_.table, draft.version);
  if (const auto* put = HeadAlone(&actions)) return AppliedBy(tables_.Put(*put));
  return AppliedBy(tables_.TransactWrite({.actions = std::move(actions)}));
}

void Engine::Submit(const Draft& draft, std::function<void(Result<bool>)> done) {
  const auto hear = [done = std::move(done)](const auto& reply) { done(AppliedBy(reply)); };
  auto actions = draft.account.Writes(options_.table, draft.version);
  if (auto* put = HeadAlone(&actions)) {
    return tables_.Submit(tables::Tables::WriteRequest(std::move(*put)), hear);
  }
  tables_.Submit(tables::TransactWriteRequest{.actions = std::move(actions)}, hear);
}

std::optional<Engine::Draft> Engine::Drafted(Account account, Progress* progress) {
  // What was written without a reply is told once it is seen to be there.
  const auto& lost = progress->lost;
  if (lost && !progress->told && (account.version() == lost->version || !account.IsChanged())) {
    Tell(lost->account);
    progress->told = true;
  }
  if (!account.IsChanged()) return std::nullopt;
  TellAhead(account);
  return Draft{.account = std::move(account), .version = random_.Hex(kVersionBytes)};
}

std::optional<Status> Engine::Ended(Draft draft, const Result<bool>& written, Progress* progress) {
  if (written && *written) {
    Tell(draft.account);
    return Done{};
  }
  if (!written) {
    // A second loss is one too many: the caller asks again, under the same id.
    if (written.error().code != ErrorCode::kUnknown || progress->lost) return written.error();
    progress->lost = std::move(draft);
    return std::nullopt;
  }
  if (conflicts_ != nullptr) conflicts_->Add();
  if (++progress->conflicts < kMaxConflicts) return std::nullopt;
  return Error{ErrorCode::kUnavailable,
               "too many change this account at once, so that nothing can be decided; try again"};
}

Status Engine::ClearCounts(const Subject& subject) {
  const auto clear = [](Account* account) -> Result<bool> {
    return attempts::ClearCounts(account);
  };
  while (!TRY(Change(subject, clear))) {
  }
  return Done{};
}

Status Engine::FinishJourney(const Subject& subject, const std::string& journey) {
  const auto finish = [&](Account* account) -> Result<bool> {
    return attempts::FinishJourney(policy_, journey, account);
  };
  while (!TRY(Change(subject, finish))) {
  }
  return Done{};
}

void Engine::TellAhead(const Account& account) const {
  for (const AuditEvent& event : account.audit()) {
    if (!event.ahead.empty()) Log(account, event, event.ahead);
  }
}

void Engine::Tell(const Account& account) const {
  for (const AuditEvent& event : account.audit()) {
    if (locks_ != nullptr && event.limit > 0) locks_->Add();
    Log(account, event, event.what);
  }
}

// No secret and no address is in any of this.
void Engine::Log(const Account& account, const AuditEvent& event, const std::string& what) const {
  if (logger_ == nullptr) return;
  logger_->Log(LogLevel::kInfo, "attempts audit",
               {{"event", what},
                {"subject", account.subject().ForLog()},
                {"name", event.name},
                {"reason", event.reason},
                {"count", event.count},
                {"limit", event.limit}});
}

std::string Engine::LaneOf(const Subject& subject, const std::string& device) const {
  return ToHex(Sha256(subject.text() + "#" + device)).substr(0, kLaneDigits);
}

Result<Name> Engine::NameOf(const Name& name, const std::string& notification_type,
                            const std::string& method_type) const {
  Name resolved = TRY(policy_.Resolve(name));
  if (resolved.method.empty()) resolved.method = method_type;
  if (!notification_type.empty()) TRY(CheckPart("notification type", notification_type));
  if (!method_type.empty()) TRY(CheckPart("method type", method_type));
  return resolved;
}

Result<Action> Engine::ActionOf(const Account& account, const ReserveRequest& request) const {
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

std::string Engine::NewId() { return random_.Hex(kIdBytes); }

Result<Decision> Engine::Counted(Result<Decision> decision) {
  if (!decision) return decision;
  if (const auto counter = decisions_.find(decision->verdict); counter != decisions_.end()) {
    counter->second->Add();
  }
  return decision;
}

}  // namespace tidemark::attempts
