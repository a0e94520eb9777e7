#include "apps/attempts/engine.h"

#include <fmt/format.h>

#include "apps/attempts/lifting.h"
#include "base/hashing.h"
#include "item/attributes.h"

namespace tidemark::attempts {

namespace {

using item::TextIn;

constexpr size_t kVersionBytes = 8;
constexpr size_t kIdBytes = 16;
constexpr size_t kLaneDigits = 16;

// When the store refuses our request, the caller has made no mistake. An error of the store must
// not look like one of the caller's (400, 404), nor like a denial of the user (403).
Error CannotDecide(const Error& error) {
  const std::string message = "the store of attempts failed: " + error.message;
  switch (error.code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:
    case ErrorCode::kDenied:
      return {ErrorCode::kInternal, message};
    case ErrorCode::kInUse:
    case ErrorCode::kConflict:
      return {ErrorCode::kUnavailable, message};
    case ErrorCode::kUnavailable:
    case ErrorCode::kThrottled:
    case ErrorCode::kUnreachable:
    case ErrorCode::kCancelled:
    case ErrorCode::kUnknown:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      break;
  }
  return error;
}

}  // namespace

Engine::Engine(const Policy* policy, AccountStore* store, const Runtime& runtime)
    : policy_(*policy),
      store_(*store),
      runtime_(runtime),
      locks_(
          runtime.metrics.AddCounter({.name = "tidemark_attempts_locks_total",
                                      .help = "Locks that were set because a limit was reached."})),
      conflicts_(runtime.metrics.AddCounter(
          {.name = "tidemark_attempts_conflicts_total",
           .help = "Decisions made again because another request changed the account first."})),
      errors_(runtime.metrics.AddCounter(
          {.name = "tidemark_attempts_errors_total",
           .help = "Changes of accounts that failed, and not because the request was wrong."})),
      seconds_(runtime.metrics.AddHistogram(
          {.metric = {.name = "tidemark_attempts_change_seconds",
                      .help = "Time to change an account: to reserve, settle, count or clear."},
           .bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}})) {
  for (const Verdict verdict : {Verdict::kPermitted, Verdict::kBusy, Verdict::kTemporarilyLocked,
                                Verdict::kIndefinitelyLocked, Verdict::kBlocked}) {
    decisions_[verdict] =
        &runtime_.metrics.AddCounter({.name = "tidemark_attempts_decisions_total",
                                      .help = "Decisions about attempts, by verdict.",
                                      .labels = {{"verdict", std::string(ToString(verdict))}}});
  }
}

Result<Account> Engine::Load(const Subject& subject) {
  return DecodeAccount(subject, store_.Load(subject));
}

Later<Account> Engine::SubmitLoad(const Subject& subject) {
  return store_.SubmitLoad(subject).Then([this, subject](Result<std::vector<item::Item>> rows) {
    return DecodeAccount(subject, rows);
  });
}

Result<Account> Engine::DecodeAccount(const Subject& subject,
                                      const Result<std::vector<item::Item>>& rows) const {
  if (!rows) return CannotDecide(rows.error());
  std::vector<std::string> skipped;
  const std::chrono::milliseconds now = runtime_.clock.Now();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  Account account = Account::Decode(subject, *rows, seconds.count(), &skipped);
  account.SetFraction(now - seconds);
  for (const std::string& sort_key : skipped) {
    Warn("a row of attempts cannot be read; it is ignored", sort_key);
  }
  if (account.excessive_lead() > 0) {
    runtime_.logger.Log(
        LogLevel::kWarning,
        "a clock was far ahead when this subject was decided about; that time is "
        "ignored, and locks that were set then may end too late: 'tidemark attempts unlock' "
        "lifts them",
        {{"subject", subject.ForLog()}, {"seconds_ahead", account.excessive_lead()}});
  }
  return account;
}

void Engine::Warn(std::string_view message, const std::string& sort_key) const {
  runtime_.logger.Log(LogLevel::kWarning, message, {{"sk", sort_key}});
}

std::optional<Engine::Draft> Engine::DraftWrite(Account account, Progress* progress) {
  // A write without a reply was stored if the account has its version, or if deciding again has
  // changed nothing: then the rule found its own attempt. Only now is it known to have happened, so
  // only now is it audited.
  const auto& lost = progress->lost;
  const bool is_lost_one_stored =
      lost && (account.version() == TextIn(lost->change.head, "version") || !account.IsChanged());
  if (is_lost_one_stored && !progress->lost_is_audited) {
    AuditDone(lost->account, progress->by);
    progress->lost_is_audited = true;
  }
  if (!account.IsChanged()) return std::nullopt;
  // Before the write, also when the write may fail: a line too many says what was meant, while a
  // value that is cleared without a line is gone.
  AuditAhead(account, progress->by);
  AccountChange change = account.ChangeTo(runtime_.random.Hex(kVersionBytes));
  return Draft{.account = std::move(account), .change = std::move(change)};
}

