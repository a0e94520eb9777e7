#include "servers/api/front_door/inbox_worker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "http/url.h"
#include "item/attributes.h"
#include "servers/api/front_door/inbox.h"
#include "slack/signature.h"

namespace tidemark::api {

namespace {

constexpr std::chrono::seconds kDeliveryTimeout(30);
// The body of the receiver's answer is not used, but it must not be endless.
constexpr size_t kMaxAnswerBytes = 64 << 10;

std::string_view NameOf(dedup::WorkKind kind) {
  switch (kind) {
    case dedup::WorkKind::kFile:
      return "file";
    case dedup::WorkKind::kMention:
      return "mention";
    case dedup::WorkKind::kTaskIntake:
      return "task";
    case dedup::WorkKind::kInbox:
      return "inbox";
  }
  return "file";
}

std::string DeliveryBody(const dedup::Work& work, const std::string& event) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("key");
  writer.String(work.keys.front());
  writer.Key("kind");
  writer.String(NameOf(work.kind));
  if (!work.file_id.empty()) {
    writer.Key("file_id");
    writer.String(work.file_id);
  }
  writer.Key("event");
  writer.Raw(event);
  writer.EndObject();
  return text;
}

std::string OriginOf(const std::string& url) {
  const auto parts = http::SplitUrl(url);
  return parts ? parts->Origin() : "the receiver";
}

Error Stopping() { return {ErrorCode::kUnavailable, "the service is stopping"}; }

// Statuses that say something about the receiver and nothing about the work.
bool IsBusy(int status) { return status == 503 || status == 408 || status == 429; }

// Only events that were parsed are put into the inbox, so the row is damaged. It must not block the
// events after it.
void SkipDamaged(const Logger& logger, std::string_view which) {
  logger.Log(LogLevel::kError, "an event in the inbox cannot be read; it is skipped",
             {{"event", which}});
}

}  // namespace

InboxWorker::InboxWorker(InboxWorkerOptions options, InboxWorkerParts parts, const Runtime& runtime)
    : options_(std::move(options)),
      parts_(parts),
      runtime_(runtime),
      receiver_(OriginOf(options_.url)),
      runner_(options_.work, parts.dedup, runtime.logger),
      deferred_(parts.tables, &runtime.clock, options_.first_wait),
      delivered_(
          runtime.metrics.AddCounter({.name = "tidemark_work_delivered_total",
                                      .help = "Pieces of work that their receiver accepted."})),
      failed_(runtime.metrics.AddCounter(
          {.name = "tidemark_work_failed_total",
           .help = "Deliveries that the receiver refused, or that did not reach it."})),
      given_up_(runtime.metrics.AddCounter(
          {.name = "tidemark_work_given_up_total",
           .help = "Events with work that was given up: its receiver refused it too often."})),
      content_duplicates_(runtime.metrics.AddCounter(
          {.name = "tidemark_work_content_duplicates_total",
           .help = "Messages whose text was seen before, exactly or nearly."})),
      gaps_(runtime.metrics.AddCounter(
          {.name = "tidemark_work_gaps_total",
           .help = "Times that events left the inbox before their work was delivered."})),
      lag_(
          runtime.metrics.AddGauge({.name = "tidemark_work_lag_seconds",
                                    .help = "How far the delivery of work is behind the inbox."})) {
  if (options_.contents) contents_.emplace(*options_.contents, parts.tables, &runtime.clock);
}

InboxWorker::~InboxWorker() {
  // Gives the lease back, so that another process need not wait until it expires.
  if (follower_) (void)follower_->Stop();
}

Status InboxWorker::Step() {
  if (options_.url.empty() && !contents_) return Done{};
  TRY(Open());
  const auto held = Drain();
  lag_.Set(static_cast<double>(std::max(follower_->LagSeconds(), deferred_.LagSeconds())));
  if (TRY(held)) TRY(RetryDue());
  lag_.Set(static_cast<double>(std::max(follower_->LagSeconds(), deferred_.LagSeconds())));
  return Done{};
}

