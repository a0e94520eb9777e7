#include "servers/api/documents_watch.h"

#include <algorithm>
#include <utility>

#include "apps/documents/notification.h"

namespace tidemark::api {

namespace {

using documents::Context;

// Few at a time, so that the watcher's queue is emptied often.
constexpr size_t kBatch = 20;
constexpr std::chrono::seconds kIdle(60);
constexpr std::chrono::seconds kRest(2);
// A look at all documents stops so often for what is noticed meanwhile.
constexpr std::chrono::seconds kSlice(1);

// Whether an object is gone is seen when it is looked at.
documents::Notification NotificationOf(const std::string& bucket,
                                       const std::vector<std::string>& keys) {
  documents::Notification notification;
  for (const std::string& key : keys) {
    notification.records.push_back(
        {.event = documents::ObjectEvent{.change = documents::ChangeOfObject::kWritten,
                                         .name = "ObjectCreated:Put",
                                         .bucket = bucket,
                                         .key = key}});
  }
  return notification;
}

}  // namespace

DocumentsWatch::DocumentsWatch(std::string bucket, const DocumentsWatchParts& parts)
    : bucket_(std::move(bucket)), parts_(parts) {
  if (!parts.metrics) return;
  changes_ = &parts.metrics->AddCounter(
      {.name = "tidemark_documents_watch_changes_total",
       .help = "Documents that other programs changed in the folder, carried over to the cache."});
  failures_ = &parts.metrics->AddCounter(
      {.name = "tidemark_documents_watch_failures_total",
       .help = "Times that changes of other programs were not noticed or not carried over."});
  overflows_ = &parts.metrics->AddCounter(
      {.name = "tidemark_documents_watch_overflows_total",
       .help = "Times that all documents were looked at because changes had been missed."});
}

DocumentsWatch::~DocumentsWatch() { Stop(); }

void DocumentsWatch::Run() {
  thread_ = std::thread([this] { Work(); });
}

void DocumentsWatch::Stop() {
  stopped_.request_stop();
  parts_.watcher->Stop();
  if (thread_.joinable()) thread_.join();
}

void DocumentsWatch::Work() {
  while (!stopped_.stop_requested()) {
    auto news = parts_.watcher->Wait(Patience());
    if (!news) {
      Fail("changes of other programs are not noticed any more: start again, or run fsck",
           news.error().message);
      return;
    }
    Take(*std::move(news));
    if (parts_.clock->Monotonic() >= rests_until_) due_.merge(failed_);
    if (!due_.empty()) {
      CarryOver();
    } else if (all_due_ && parts_.clock->Monotonic() >= rests_until_) {
      LookAtAll();
    }
  }
}

std::chrono::milliseconds DocumentsWatch::Patience() const {
  if (!due_.empty()) return std::chrono::milliseconds(0);
  if (failed_.empty() && !all_due_) return kIdle;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(rests_until_ - parts_.clock->Monotonic());
  return std::max(left, std::chrono::milliseconds(0));
}

void DocumentsWatch::Take(objects::News news) {
  due_.insert(news.keys.begin(), news.keys.end());
  for (const std::string& problem : news.problems) {
    Fail("changes of other programs are not noticed everywhere", problem);
  }
  if (!news.all) return;
  if (overflows_) overflows_->Add();
  // From the beginning, also when one is under way: what it has passed may have changed.
  all_due_ = true;
  checked_to_.clear();
}

void DocumentsWatch::CarryOver() {
  std::vector<std::string> batch;
  while (!due_.empty() && batch.size() < kBatch) {
    batch.push_back(std::move(due_.extract(due_.begin()).value()));
  }
  const Context context = parts_.documents->NewContext(stopped_.get_token());
  const documents::EventReport report =
      parts_.documents->HandleEvents(context, NotificationOf(bucket_, batch));
  for (const documents::RecordReport& record : report.records) {
    if (record.fate == documents::RecordFate::kSynced && changes_) changes_->Add();
    if (record.fate != documents::RecordFate::kFailed) continue;
    failed_.insert(record.key);
    Fail("a document that another program changed is tried again", record.why);
  }
  if (report.retry) Rest();
}

void DocumentsWatch::LookAtAll() {
  const Context context{.deadline = Deadline::After(*parts_.clock, kSlice),
                        .stop = stopped_.get_token()};
  const auto report = parts_.documents->Fsck(context, {.after = checked_to_}, {});
  if (!report) {
    Fail("the look at all documents is tried again", report.error().message);
    Rest();
    return;
  }
  checked_to_ = report->last_key;
  all_due_ = !report->finished;
}

void DocumentsWatch::Rest() { rests_until_ = parts_.clock->Monotonic() + kRest; }

void DocumentsWatch::Fail(std::string_view message, std::string_view error) {
  if (failures_) failures_->Add();
  if (parts_.logger) parts_.logger->Log(LogLevel::kWarning, message, {{"error", error}});
}

}  // namespace tidemark::api
