#include "servers/api/slack_events.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "apps/dedup/key.h"
#include "base/base64.h"
#include "slack/signature.h"

namespace tidemark::api {

namespace {

// Slack stops sending an event again when a refusal carries this.
constexpr std::string_view kNoRetryHeader = "X-Slack-No-Retry";

constexpr EpochSeconds kMinuteSeconds = 60;
constexpr size_t kNonceBytes = 16;

// Longer than any request takes, and over before Slack comes again after a minute: the claim of a
// process that died must not waste that delivery.
constexpr std::chrono::seconds kEventLease(30);

// How often an event is planned anew because its rows changed meanwhile. Each time somebody else
// came through, so it ends.
constexpr int kMaxPlans = 16;

// Why Slack sends an event again; the last stands for what is not known.
constexpr std::string_view kRetryReasons[] = {
    "http_timeout", "too_many_redirects", "connection_failed",
    "ssl_error",    "http_error",         "unknown_error",
};

slack::SignedRequest SignedPartsOf(const http::Request& request) {
  return {.timestamps = request.headers.FindAll(slack::kTimestampHeader),
          .signatures = request.headers.FindAll(slack::kSignatureHeader),
          .body = request.body};
}

// The request with its body decoded, when it says that it is encoded. A body that is no base64
// decodes to nothing, whose signature cannot hold.
std::optional<http::Request> Decoded(const http::Request& request) {
  const auto encoding = request.headers.Find("Content-Transfer-Encoding");
  if (!encoding || !http::EqualIgnoringCase(*encoding, "base64")) return std::nullopt;
  http::Request decoded = request;
  decoded.body = DecodeBase64(request.body).value_or("");
  return decoded;
}

http::Response WithoutRetry(http::Response response) {
  response.headers.Set(std::string(kNoRetryHeader), "1");
  return response;
}

std::string_view FirstFileOf(const slack::EventCallback& callback) {
  return callback.event.files.empty() ? std::string_view() : callback.event.files.front().id;
}

Result<std::string> KeyOf(const slack::EventCallback& callback) {
  return dedup::EventKey({.event_id = callback.event_id,
                          .team = callback.team_id,
                          .file_id = FirstFileOf(callback),
                          .ts = callback.event.ts});
}

dedup::ClaimRequest ClaimFor(std::string key, const slack::EventCallback& callback,
                             const std::string& request_id) {
  const slack::Event& event = callback.event;
  return {.keys = {std::move(key)},
          .metadata = {{"file_id", std::string(FirstFileOf(callback))},
                       {"channel_id", event.channel},
                       {"user_id", event.user},
                       {"lambda_instance_id", request_id}},
          .lease = kEventLease};
}

Error TooBusy() { return {ErrorCode::kUnavailable, "others keep writing the same rows"}; }

// Whether one of the first so many actions is why nothing was written.
bool IsRefused(const tables::TransactWriteReply& reply, size_t count) {
  return std::any_of(reply.reasons.begin(), reply.reasons.begin() + static_cast<ptrdiff_t>(count),
                     [](const tables::CancellationReason& reason) {
                       return reason.code == tables::CancellationCode::kConditionalCheckFailed;
                     });
}

Counter& AddResult(Metrics& metrics, const std::string& result) {
  return metrics.AddCounter({.name = "tidemark_events_total",
                             .help = "Signed events, by what became of them.",
                             .labels = {{"result", result}}});
}

}  // namespace

SlackEvents::Counters::Counters(Metrics& metrics)
    : accepted(AddResult(metrics, "accepted")),
      duplicate(AddResult(metrics, "duplicate")),
      under_way(AddResult(metrics, "under_way")),
      refused(AddResult(metrics, "refused")),
      quarantined(AddResult(metrics, "quarantined")),
      unavailable(AddResult(metrics, "unavailable")),
      lost_minutes(metrics.AddCounter(
          {.name = "tidemark_events_lost_minutes_total",
           .help = "Minutes in which Slack sent no events because of its volume limit."})) {
  for (std::string_view reason : kRetryReasons) {
    retries.emplace(reason,
                    &metrics.AddCounter({.name = "tidemark_events_retries_total",
                                         .help = "Deliveries that Slack made again, by its reason.",
                                         .labels = {{"reason", std::string(reason)}}}));
  }
}

Counter& SlackEvents::Counters::Of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAccepted:
      return accepted;
    case Outcome::kDuplicate:
      return duplicate;
    case Outcome::kUnderWay:
      return under_way;
    case Outcome::kRefused:
      return refused;
    case Outcome::kQuarantined:
      return quarantined;
    case Outcome::kUnavailable:
      return unavailable;
  }
  return unavailable;
}

