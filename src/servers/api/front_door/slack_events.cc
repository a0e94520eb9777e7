#include "servers/api/front_door/slack_events.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/base64.h"
#include "servers/api/front_door/conversation.h"
#include "slack/signature.h"

namespace tidemark::api {

namespace {

// A refusal with this header tells Slack not to send the event again.
constexpr std::string_view kNoRetryHeader = "X-Slack-No-Retry";

constexpr EpochSeconds kMinuteSeconds = 60;
constexpr size_t kNonceBytes = 16;

constexpr std::string_view kRetryNumberHeader = "X-Slack-Retry-Num";
constexpr std::string_view kLastRetry = "3";

// Why Slack sends an event again. Reasons that are not in this list count as the last one.
constexpr std::string_view kRetryReasons[] = {
    "http_timeout", "too_many_redirects", "connection_failed",
    "ssl_error",    "http_error",         "unknown_error",
};

slack::SignedRequest SignedPartsOf(const http::Request& request) {
  return {.timestamps = request.headers.FindAll(slack::kTimestampHeader),
          .signatures = request.headers.FindAll(slack::kSignatureHeader),
          .body = request.body};
}

// A copy of the request with its body decoded, when its header says that it is base64. A body that
// is not valid base64 becomes empty; no signature of Slack's fits it.
std::optional<http::Request> DecodeBody(const http::Request& request) {
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

// The time of the message that the event is about, or else of the event.
std::optional<slack::Timestamp> GapTimeOf(const slack::EventCallback& callback) {
  for (const std::string& text : {callback.event.ts, callback.event.event_ts}) {
    if (const auto time = slack::Timestamp::Parse(text)) return *time;
  }
  return std::nullopt;
}

Counter& AddResult(Metrics& metrics, const std::string& result) {
  return metrics.AddCounter({.name = "tidemark_events_total",
                             .help = "Signed events, by result.",
                             .labels = {{"result", result}}});
}

}  // namespace

// One signed request, from its arrival to its answer.
//
// The gate remembers signatures, so that an attacker cannot replay a request. A request that is not
// acknowledged must be forgotten again, and before Slack gets the answer, because Slack may send
// the same bytes at once. The destructor does that, since there are many ways to end without a 200:
// a refusal, no free worker, an exception. A step of a Later is destroyed before its answer is
// passed on, so a delivery that only steps hold is forgotten in time.
class SlackEvents::Delivery {
 public:
  Delivery(const http::Request& received, gate::Gate* gate, std::string nonce)
      : received_(received),
        decoded_(DecodeBody(received)),
        gate_(*gate),
        nonce_(std::move(nonce)),
        authentication_(gate_.Authenticate(
            SignedPartsOf(request()), request().id,
            request().is_over_limit ? gate::AuditLine::kOmitted : gate::AuditLine::kWritten)) {}
  ~Delivery() {
    if (!acknowledged_) gate_.Forget(authentication_);
  }
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  const http::Request& request() const { return decoded_ ? *decoded_ : received_; }
  bool is_authentic() const { return authentication_.authentic; }
  void Acknowledge() { acknowledged_ = true; }

  // Refers to the callback and to this.
  IncomingEvent ToEvent(std::string key, const slack::EventCallback& callback) const {
    return {.key = std::move(key),
            .callback = callback,
            .body = request().body,
            .request_id = request().id,
            .nonce = nonce_,
            .is_last_delivery = request().headers.Find(kRetryNumberHeader) == kLastRetry};
  }

  slack::Envelope envelope;  // Set once the request is known to be authentic.