Status InboxWorker::Open() {
  if (follower_) return Done{};
  TRY(deferred_.CreateTable());
  follower_ = TRY(tables::Follower::Open(*parts_.tables, runtime_,
                                         {.consumer = "inbox-worker",
                                          .table = options_.inbox_table,
                                          .lease_seconds = 2 * kDeliveryTimeout.count()}));
  return Done{};
}

Result<bool> InboxWorker::Drain() {
  while (!stopping_) {
    const auto reply = follower_->Step([this](const tables::StreamRecord& record) {
      return stopping_ ? Status(Stopping()) : Handle(record);
    });
    if (reply && reply->gap) ReportGap();
    if (stopping_) break;
    if (!reply) return reply.error();
    if (!reply->held || reply->caught_up) return reply->held;
  }
  return false;
}

// Ends at the first event that has to wait again: a delivery may take half a minute, and new events
// come first.
Status InboxWorker::RetryDue() {
  const std::vector<DeferredEvent> due = TRY(deferred_.Due());
  for (const DeferredEvent& event : due) {
    if (stopping_) break;
    const auto row =
        TRY(parts_.tables->Get({.table = options_.inbox_table, .key = {{"event_key", event.key}}}));
    const auto body = row ? BodyOf(*row) : Result<std::string>(std::string());
    if (!row || !body) {
      ReportGivenUp(event.key, "the inbox keeps events for a day, and it was not delivered");
      TRY(deferred_.Remove(event.key));
      continue;
    }
    const Progress progress = TRY(Work(event, *body));
    if (!progress.settled) break;
  }
  return Done{};
}

void InboxWorker::ReportGap() {
  gaps_.Add();
  runtime_.logger.Log(
      LogLevel::kError,
      "events left the inbox before their work was handed out, so that work is lost; "
      "the receiver was not available for too long, or is too slow",
      {{"receiver", receiver_}});
}

Status InboxWorker::Handle(const tables::StreamRecord& record) {
  if (!record.new_image) return Done{};
  const auto body = BodyOf(*record.new_image);
  if (!body) {
    // The event was too large for a row, or the row is damaged: its work is lost.
    gaps_.Add();
    SkipDamaged(runtime_.logger, record.sequence);
    return Done{};
  }
  TRY(Work({.key = item::TextIn(*record.new_image, "event_key"), .since = record.created_at},
           *body));
  return Done{};
}

// Tries the work of an event once. Afterwards the event is done, deferred or given up.
Result<InboxWorker::Progress> InboxWorker::Work(DeferredEvent event, const std::string& body) {
  const auto envelope = slack::ParseEnvelope(body);
  const auto* callback = envelope ? std::get_if<slack::EventCallback>(&*envelope) : nullptr;
  Progress progress{.settled = true};
  if (callback == nullptr) {
    SkipDamaged(runtime_.logger, event.key);
  } else {
    progress = TRY(HandOut(*callback, body));
    // Content is noted after the delivery succeeded. An event that waits is handled again and
    // again; noted each time, it would push the notes of other messages out of their bounded list.
    if (progress.settled) NoteContent(*callback);
  }
  ++event.tries;
  event.failures += progress.counted ? 1 : 0;
  TRY(Conclude(event, progress));
  return progress;
}

Status InboxWorker::Conclude(const DeferredEvent& event, const Progress& progress) {
  if (progress.settled) {
    if (progress.given_up) ReportGivenUp(event.key, "its receiver refused it too often");
    return event.tries > 1 ? deferred_.Remove(event.key) : Status(Done{});
  }
  // The next try finds that the work has failed too often, and delivers nothing.
  const bool is_last = progress.counted && event.failures >= options_.max_failures;
  return is_last ? deferred_.DeferUntilNow(event) : deferred_.Defer(event);
}

void InboxWorker::ReportGivenUp(const std::string& key, std::string_view why) {
  given_up_.Add();
  runtime_.logger.Log(LogLevel::kError, "work of an event is given up",
                      {{"event", key}, {"why", why}, {"receiver", receiver_}});
}

