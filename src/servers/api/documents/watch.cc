#include "servers/api/documents/watch.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "apps/documents/notification.h"

namespace tidemark::api {

namespace {

using documents::Context;

// A small batch, so that the watcher's queue is emptied often.
constexpr size_t kBatch = 20;
constexpr std::chrono::seconds kIdle(60);
constexpr std::chrono::seconds kRetryPause(2);
// A comparison of all is interrupted this often, so that new changes do not wait for its end.
constexpr std::chrono::seconds kSlice(1);

// One event for a change of any kind. Whether the object was deleted shows when it is read.
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
    : bucket_(std::move(bucket)),
      parts_(parts),
      changes_(parts.runtime.metrics.AddCounter(
          {.name = "tidemark_documents_watch_changes_total",
           .help = "Documents that other programs changed in the folder, brought into the "
                   "cache."})),
      failures_(parts.runtime.metrics.AddCounter(
          {.name = "tidemark_documents_watch_failures_total",
           .help = "Times that changes of other programs were not noticed or not brought into the "
                   "cache."})),
      overflows_(parts.runtime.metrics.AddCounter(
          {.name = "tidemark_documents_watch_overflows_total",
           .help = "Times that all documents were checked because changes had been missed."})) {}

DocumentsWatch::~DocumentsWatch() { Stop(); }

void DocumentsWatch::Run() {
  parts_.documents->BeginComparison();
  thread_ = std::thread([this] { Work(); });
}

void DocumentsWatch::Stop() {
  stopped_.request_stop();
  if (parts_.watcher) parts_.watcher->Stop();
  if (thread_.joinable()) thread_.join();
}

void DocumentsWatch::Work() {
  while (!stopped_.stop_requested() && (parts_.watcher || all_due_)) {
    // An exception that leaves a thread ends the process. What was being handled is not known here,
    // so everything is compared again.
    try {
      if (!Step()) return;
    } catch (const std::exception& exception) {
      ReportFailure("handling changes of other programs threw: all documents are compared again",
                    exception.what());
      MakeAllDue();
      PauseRetries();
    }
  }
}

bool DocumentsWatch::Step() {
  auto news = WaitForNews();
  if (!news) {
    ReportFailure(
        "changes of other programs are not noticed any more: restart the server, or run fsck",
        news.error().message);
    return false;
  }
  Take(*std::move(news));
  if (parts_.runtime.clock.Monotonic() >= paused_until_) due_.merge(failed_);
  if (!due_.empty()) {
    ApplyBatch();
  } else if (all_due_ && parts_.runtime.clock.Monotonic() >= paused_until_) {
    CompareAll();
  }
  return true;
}

Result<objects::News> DocumentsWatch::WaitForNews() {
  if (parts_.watcher) return parts_.watcher->Wait(TimeToWait());
  parts_.runtime.sleeper.SleepUnlessStopped(TimeToWait(), stopped_.get_token());
  return objects::News{};
}

std::chrono::milliseconds DocumentsWatch::TimeToWait() const {
  if (!due_.empty()) return std::chrono::milliseconds(0);
  if (failed_.empty() && !all_due_) return kIdle;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(paused_until_ -
                                                                 parts_.runtime.clock.Monotonic());
  return std::max(left, std::chrono::milliseconds(0));
}

void DocumentsWatch::Take(objects::News news) {
  due_.insert(news.keys.begin(), news.keys.end());
  for (const std::string& problem : news.problems) {
    ReportFailure("changes of other programs are not noticed everywhere", problem);
  }
  if (!news.all) return;
  overflows_.Add();
  MakeAllDue();
}

void DocumentsWatch::MakeAllDue() {
  all_due_ = true;
  parts_.documents->BeginComparison();
}

void DocumentsWatch::ApplyBatch() {
  std::vector<std::string> batch;
  while (!due_.empty() && batch.size() < kBatch) {
    batch.push_back(std::move(due_.extract(due_.begin()).value()));
  }
  const Context context = parts_.documents->NewContext(stopped_.get_token());
  const documents::EventReport report =
      parts_.documents->HandleEvents(context, NotificationOf(bucket_, batch));
  for (const documents::RecordReport& record : report.records) {
    if (record.fate == documents::RecordFate::kSynced) changes_.Add();
    if (record.fate != documents::RecordFate::kFailed) continue;
    failed_.insert(record.key);
    ReportFailure("a document that another program changed could not be cached: it is tried again",
                  record.why);
  }
  if (report.retry) PauseRetries();
}

void DocumentsWatch::CompareAll() {
  const Context context = parts_.documents->NewContext(stopped_.get_token());
  const auto finished =
      parts_.documents->Compare(context, Deadline::After(parts_.runtime.clock, kSlice));
  if (finished) {
    all_due_ = !*finished;
  } else if (!stopped_.stop_requested()) {
    ReportFailure("the comparison of all documents failed: it is tried again",
                  finished.error().message);
    PauseRetries();
  }
}

void DocumentsWatch::PauseRetries() {
  paused_until_ = parts_.runtime.clock.Monotonic() + kRetryPause;
}

void DocumentsWatch::ReportFailure(std::string_view message, std::string_view error) {
  failures_.Add();
  parts_.runtime.logger.Log(LogLevel::kWarning, message, {{"error", error}});
}

}  // namespace tidemark::api