SlackEvents::SlackEvents(SlackEventsParts parts, gate::UnknownPolicy unknown)
    : parts_(parts), unknown_(unknown), counters_(*parts.metrics) {}

void SlackEvents::Receive(const std::shared_ptr<const http::RoutedRequest>& routed,
                          http::Finish finish) {
  auto delivery = std::make_shared<Delivery>(Delivery{.routed = routed,
                                                      .decoded = Decoded(routed->request),
                                                      .nonce = parts_.random->Hex(kNonceBytes)});
  const http::Request& request = delivery->request();
  delivery->authentication = parts_.gate->Authenticate(SignedPartsOf(request), request.id);
  if (!delivery->authentication.authentic) return finish(http::Problem(401, ""));
  auto envelope = slack::ParseEnvelope(request.body);
  if (!envelope) return finish(NoEvent(request, envelope.error()));
  delivery->envelope = *std::move(envelope);
  Begin(delivery, std::move(finish));
}

// There are more ways not to acknowledge a delivery than answers of ours: no worker is free for the
// rest of it, or something throws. It must be forgotten before Slack hears of that, so whoever
// passes it on keeps none.
class SlackEvents::Unacknowledged {
 public:
  Unacknowledged(gate::Gate* gate, gate::Authentication authentication)
      : gate_(*gate), authentication_(std::move(authentication)) {}
  ~Unacknowledged() {
    if (!acknowledged_) gate_.Forget(authentication_);
  }
  Unacknowledged(const Unacknowledged&) = delete;
  Unacknowledged& operator=(const Unacknowledged&) = delete;

  void Acknowledge() { acknowledged_ = true; }

 private:
  gate::Gate& gate_;
  const gate::Authentication authentication_;
  bool acknowledged_ = false;
};

http::Rest SlackEvents::RestOf(std::shared_ptr<const Delivery> delivery,
                               std::shared_ptr<Unacknowledged> unacknowledged) {
  return
      [this, delivery = std::move(delivery), unacknowledged = std::move(unacknowledged)]() mutable {
        const auto ours = std::move(unacknowledged);
        http::Response response = Answer(*delivery);
        if (response.status == 200) ours->Acknowledge();
        return response;
      };
}

void SlackEvents::Begin(const std::shared_ptr<const Delivery>& delivery, http::Finish finish) {
  auto unacknowledged = std::make_shared<Unacknowledged>(parts_.gate, delivery->authentication);
  const auto* callback = std::get_if<slack::EventCallback>(&delivery->envelope);
  const auto key = callback != nullptr ? KeyOf(*callback) : Result<std::string>(std::string());
  if (callback == nullptr || !key) return finish(RestOf(delivery, std::move(unacknowledged)));
  const auto plan = PlanRecalled(*key, *callback, delivery->request().body);
  if (!plan) return finish(RestOf(delivery, std::move(unacknowledged)));
  parts_.dedup->TryMarkWith(
      ClaimOf(*key, *callback, *delivery), plan->effect,
      [this, delivery, callback, archived = plan->archived, finish = std::move(finish),
       unacknowledged =
           std::move(unacknowledged)](const std::optional<dedup::ClaimReply>& reply) mutable {
        if (!reply) return finish(RestOf(delivery, std::move(unacknowledged)));
        unacknowledged->Acknowledge();
        CountRetry(*callback, delivery->request());
        CountStored(archived);
        counters_.accepted.Add();
        finish(http::Text(200, ""));
      });
}

