#include "servers/api/inbox_worker.h"

#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "http/url.h"
#include "servers/api/inbox.h"

namespace tidemark::api {

namespace {

constexpr std::chrono::seconds kDeliveryTimeout(30);
// The receiver's answer is not read, but it must come to an end.
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

std::string BodyOf(const dedup::Work& work, const std::string& event) {
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

Error Stopping() { return {ErrorCode::kUnavailable, "stopping"}; }

bool MayPass(int status) { return status >= 500 || status == 408 || status == 429; }

}  // namespace

InboxWorker::InboxWorker(InboxWorkerOptions options, InboxWorkerParts parts)
    : options_(std::move(options)),
      parts_(parts),
      receiver_(OriginOf(options_.url)),
      runner_(options_.work, parts.dedup, parts.logger),
      delivered_(parts.metrics->AddCounter({.name = "tidemark_work_delivered_total",
                                            .help = "Pieces of work that their receiver took."})),
      failed_(parts.metrics->AddCounter(
          {.name = "tidemark_work_failed_total",
           .help = "Pieces of work that their receiver refused, or that did not reach it."})),
      content_duplicates_(parts.metrics->AddCounter(
          {.name = "tidemark_work_content_duplicates_total",
           .help = "Messages whose text was seen before, exactly or nearly."})),
      gaps_(parts.metrics->AddCounter(
          {.name = "tidemark_work_gaps_total",
           .help = "Times that events left the inbox before their work was handed out."})),
      lag_(parts.metrics->AddGauge(
          {.name = "tidemark_work_lag_seconds",
           .help = "How far the handing out of work is behind the inbox."})) {
  if (options_.contents) contents_.emplace(*options_.contents, parts.tables, parts.clock);
}

InboxWorker::~InboxWorker() {
  // So that another process need not wait for the lease to end. If it fails, that one waits.
  if (follower_) (void)follower_->Stop();
}

Status InboxWorker::Step() {
  if (options_.url.empty() && !contents_) return Done{};
  if (!follower_) {
    follower_ = TRY(tables::Follower::Open(*parts_.tables, *parts_.clock, *parts_.random,
                                           {.consumer = "inbox-worker",
                                            .table = options_.inbox_table,
                                            .lease_seconds = 2 * kDeliveryTimeout.count()}));
  }
  return Drain();
}

Status InboxWorker::Drain() {
  while (!stopping_) {
    const auto reply = follower_->Step([this](const tables::StreamRecord& record) {
      return stopping_ ? Status(Stopping()) : Handle(record);
    });
    lag_.Set(static_cast<double>(follower_->LagSeconds()));
    if (reply && reply->gap) TellGap();
    if (stopping_) break;
    if (!reply) return reply.error();
    if (!reply->held || reply->caught_up) break;
  }
  return Done{};
}

void InboxWorker::TellGap() {
  gaps_.Add();
  parts_.logger->Log(LogLevel::kError,
                     "events left the inbox before their work was handed out, and it will not be; "
                     "the receiver was away for too long, or is too slow",
                     {{"receiver", receiver_}});
}

Status InboxWorker::Handle(const tables::StreamRecord& record) {
  if (!record.new_image) return Done{};
  const auto body = api::BodyOf(*record.new_image);
  const auto envelope = body ? slack::ParseEnvelope(*body) : Result<slack::Envelope>(body.error());
  const auto* callback = envelope ? std::get_if<slack::EventCallback>(&*envelope) : nullptr;
  if (callback == nullptr) {
    // Only parsed events are put in. What is damaged must not stop those behind it.
    parts_.logger->Log(LogLevel::kError, "an event in the inbox cannot be read; it is passed over",
                       {{"sequence", record.sequence}});
    return Done{};
  }
  // What waits is handled again and again, but is noted only once: else it would push out others.
  TRY(HandOut(*callback, *body));
  Advise(*callback);
  return Done{};
}

Status InboxWorker::HandOut(const slack::EventCallback& callback, const std::string& body) {
  if (options_.url.empty()) return Done{};
  const auto report = runner_.Handle(
      callback, [&](const dedup::Work& work, dedup::Lease&) { return Deliver(work, body); });
  if (!report && report.error().code == ErrorCode::kInvalid) {
    parts_.logger->Log(LogLevel::kWarning, "an event asks for work but lacks a part of its name",
                       {{"event", callback.event_id}, {"error", report.error().message}});
    return Done{};
  }
  if (!report) return report.error();
  if (report->settled()) return Done{};
  return Error{ErrorCode::kUnavailable,
               fmt::format("work of the event {} is not done yet", callback.event_id)};
}

Status InboxWorker::Deliver(const dedup::Work& work, const std::string& body) {
  if (stopping_) return Stopping();  // An event may ask for several pieces.
  const http::Exchange exchange = parts_.client->Send(
      {.method = http::Method::kPost,
       .url = options_.url,
       .headers = {{"Content-Type", "application/json"}, {"X-Tidemark-Key", work.keys.front()}},
       .body = BodyOf(work, body),
       .timeout = kDeliveryTimeout,
       .max_answer_bytes = kMaxAnswerBytes},
      Deadline::After(*parts_.clock, kDeliveryTimeout));
  const int status = exchange.response.status;
  if (exchange.outcome == http::Outcome::kAnswered && status / 100 == 2) {
    delivered_.Add();
    return Done{};
  }
  failed_.Add();
  if (exchange.outcome != http::Outcome::kAnswered) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{} does not answer: {}", receiver_, exchange.detail)};
  }
  return Error{MayPass(status) ? ErrorCode::kUnavailable : ErrorCode::kDenied,
               fmt::format("{} answered {}", receiver_, status)};
}

void InboxWorker::Advise(const slack::EventCallback& callback) {
  if (!contents_ || callback.event.text.empty()) return;
  const auto advice = contents_->Note(
      {.team = callback.team_id, .key = callback.event_id, .content = callback.event.text});
  // Advice is worth no retry.
  if (!advice) return;
  if (advice->duplicate_of) {
    content_duplicates_.Add();
    parts_.logger->Log(LogLevel::kInfo, "content duplicate",
                       {{"event", callback.event_id}, {"of", *advice->duplicate_of}});
  } else if (!advice->near.empty()) {
    content_duplicates_.Add();
    parts_.logger->Log(LogLevel::kInfo, "content nearly a duplicate",
                       {{"event", callback.event_id},
                        {"of", advice->near.front().key},
                        {"distance", advice->near.front().distance}});
  }
}

}  // namespace tidemark::api