 private:
  const http::Request& received_;
  const std::optional<http::Request> decoded_;
  gate::Gate& gate_;
  const std::string nonce_;
  const gate::Authentication authentication_;
  bool acknowledged_ = false;
};

SlackEvents::Counters::Counters(Metrics& metrics)
    : accepted(AddResult(metrics, "accepted")),
      duplicate(AddResult(metrics, "duplicate")),
      under_way(AddResult(metrics, "under_way")),
      refused(AddResult(metrics, "refused")),
      quarantined(AddResult(metrics, "quarantined")),
      not_public(AddResult(metrics, "not_public")),
      lost(AddResult(metrics, "lost")),
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

Counter& SlackEvents::Counters::Of(EventOutcome outcome) {
  switch (outcome) {
    case EventOutcome::kAccepted:
      return accepted;
    case EventOutcome::kDuplicate:
      return duplicate;
    case EventOutcome::kUnderWay:
      return under_way;
    case EventOutcome::kRefused:
      return refused;
    case EventOutcome::kQuarantined:
      return quarantined;
    case EventOutcome::kNotPublic:
      return not_public;
    case EventOutcome::kLost:
      return lost;
    case EventOutcome::kUnavailable:
      break;
  }
  return unavailable;
}

SlackEvents::SlackEvents(SlackEventsParts parts, gate::UnknownPolicy unknown,
                         const Runtime& runtime)
    : parts_(parts),
      runtime_(runtime),
      planner_(parts.archive, parts.inbox),
      fast_path_(parts.gate, parts.dedup, &planner_),
      claimed_path_(
          {.gate = parts.gate,
           .quarantine = parts.quarantine,
           .dedup = parts.dedup,
           .tables = parts.tables,
           .planner = &planner_,
           .workers = parts.workers,
           .object_workers = &object_workers_,
           .note_gap = [this](const slack::EventCallback& callback) { return NoteGap(callback); },
           .note_team_gap =
               [this](const slack::EventCallback& callback) { return NoteTeamGap(callback); }},
          unknown, runtime),
      counters_(runtime.metrics) {}

Later<http::Response> SlackEvents::Receive(const http::RoutedRequest& routed) {
  auto delivery =
      std::make_shared<Delivery>(routed.request, parts_.gate, runtime_.random.Hex(kNonceBytes));
  if (!delivery->is_authentic()) return http::BadRequest(401, "");
  // Only now: nothing of a body is looked at before its signature holds.
  auto envelope = slack::ParseEnvelope(delivery->request().body);
  if (!envelope) return RefuseMalformed(delivery->request(), envelope.error());
  delivery->envelope = *std::move(envelope);
  return std::visit([&](const auto& kind) { return Handle(kind, delivery); }, delivery->envelope);
}

Later<http::Response> SlackEvents::Handle(const slack::EventCallback& callback,
                                          SharedDelivery delivery) {
  CountRetry(callback, delivery->request());
  auto key = EventKeyOf(callback);
  // An event without a key could not be told from its own repetition, so it is not accepted.
  if (!key) return RefuseMalformed(delivery->request(), key.error());
  const Result<bool> never_public = IsNeverPublic(delivery->ToEvent(*key, callback));
  if (!never_public) return never_public.error();
  if (*never_public) return AnswerEvent(EventOutcome::kNotPublic, delivery.get());
  return fast_path_.TryToStore(delivery->ToEvent(*key, callback))
      .Then([this, &callback, key = *key,
             delivery](const Result<bool>& is_stored) mutable -> Later<http::Response> {
        if (is_stored && *is_stored) return AnswerEvent(EventOutcome::kAccepted, delivery.get());
        return parts_.workers->Run(
            [this, &callback, key = std::move(key), delivery = std::move(delivery)] {
              return claimed_path_.Handle(delivery->ToEvent(key, callback))
                  .Then([this,
                         delivery](const Result<EventOutcome>& outcome) -> Result<http::Response> {
                    if (!outcome) return outcome.error();
                    return AnswerEvent(*outcome, delivery.get());
                  });
            });
      });
}

// README promises that nothing of such a conversation is kept. So this is decided before anything
// is written: no mark, no row of the inbox, no copy in quarantine. Where the event does not say of
// what kind its channel is, the gate's answer is needed first: see ClaimedPath.
Result<bool> SlackEvents::IsNeverPublic(const IncomingEvent& event) const {
  const Conversation conversation = ConversationOf(event.callback.event);
  if (conversation == Conversation::kPublic || conversation == Conversation::kUntold) return false;
  return !TRY(planner_.MayKeep(event));
}

Later<http::Response> SlackEvents::Handle(const slack::UrlVerification& verification,
                                          SharedDelivery delivery) {
  delivery->Acknowledge();
  return http::Text(200, verification.challenge);
}

Later<http::Response> SlackEvents::Handle(const slack::AppRateLimited& limited,
                                          SharedDelivery delivery) {
  return parts_.workers->Run([this, &limited, delivery = std::move(delivery)] {
    return AnswerRateLimited(limited, delivery.get());
  });
}

Later<http::Response> SlackEvents::Handle(const slack::UnknownEnvelope& envelope,
                                          SharedDelivery delivery) {
  runtime_.logger.Log(LogLevel::kWarning, "a request of an unknown type was acknowledged",
                      {{"type", envelope.type}, {"request", delivery->request().id}});
  delivery->Acknowledge();
  return http::Text(200, "");
}

http::Response SlackEvents::AnswerEvent(EventOutcome outcome, Delivery* delivery) {
  counters_.Of(outcome).Add();
  switch (outcome) {
    case EventOutcome::kNotPublic:
      planner_.CountNotPublic();
      [[fallthrough]];
    case EventOutcome::kAccepted:
    case EventOutcome::kDuplicate:
    case EventOutcome::kQuarantined:
    case EventOutcome::kLost:
      delivery->Acknowledge();
      return http::Text(200, "");
    case EventOutcome::kRefused:
      // It is in quarantine, so Slack need not send it again.
      return WithoutRetry(http::Problem(403, ""));
    case EventOutcome::kUnderWay:
      return http::Problem(503, "");
    case EventOutcome::kUnavailable:
      break;
  }
  return http::Problem(500, "");
}

http::Response SlackEvents::AnswerRateLimited(const slack::AppRateLimited& limited,
                                              Delivery* delivery) {
  const std::string& request_id = delivery->request().id;
  counters_.lost_minutes.Add();
  runtime_.logger.Log(
      LogLevel::kWarning, "Slack sent no events in this minute: over its volume limit",
      {{"team", limited.team_id}, {"minute", limited.minute}, {"request", request_id}});
  const auto noted = NoteLostMinute(limited);
  if (noted) {
    delivery->Acknowledge();
    return http::Text(200, "");
  }
  runtime_.logger.Log(LogLevel::kError, "a lost minute could not be noted",
                      {{"error", noted.error().message}, {"request", request_id}});
  return http::Problem(500, "");
}

Status SlackEvents::NoteLostMinute(const slack::AppRateLimited& limited) {
  return AddLostMinute(limited.team_id, limited.minute, "Slack's volume limit: app_rate_limited");
}

// A whole minute, so that an outage adds few marks however many events it loses.
Status SlackEvents::NoteTeamGap(const slack::EventCallback& callback) {
  const auto told = GapTimeOf(callback);
  const EpochSeconds at = told ? told->seconds() : runtime_.clock.NowSeconds();
  return AddLostMinute(callback.team_id, at - at % kMinuteSeconds,
                       "events that do not name the type of their channel could not be verified");
}

Status SlackEvents::AddLostMinute(const std::string& team_id, EpochSeconds minute,
                                  std::string reason) {
  if (parts_.ledger == nullptr) return Done{};
  const auto team = slack::TeamId::Parse(team_id);
  if (!team) return Done{};  // No archive of a team lacks the minute.
  return parts_.ledger->Add(*team, {.kind = archive::CoverageKind::kLost,
                                    .from = slack::Timestamp::FromSeconds(minute),
                                    .to = slack::Timestamp::FromSeconds(minute + kMinuteSeconds),
                                    .reason = std::move(reason)});
}

http::Response SlackEvents::RefuseMalformed(const http::Request& request,
                                            const Error& error) const {
  runtime_.logger.Log(LogLevel::kWarning, "a signed request is not a valid event",
                      {{"request", request.id}, {"error", error.message}});
  return WithoutRetry(http::Problem(400, error.message));
}

void SlackEvents::CountRetry(const slack::EventCallback& callback, const http::Request& request) {
  const auto number = request.headers.Find(kRetryNumberHeader);
  if (!number) return;
  const auto reason = request.headers.Find("X-Slack-Retry-Reason").value_or("unknown_error");
  const auto known = counters_.retries.find(reason);
  (known != counters_.retries.end() ? known : counters_.retries.find("unknown_error"))
      ->second->Add();
  runtime_.logger.Log(LogLevel::kInfo, "Slack sent an event again",
                      {{"event", callback.event_id},
                       {"retry", *number},
                       {"reason", reason},
                       {"request", request.id}});
}

gate::Verdict SlackEvents::Recheck(const slack::EventCallback& callback) {
  return parts_.gate->CheckExistence(callback, "quarantine");
}

Status SlackEvents::NoteGap(const slack::EventCallback& callback) {
  const auto team = slack::TeamId::Parse(callback.team_id);
  const auto at = GapTimeOf(callback);
  if (parts_.ledger == nullptr || !team || !at) return Done{};
  const auto channel = slack::ChannelId::Parse(callback.event.channel);
  return parts_.ledger->Add(*team, {.channel = channel ? std::optional(*channel) : std::nullopt,
                                    .kind = archive::CoverageKind::kLost,
                                    .from = *at,
                                    .to = slack::Timestamp::FromSeconds(at->seconds() + 1),
                                    .reason = "an event could not be verified"});
}

Status SlackEvents::Promote(const slack::EventCallback& callback, std::string_view body,
                            const gate::Verdict& verdict) {
  const std::string key = TRY(EventKeyOf(callback));
  const IncomingEvent event{
      .key = key, .callback = callback, .body = body, .request_id = "quarantine"};
  const EventOutcome outcome = claimed_path_.Promote(event, verdict);
  if (outcome == EventOutcome::kAccepted) counters_.accepted.Add();
  if (outcome == EventOutcome::kAccepted || outcome == EventOutcome::kDuplicate ||
      outcome == EventOutcome::kNotPublic) {
    return Done{};
  }
  return Error{ErrorCode::kUnavailable,
               "the event is being handled by another delivery, or could not be stored"};
}

}  // namespace tidemark::api