std::optional<SlackEvents::Stored> SlackEvents::PlanRecalled(const std::string& key,
                                                             const slack::EventCallback& callback,
                                                             std::string_view body) {
  if (!parts_.gate->Recall(callback)) return std::nullopt;
  auto plan = Plan(key, callback, body);
  return plan ? std::optional(*std::move(plan)) : std::nullopt;
}

http::Response SlackEvents::Answer(const Delivery& delivery) {
  return std::visit([&](const auto& kind) { return Answer(kind, delivery); }, delivery.envelope);
}

http::Response SlackEvents::NoEvent(const http::Request& request, const Error& error) {
  parts_.logger->Log(LogLevel::kWarning, "a signed request is no event",
                     {{"request", request.id}, {"error", error.message}});
  return WithoutRetry(http::Problem(400, error.message));
}

http::Response SlackEvents::Answer(const slack::UrlVerification& verification, const Delivery&) {
  return http::Text(200, verification.challenge);
}

http::Response SlackEvents::Answer(const slack::AppRateLimited& limited, const Delivery& delivery) {
  const std::string& request_id = delivery.request().id;
  counters_.lost_minutes.Add();
  parts_.logger->Log(
      LogLevel::kWarning, "Slack sent no events in this minute: over its volume limit",
      {{"team", limited.team_id}, {"minute", limited.minute}, {"request", request_id}});
  const auto noted = NoteLoss(limited);
  if (noted) return http::Text(200, "");
  parts_.logger->Log(LogLevel::kError, "a lost minute could not be noted",
                     {{"error", noted.error().message}, {"request", request_id}});
  return http::Problem(500, "");
}

Status SlackEvents::NoteLoss(const slack::AppRateLimited& limited) {
  if (parts_.ledger == nullptr) return Done{};
  const auto team = slack::TeamId::Parse(limited.team_id);
  if (!team) return Done{};  // There is nobody whose history it could be missing from.
  return parts_.ledger->Add(*team,
                            {.kind = archive::CoverageKind::kLost,
                             .from = slack::Timestamp::FromSeconds(limited.minute),
                             .to = slack::Timestamp::FromSeconds(limited.minute + kMinuteSeconds),
                             .reason = "Slack's volume limit: app_rate_limited"});
}

http::Response SlackEvents::Answer(const slack::UnknownEnvelope& envelope,
                                   const Delivery& delivery) {
  parts_.logger->Log(LogLevel::kWarning, "a kind of request that is not known was acknowledged",
                     {{"type", envelope.type}, {"request", delivery.request().id}});
  return http::Text(200, "");
}

http::Response SlackEvents::Answer(const slack::EventCallback& callback, const Delivery& delivery) {
  const auto key = KeyOf(callback);
  // Without a name it cannot be told from its own retry, so it is not let in.
  if (!key) return NoEvent(delivery.request(), key.error());
  CountRetry(callback, delivery.request());
  const Outcome outcome = Handle(*key, callback, delivery);
  counters_.Of(outcome).Add();
  switch (outcome) {
    case Outcome::kAccepted:
    case Outcome::kDuplicate:
    case Outcome::kQuarantined:
      return http::Text(200, "");
    case Outcome::kRefused:
      // It is in quarantine, so Slack need not send it again.
      return WithoutRetry(http::Problem(403, ""));
    case Outcome::kUnderWay:
      return http::Problem(503, "");
    case Outcome::kUnavailable:
      break;
  }
  return http::Problem(500, "");
}

void SlackEvents::CountRetry(const slack::EventCallback& callback, const http::Request& request) {
  const auto number = request.headers.Find("X-Slack-Retry-Num");
  if (!number) return;
  const auto reason = request.headers.Find("X-Slack-Retry-Reason").value_or("unknown_error");
  const auto known = counters_.retries.find(reason);
  (known != counters_.retries.end() ? known : counters_.retries.find("unknown_error"))
      ->second->Add();
  parts_.logger->Log(LogLevel::kInfo, "Slack sent an event again",
                     {{"event", callback.event_id},
                      {"retry", *number},
                      {"reason", reason},
                      {"request", request.id}});
}

