#include "apps/gate/gate.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "apps/gate/metrics.h"
#include "apps/gate/replay_memory.h"
#include "apps/gate/subject.h"
#include "base/hashing.h"

namespace tidemark::gate {

namespace {

// The signature covers the timestamp and the body, so the same signature is the same request. A
// retry of Slack has a new timestamp and is not taken for a replay. The id of a secret contains no
// line break, so two different pairs give different texts.
std::string ReplayKey(std::string_view secret_id, std::string_view signature) {
  return Sha256(fmt::format("{}\n{}", secret_id, signature));
}

// Empty when the body is not an event. Only for a body that Slack signed: nothing else is parsed.
std::string EventIdIn(std::string_view body) {
  const auto envelope = slack::ParseEnvelope(body);
  const auto* callback = envelope ? std::get_if<slack::EventCallback>(&*envelope) : nullptr;
  return callback == nullptr ? "" : callback->event_id;
}

}  // namespace

class Gate::State {
 public:
  State(GateOptions options, slack::SignatureVerifier verifier, Existence* existence,
        const Runtime& runtime)
      : options_(options),
        verifier_(std::move(verifier)),
        existence_(*existence),
        runtime_(runtime),
        metrics_(runtime.metrics),
        replays_(options.max_replay_entries, &runtime.clock) {}

  Authentication Authenticate(const slack::SignedRequest& request, std::string_view request_id,
                              AuditLine line);
  void Forget(const Authentication& authentication) {
    if (authentication.authentic) replays_.Forget(authentication.replay_key);
  }
  std::optional<Verdict> Recall(const slack::EventCallback& callback);
  Status Notice(const slack::EventCallback& callback);
  Verdict CheckExistence(const slack::EventCallback& callback, std::string_view request_id);
  Later<Verdict> CheckExistenceLater(const slack::EventCallback& callback,
                                     std::string_view request_id);

 private:
  Verdict Record(const slack::EventCallback& callback, std::string_view request_id,
                 Verdict verdict);
  Authentication VerifySignature(const slack::SignedRequest& request);
  void VerifyFirstTime(Authentication* authentication);
  void CountVerdict(Decision decision);
  void Audit(std::initializer_list<LogField> fields) const {
    runtime_.logger.Log(LogLevel::kWarning, "gate refused", fields);
  }