Result<InboxWorker::Progress> InboxWorker::HandOut(const slack::EventCallback& callback,
                                                   const std::string& body) {
  if (options_.url.empty()) return Progress{.settled = true};
  bool away = false;
  bool counted = false;
  const auto report = runner_.Handle(callback, [&](const dedup::Work& work, dedup::Lease&) {
    Status delivered = away ? Status(Error{ErrorCode::kUnavailable, "the receiver is unavailable"})
                            : Deliver(work, body, &away);
    counted |= !delivered && delivered.error().code != ErrorCode::kUnavailable;
    return delivered;
  });
  if (!report && report.error().code == ErrorCode::kInvalid) {
    runtime_.logger.Log(LogLevel::kWarning,
                        "an event asks for work but lacks a field of the work's key",
                        {{"event", callback.event_id}, {"error", report.error().message}});
    return Progress{.settled = true};
  }
  if (!report) return report.error();
  if (stopping_ && !report->settled()) return Stopping();
  if (away) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("work of the event {} waits: {} cannot be reached", callback.event_id,
                             receiver_)};
  }
  return Progress{
      .settled = report->settled(), .counted = counted, .given_up = report->given_up > 0};
}

Status InboxWorker::Deliver(const dedup::Work& work, const std::string& body, bool* away) {
  if (stopping_) return Stopping();  // Checked for each piece: an event may have several.
  const http::Exchange exchange = Post(work, DeliveryBody(work, body));
  const int status = exchange.response.status;
  if (exchange.outcome == http::Outcome::kAnswered && status / 100 == 2) {
    delivered_.Add();
    return Done{};
  }
  failed_.Add();
  *away = exchange.outcome == http::Outcome::kNotSent;
  if (exchange.outcome != http::Outcome::kAnswered) {
    return Error{*away ? ErrorCode::kUnavailable : ErrorCode::kUnknown,
                 fmt::format("{} does not answer: {}", receiver_, exchange.detail)};
  }
  return Error{IsBusy(status) ? ErrorCode::kUnavailable : ErrorCode::kDenied,
               fmt::format("{} answered {}", receiver_, status)};
}

http::Exchange InboxWorker::Post(const dedup::Work& work, std::string body) {
  http::OutgoingRequest request{
      .method = http::Method::kPost,
      .url = options_.url,
      .headers = {{"Content-Type", "application/json"}, {"X-Tidemark-Key", work.keys.front()}},
      .body = std::move(body),
      .timeout = kDeliveryTimeout,
      .max_answer_bytes = kMaxAnswerBytes};
  if (!options_.secret.empty()) {
    const std::string timestamp = std::to_string(runtime_.clock.NowSeconds());
    request.headers.Add("X-Tidemark-Request-Timestamp", timestamp);
    request.headers.Add("X-Tidemark-Signature",
                        slack::Sign(options_.secret, timestamp, request.body));
  }
  return parts_.client->Send(request, Deadline::After(runtime_.clock, kDeliveryTimeout));
}

void InboxWorker::NoteContent(const slack::EventCallback& callback) {
  if (!contents_ || callback.event.text.empty()) return;
  const auto advice = contents_->Note(
      {.team = callback.team_id, .key = callback.event_id, .content = callback.event.text});
  // Advice is not worth a retry.
  if (!advice) return;
  if (advice->duplicate_of) {
    content_duplicates_.Add();
    runtime_.logger.Log(LogLevel::kInfo, "content duplicate",
                        {{"event", callback.event_id}, {"of", *advice->duplicate_of}});
  } else if (!advice->near.empty()) {
    content_duplicates_.Add();
    runtime_.logger.Log(LogLevel::kInfo, "content nearly a duplicate",
                        {{"event", callback.event_id},
                         {"of", advice->near.front().key},
                         {"distance", advice->near.front().distance}});
  }
}

}  // namespace tidemark::api