dedup::ClaimRequest SlackEvents::ClaimOf(std::string key, const slack::EventCallback& callback,
                                         const Delivery& delivery) {
  dedup::ClaimRequest claim = ClaimFor(std::move(key), callback, delivery.request().id);
  claim.nonce = delivery.nonce;
  return claim;
}

SlackEvents::Outcome SlackEvents::Handle(const std::string& key,
                                         const slack::EventCallback& callback,
                                         const Delivery& delivery) {
  if (parts_.gate->Recall(callback)) return HandleRecalled(key, callback, delivery);
  const auto reply = parts_.dedup->Take(ClaimOf(key, callback, delivery));
  if (!reply) return Unavailable(callback, "claiming the event", reply.error());
  if (reply->claim) return HandleClaimed(callback, delivery.request(), *reply->claim);
  return WithoutClaim(reply->outcome);
}

SlackEvents::Outcome SlackEvents::WithoutClaim(dedup::ClaimOutcome outcome) {
  switch (outcome) {
    case dedup::ClaimOutcome::kDone:
    case dedup::ClaimOutcome::kFailed:
    case dedup::ClaimOutcome::kPayloadMismatch:
      return Outcome::kDuplicate;
    case dedup::ClaimOutcome::kRunning:
    case dedup::ClaimOutcome::kOutcomeUnknown:
      return Outcome::kUnderWay;
    case dedup::ClaimOutcome::kNew:
    case dedup::ClaimOutcome::kRefused:
      break;
  }
  return Outcome::kUnavailable;
}

SlackEvents::Outcome SlackEvents::HandleRecalled(const std::string& key,
                                                 const slack::EventCallback& callback,
                                                 const Delivery& delivery) {
  const std::string& body = delivery.request().body;
  const dedup::ClaimRequest claim = ClaimOf(key, callback, delivery);
  for (int round = 0; round < kMaxPlans; ++round) {
    const auto plan = Plan(key, callback, body);
    if (!plan) return Unavailable(callback, "reading what is stored", plan.error());
    const auto reply = parts_.dedup->MarkWith(claim, plan->effect);
    if (!reply) return Unavailable(callback, "storing the event", reply.error());
    if (!*reply) continue;  // Somebody else wrote one of its rows.
    if (!(*reply)->claim) return WithoutClaim((*reply)->outcome);
    if ((*reply)->claim->local) return Accept(callback, body, *(*reply)->claim);
    CountStored(plan->archived);
    return Outcome::kAccepted;
  }
  return Unavailable(callback, "storing the event", TooBusy());
}

SlackEvents::Outcome SlackEvents::HandleClaimed(const slack::EventCallback& callback,
                                                const http::Request& request,
                                                const dedup::Claim& claim) {
  if (const auto noticed = parts_.gate->Notice(callback); !noticed) {
    (void)parts_.dedup->Release(claim);
    return Unavailable(callback, "raising a generation", noticed.error());
  }
  const gate::Verdict verdict = parts_.gate->CheckExistence(callback, request.id);
  if (verdict.decision != gate::Decision::kAllow) return Refuse(callback, request, claim, verdict);
  return Accept(callback, request.body, claim);
}

SlackEvents::Outcome SlackEvents::Refuse(const slack::EventCallback& callback,
                                         const http::Request& request, const dedup::Claim& claim,
                                         const gate::Verdict& verdict) {
  const auto kept = parts_.quarantine->Keep(callback, request.body, verdict);
  // The claim goes first or last, the event is safe: if this fails, its lease ends by itself.
  (void)parts_.dedup->Release(claim);
  if (!kept) return Unavailable(callback, "keeping the event in quarantine", kept.error());
  const bool acknowledged =
      verdict.decision == gate::Decision::kUnknown && unknown_ == gate::UnknownPolicy::kQuarantine;
  return acknowledged ? Outcome::kQuarantined : Outcome::kRefused;
}

Result<SlackEvents::Stored> SlackEvents::Plan(const std::string& key,
                                              const slack::EventCallback& callback,
                                              std::string_view body) {
  Stored stored;
  if (parts_.archive != nullptr) {
    archive::Plan plan = TRY(parts_.archive->PlanEvent(callback, body));
    stored.archived = plan.outcome;
    stored.effect = std::move(plan.actions);
  }
  if (parts_.inbox != nullptr) {
    stored.effect.emplace_back(parts_.inbox->Entry(key, callback, body));
  }
  return stored;
}