  const GateOptions options_;
  const slack::SignatureVerifier verifier_;
  Existence& existence_;
  const Runtime runtime_;
  const GateMetrics metrics_;
  ReplayMemory replays_;
};

Authentication Gate::State::Authenticate(const slack::SignedRequest& request,
                                         std::string_view request_id, AuditLine line) {
  Authentication authentication = VerifySignature(request);
  const bool is_signed = authentication.authentic;
  if (is_signed) {
    VerifyFirstTime(&authentication);
  } else {
    metrics_.signature_failures.Add();
  }
  if (!authentication.authentic && line == AuditLine::kWritten) {
    Audit({{"decision", "unauthenticated"},
           {"reason", authentication.reason},
           {"event", is_signed ? EventIdIn(request.body) : ""},
           {"request_id", request_id}});
  }
  return authentication;
}

// The size comes first: computing the HMAC of a large body costs time, and anybody can send one.
// The verifier refuses a repeated header, so a valid request has exactly one signature.
Authentication Gate::State::VerifySignature(const slack::SignedRequest& request) {
  if (request.body.size() > options_.max_body_bytes) return {.reason = "body_too_large"};
  slack::SignatureCheck check = verifier_.Verify(request, runtime_.clock.NowSeconds());
  if (check.verdict != slack::SignatureVerdict::kValid) {
    return {.reason = std::string(ToString(check.verdict))};
  }
  std::string replay_key = ReplayKey(check.secret_id, request.signatures.front());
  return {.authentic = true,
          .secret_id = std::move(check.secret_id),
          .replay_key = std::move(replay_key)};
}

// Asking and remembering is one step, so that of two copies at the same time only one is the first.
// Only signed requests get here. Otherwise anybody could fill the memory.
void Gate::State::VerifyFirstTime(Authentication* authentication) {
  Remembered remembered = replays_.Remember(authentication->replay_key);
  if (remembered == Remembered::kFirst) return;
  metrics_.replays.Add();
  authentication->authentic = false;
  authentication->reason = remembered == Remembered::kSeen ? "replayed" : "replay_memory_full";
}

std::optional<Verdict> Gate::State::Recall(const slack::EventCallback& callback) {
  // An event that ends something must raise a generation first, which only the claimed path does.
  if (!EndedBy(callback).empty()) return std::nullopt;
  const std::variant<Subject, Verdict> subject = SubjectOf(callback);
  if (!std::holds_alternative<Subject>(subject)) return std::nullopt;
  std::optional<Verdict> allowed = existence_.Recall(std::get<Subject>(subject));
  if (allowed) CountVerdict(Decision::kAllow);
  return allowed;
}

// Raising a generation twice does no harm, so an event that fails half-way is simply sent again.
Status Gate::State::Notice(const slack::EventCallback& callback) {
  for (const slack::Lookup& ended : EndedBy(callback)) {
    TRY(existence_.Invalidate(ended.kind, ended.id)
            .WithContext(fmt::format("invalidating {}", ended.id)));
  }
  return Done{};
}

Verdict Gate::State::CheckExistence(const slack::EventCallback& callback,
                                    std::string_view request_id) {
  std::variant<Subject, Verdict> subject = SubjectOf(callback);
  return Record(callback, request_id,
                std::holds_alternative<Subject>(subject)
                    ? existence_.Check(std::get<Subject>(subject))
                    : std::get<Verdict>(std::move(subject)));
}

Later<Verdict> Gate::State::CheckExistenceLater(const slack::EventCallback& callback,
                                                std::string_view request_id) {
  std::variant<Subject, Verdict> subject = SubjectOf(callback);
  Later<Verdict> verdict = std::holds_alternative<Subject>(subject)
                               ? existence_.CheckLater(std::get<Subject>(subject))
                               : Later<Verdict>(std::get<Verdict>(std::move(subject)));
  // No answer, as when the program stops, is no verdict: a Verdict without a value is "unknown".
  return std::move(verdict).Then([this, &callback, request_id](Result<Verdict> answer) {
    return Record(callback, request_id, answer ? *std::move(answer) : Verdict{});
  });
}

// Counts the verdict, and logs it when it is a refusal.
Verdict Gate::State::Record(const slack::EventCallback& callback, std::string_view request_id,
                            Verdict verdict) {
  CountVerdict(verdict.decision);
  if (verdict.decision != Decision::kAllow) {
    Audit({{"decision", ToString(verdict.decision)},
           {"reason", ToString(verdict.reason)},
           {"event", callback.event_id},
           {"team", callback.team_id},
           {"user", callback.event.user},
           {"channel", callback.event.channel},
           {"request_id", request_id},
           {"detail", verdict.detail}});
  }
  return verdict;
}

void Gate::State::CountVerdict(Decision decision) {
  switch (decision) {
    case Decision::kAllow:
      return metrics_.allowed.Add();
    case Decision::kDeny:
      return metrics_.denied.Add();
    case Decision::kUnknown:
      return metrics_.unknown.Add();
  }
}

Gate::Gate(GateOptions options, slack::SignatureVerifier verifier, Existence* existence,
           const Runtime& runtime)
    : state_(std::make_unique<State>(options, std::move(verifier), existence, runtime)) {}
Gate::~Gate() = default;

Authentication Gate::Authenticate(const slack::SignedRequest& request, std::string_view request_id,
                                  AuditLine line) {
  return state_->Authenticate(request, request_id, line);
}

void Gate::Forget(const Authentication& authentication) { state_->Forget(authentication); }

std::optional<Verdict> Gate::Recall(const slack::EventCallback& callback) {
  return state_->Recall(callback);
}

Status Gate::Notice(const slack::EventCallback& callback) { return state_->Notice(callback); }

Verdict Gate::CheckExistence(const slack::EventCallback& callback, std::string_view request_id) {
  return state_->CheckExistence(callback, request_id);
}

Later<Verdict> Gate::CheckExistenceLater(const slack::EventCallback& callback,
                                         std::string_view request_id) {
  return state_->CheckExistenceLater(callback, request_id);
}

}  // namespace tidemark::gate