Result<bool> Engine::FinishWrite(Draft draft, const Result<bool>& written, Progress* progress) {
  if (written && *written) {
    AuditDone(draft.account, progress->by);
    return true;
  }
  if (!written) {
    // After a lost reply the next round looks whether the write is stored. After a second one the
    // caller is told, and asks again under the same attempt id.
    if (written.error().code != ErrorCode::kUnknown || progress->lost) {
      return CannotDecide(written.error());
    }
    progress->lost = std::move(draft);
    return false;
  }
  conflicts_.Add();
  return false;
}

void Engine::Measure(std::chrono::nanoseconds began, const Error* error) {
  const std::chrono::duration<double> taken = runtime_.clock.Monotonic() - began;
  seconds_.Observe(taken.count());
  if (error != nullptr && error->code != ErrorCode::kInvalid) errors_.Add();
}

Error Engine::TooManyRounds() {
  return {ErrorCode::kUnavailable,
          "too many requests change this account at once, so nothing was decided; try again"};
}

Status Engine::ClearCounts(const Subject& subject, const Author& by) {
  const auto clear = [](Account* account) -> Result<bool> {
    return attempts::ClearCounts(account);
  };
  while (!TRY(Change(subject, clear, by))) {
  }
  return Done{};
}

Status Engine::FinishJourney(const Subject& subject, const std::string& journey, const Author& by) {
  const auto finish = [&](Account* account) -> Result<bool> {
    return attempts::FinishJourney(policy_, journey, account);
  };
  while (!TRY(Change(subject, finish, by))) {
  }
  return Done{};
}

// `from` is read before the change and is no part of its condition. What is written there meanwhile
// gives it another version, and is taken over by the next call.
Status Engine::TakeOver(const Subject& from, const Subject& to, const Author& by) {
  const Account known = TRY(Load(from));
  if (known.IsEmpty()) return Done{};
  const auto take_over = [&](Account* account) -> Status {
    if (account->TakeOver(known)) {
      account->Audit({.what = "taken over", .name = from.ForLog()});
    }
    return Done{};
  };
  return Change(to, take_over, by);
}

void Engine::AuditAhead(const Account& account, const Author& by) const {
  for (const AuditEvent& event : account.audit()) {
    if (!event.ahead.empty()) Log(account, event, event.ahead, by);
  }
}

void Engine::AuditDone(const Account& account, const Author& by) const {
  for (const AuditEvent& event : account.audit()) {
    if (event.limit > 0) locks_.Add();
    Log(account, event, event.what, by);
  }
}

// None of these fields can contain a secret or an address. The lines exist at every log level.
void Engine::Log(const Account& account, const AuditEvent& event, const std::string& what,
                 const Author& by) const {
  const std::string& reason = event.reason.empty() ? by.reason : event.reason;
  runtime_.logger.Log(LogLevel::kAudit, "attempts audit",
                      {{"event", what},
                       {"subject", account.subject().ForLog()},
                       {"name", event.name},
                       {"reason", WithoutAddresses(reason)},
                       {"count", event.count},
                       {"limit", event.limit},
                       {"actor", by.actor},
                       {"request_id", by.request_id}});
}

std::string Engine::LaneOf(const Subject& subject, const std::string& device) const {
  return ToHex(Sha256(subject.text() + "#" + device)).substr(0, kLaneDigits);
}

Result<Name> Engine::NameOf(const Name& name, const std::string& notification_type,
                            const std::string& method_type) const {
  Name resolved = TRY(policy_.Resolve(name));
  if (resolved.method.empty()) resolved.method = method_type;
  if (!notification_type.empty()) TRY(CheckPart("notification type", notification_type));
  TRY(policy_.CheckMethodType(method_type));
  return resolved;
}

Result<Action> Engine::ActionOf(const ReserveRequest& request) const {
  Action action{.name = TRY(NameOf(request.name, request.notification_type, request.method_type)),
                .notification_type = request.notification_type,
                .method_type = request.method_type};
  action.rule = policy_.FindRule(action.name, request.method_type);
  if (action.rule == nullptr) {
    return Invalid(fmt::format("the policy has no rule for {}#{} in the journey {}",
                               action.name.count, action.name.classifier, action.name.journey));
  }
  return action;
}

Result<Action> Engine::ActionOf(const Account& account, const ReserveRequest& request) const {
  Action action = TRY(ActionOf(request));
  action.name.lane = KnownLaneOf(account, action.name.classifier, request.device);
  return action;
}

// A device has a lane of its own only after a success. Otherwise somebody who invents a new device
// for each guess would never reach a limit.
std::string Engine::KnownLaneOf(const Account& account, const std::string& classifier,
                                const std::string& device) const {
  if (device.empty()) return "";
  const std::string lane = LaneOf(account.subject(), device);
  return account.KnowsDevice(lane, classifier) ? lane : "";
}

std::string Engine::NewId() { return runtime_.random.Hex(kIdBytes); }

Result<Decision> Engine::CountVerdict(Result<Decision> decision) {
  if (!decision) return decision;
  if (const auto counter = decisions_.find(decision->verdict); counter != decisions_.end()) {
    counter->second->Add();
  }
  return decision;
}

}  // namespace tidemark::attempts