void SlackEvents::CountStored(const std::optional<archive::Outcome>& archived) {
  if (archived) parts_.archive->Count(*archived);
}

SlackEvents::Outcome SlackEvents::Accept(const slack::EventCallback& callback,
                                         std::string_view body, const dedup::Claim& claim) {
  std::optional<Outcome> outcome;
  for (int round = 0; round < kMaxPlans && !outcome; ++round) {
    outcome = TryAccept(callback, body, claim);
  }
  if (!outcome) outcome = Unavailable(callback, "storing the event", TooBusy());
  // So that Slack's next delivery need not wait for the lease. A claim that was completed after all
  // is not the claim's to release any more.
  if (*outcome == Outcome::kUnavailable) (void)parts_.dedup->Release(claim);
  return *outcome;
}

std::optional<SlackEvents::Outcome> SlackEvents::TryAccept(const slack::EventCallback& callback,
                                                           std::string_view body,
                                                           const dedup::Claim& claim) {
  const auto plan = Plan(claim.keys.front(), callback, body);
  if (!plan) return Unavailable(callback, "reading what is stored", plan.error());
  if (claim.local) return AcceptLocally(callback, claim, *plan);
  tables::TransactWriteRequest transaction{.actions = parts_.dedup->Completion(claim)};
  const size_t completions = transaction.actions.size();
  transaction.actions.insert(transaction.actions.end(), plan->effect.begin(), plan->effect.end());
  const auto reply = parts_.tables->TransactWrite(transaction);
  // When the outcome is not known, the claim says it: it was completed with the event or not at
  // all, and Slack's next delivery finds out which.
  if (!reply) return Unavailable(callback, "storing the event", reply.error());
  if (reply->outcome != tables::TransactOutcome::kApplied) {
    if (IsRefused(*reply, completions)) return Outcome::kUnderWay;
    return std::nullopt;
  }
  parts_.dedup->Completed(claim);
  CountStored(plan->archived);
  return Outcome::kAccepted;
}

// The claim is in memory, so there is nothing to complete in the same transaction. Should the
// event come twice, storing it again changes nothing.
SlackEvents::Outcome SlackEvents::AcceptLocally(const slack::EventCallback& callback,
                                                const dedup::Claim& claim, const Stored& stored) {
  if (!stored.effect.empty()) {
    const auto written = parts_.tables->TransactWrite({.actions = stored.effect});
    if (!written || written->outcome != tables::TransactOutcome::kApplied) {
      return Unavailable(callback, "storing the event", written ? TooBusy() : written.error());
    }
  }
  (void)parts_.dedup->Complete(claim);
  CountStored(stored.archived);
  return Outcome::kAccepted;
}

SlackEvents::Outcome SlackEvents::Unavailable(const slack::EventCallback& callback,
                                              std::string_view step, const Error& error) {
  parts_.logger->Log(LogLevel::kError, "an event could not be stored",
                     {{"step", step},
                      {"event", callback.event_id},
                      {"team", callback.team_id},
                      {"error", error.message}});
  return Outcome::kUnavailable;
}

gate::Verdict SlackEvents::Recheck(const slack::EventCallback& callback) {
  return parts_.gate->CheckExistence(callback, "quarantine");
}

Status SlackEvents::Promote(const slack::EventCallback& callback, std::string_view body) {
  const std::string key = TRY(KeyOf(callback));
  const dedup::ClaimReply reply = TRY(parts_.dedup->Take(ClaimFor(key, callback, "quarantine")));
  if (reply.outcome == dedup::ClaimOutcome::kDone) return Done{};
  Outcome outcome = Outcome::kUnderWay;
  if (reply.outcome == dedup::ClaimOutcome::kNew) outcome = Accept(callback, body, *reply.claim);
  if (outcome == Outcome::kAccepted) {
    counters_.accepted.Add();
    return Done{};
  }
  return Error{ErrorCode::kUnavailable, "the event is being handled, or could not be stored"};
}

}  // namespace tidemark::api
