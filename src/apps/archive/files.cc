#include "apps/archive/files.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <set>
#include <stop_token>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "apps/archive/file_fetcher.h"
#include "base/worker_pool.h"

namespace tidemark::archive {

namespace {

constexpr char kStored[] = "files_s3";
constexpr char kFailed[] = "files_fetch_failed";
constexpr char kError[] = "files_fetch_error";
constexpr char kInfo[] = "files_info";
constexpr std::string_view kOwnAttributes[] = {kStored, kFailed, kError, kInfo};

item::Item WithoutOwn(item::Item row) {
  for (const std::string_view name : kOwnAttributes) row.Erase(name);
  return row;
}

}  // namespace

tables::UpdateRequest UpdateOfFiles(const std::string& table, const Message& message,
                                    const FilesUpdate& update) {
  tables::UpdateRequest request{
      .table = table,
      .key = KeyOf(MessagesOf(message.place), message.ts.text()),
      .condition = "attribute_exists(#id) AND attribute_not_exists(#purged)",
      .names = {
          {"#id", "itemId"}, {"#purged", "purged"}, {"#failed", kFailed}, {"#error", kError}}};
  if (update.error.empty()) {
    request.update = "REMOVE #failed, #error";
  } else {
    request.update = "SET #failed = :true, #error = :error";
    request.values = {{":true", true}, {":error", update.error}};
  }
  if (!update.info.empty()) {
    *request.update += update.error.empty() ? " SET #info = :info" : ", #info = :info";
    request.names["#info"] = kInfo;
    request.values[":info"] = EncodeFiles(update.info);
  }
  // A set, so that adding a URI twice changes nothing.
  if (!update.uris.empty()) {
    *request.update += " ADD #stored :uris";
    request.names["#stored"] = kStored;
    request.values[":uris"] = item::StringSet(update.uris);
  }
  return request;
}

Result<bool> AskForFilesAgain(tables::Tables& tables, const std::string& table, const Place& place,
                              const slack::Timestamp& ts) {
  const auto reply = TRY(tables.Update({.table = table,
                                        .key = KeyOf(MessagesOf(place), ts.text()),
                                        .update = "REMOVE #failed, #error",
                                        .condition = "attribute_exists(#failed)",
                                        .names = {{"#failed", kFailed}, {"#error", kError}}}));
  return reply.applied;
}

// The stream shows the update of files_s3 too. Without this check every update would cause another
// look at the message, for ever.
bool IsOfFilesAlone(const tables::StreamRecord& record) {
  if (!record.old_image || !record.new_image) return false;
  const bool is_flag_gone =
      record.old_image->Contains(kFailed) && !record.new_image->Contains(kFailed);
  return !is_flag_gone && WithoutOwn(*record.old_image) == WithoutOwn(*record.new_image);
}

namespace {

// How many fetches are read at once, and the time after which a step starts no further one.
constexpr uint32_t kFetchPage = 16;
constexpr std::chrono::seconds kLongestStep(10);
constexpr size_t kMaxErrorBytes = 2'000;
constexpr int64_t kMaxDoublings = 12;  // The longest wait is 4,096 times the first.
// How long a step waits for a free thread. Then it leaves the rest to the next step.
constexpr std::chrono::milliseconds kLongestWaitForThread(200);

bool IsFileId(std::string_view id) {
  return id.size() >= slack::kMinIdLength && id.size() <= slack::kMaxIdLength &&
         id.starts_with('F') && std::ranges::all_of(id, [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

class FileMetrics {
 public:
  explicit FileMetrics(Metrics& metrics)
      : stored(Add(metrics, "stored")),
        present(Add(metrics, "present")),
        skipped(Add(metrics, "skipped")),
        failed(Add(metrics, "failed")),
        retried(Add(metrics, "retried")),
        bytes(metrics.AddCounter({.name = "tidemark_archive_files_bytes_total",
                                  .help = "Bytes of the files that were stored."})),
        backlog(metrics.AddGauge({.name = "tidemark_archive_files_backlog",
                                  .help = "Messages whose files must still be fetched."})) {}

 private:
  static Counter& Add(Metrics& metrics, const char* result) {
    return metrics.AddCounter({.name = "tidemark_archive_files_total",
                               .help = "Files of messages, by result.",
                               .labels = {{"result", result}}});
  }

 public:
  Counter& stored;
  Counter& present;
  Counter& skipped;
  Counter& failed;
  Counter& retried;
  Counter& bytes;
  Gauge& backlog;
};

// The prefix of all objects of a message.
std::string ObjectPrefixOf(const Place& place, const slack::Timestamp& ts) {
  return fmt::format("slack/{}/{}/{}/", place.team.text(), place.channel.text(), ts.text());
}

// The result of one attempt to fetch all missing files of a message.
struct FetchAttempt {
  std::vector<std::string> uris;    // Stored now.
  std::vector<FileMeta> info = {};  // What files.info says of stubs.
  std::vector<std::string> failures = {};
  bool may_succeed_later = false;
  bool is_our_fault = false;
  std::chrono::seconds retry_after = std::chrono::seconds(0);  // The longest that Slack asks for.
};

std::string ErrorOf(const std::vector<std::string>& failures) {
  std::string text = fmt::format("{}", fmt::join(failures, "; "));
  if (text.size() <= kMaxErrorBytes) return text;
  return fmt::format("{} files could not be fetched; the first: {}", failures.size(),
                     failures.front());
}

}  // namespace

Result<std::string> ObjectKeyOf(const Place& place, const slack::Timestamp& ts,
                                const std::string& file) {
  if (!IsFileId(file)) return Invalid("This is not the id of a file: F and letters and digits.");
  return ObjectPrefixOf(place, ts) + file;
}

std::string RawEventKeyOf(const Place& place, const slack::Timestamp& ts, const Body& body) {
  return fmt::format("{}raw-{}-{}.json", ObjectPrefixOf(place, ts), body.version.text(),
                     body.event_ts.text());
}

Status DeleteObjectsOf(objects::Objects& objects, const Place& place, const slack::Timestamp& ts) {
  objects::ListRequest request{.prefix = ObjectPrefixOf(place, ts)};
  bool more = true;
  while (more) {
    const objects::ListReply reply = TRY(objects.List(request));
    for (const objects::ObjectInfo& object : reply.objects) {
      TRY(objects.Delete({.key = object.key}));
      request.after = object.key;
    }
    more = reply.more;
  }
  return Done{};
}

std::vector<FileMeta> FilesToKeep(const Message& message) {
  std::vector<FileMeta> kept;
  std::ranges::copy_if(message.traits.files, std::back_inserter(kept), IsKept);
  return kept;
}

namespace {

std::vector<FileMeta> JoinInfo(std::vector<FileMeta> known, const std::vector<FileMeta>& told) {
  for (const FileMeta& file : told) {
    std::erase_if(known, [&](const FileMeta& one) { return one.id == file.id; });
    known.push_back(file);
  }
  std::ranges::sort(known);
  return known;
}

}  // namespace

class Files::Worker {
 public:
  Worker(FilesOptions options, FilesParts parts)
      : options_(std::move(options)),
        parts_(std::move(parts)),
        fetcher_({.spool = options_.spool,
                  .ask_first = options_.ask_first,
                  .min_free_bytes = options_.min_free_bytes},
                 {.objects = parts_.objects,
                  .downloader = parts_.downloader,
                  .web_api = parts_.web_api,
                  .clock = &parts_.runtime.clock}),
        metrics_(parts_.runtime.metrics) {
    if (options_.parallel <= 1) return;
    threads_.emplace(
        WorkerPoolOptions{.threads = options_.parallel, .max_waiting = options_.parallel});
  }

  // Only puts the message into the queue. Downloads take long, and the stream keeps records for a
  // limited time.
  Status Notice(const tables::StreamRecord& record) {
    if (!record.new_image || !PlaceOfMessages(TextIn(record.keys, "itemId"))) return Done{};
    if (IsOfFilesAlone(record)) return Done{};
    const auto noticed = DecodeMessage(*record.new_image);
    if (!noticed || noticed->traits.files.empty()) return Done{};
    const bool is_new = AreFilesNew(record, *noticed);
    if (is_new) CountSkipped(*noticed);
    // Read the message as it is now: the stream may be far behind, and the files already stored.
    const auto message = TRY(Load(noticed->place, noticed->ts));
    if (!message || message->purged) return Done{};
    if (Missing(*message).empty())
      return message->files_fetch_failed ? ClearFlag(*message) : Done{};
    if (message->files_fetch_failed && !is_new) return Done{};
    return parts_.state->Schedule(
        {.place = message->place, .ts = message->ts, .due = parts_.runtime.clock.NowSeconds()},
        std::nullopt);
  }

  Status Step() {
    const auto end = parts_.runtime.clock.Monotonic() + kLongestStep;
    while (true) {
      const auto due = TRY(FindStartable());
      for (const PendingFetch& fetch : due) {
        if (IsStopping() || !TRY(Start(fetch))) return UpdateBacklog();
        if (parts_.runtime.clock.Monotonic() >= end) return UpdateBacklog();
      }
      if (due.empty()) return UpdateBacklog();
    }
  }

  void Wait() {
    std::unique_lock lock(mutex_);
    thread_is_free_.wait(lock, [this] { return running_.empty(); });
  }

  void Stop() { stop_.request_stop(); }

 private:
  using MessageKey = std::pair<Place, slack::Timestamp>;
  static MessageKey KeyOfMessage(const PendingFetch& fetch) { return {fetch.place, fetch.ts}; }

  bool IsStopping() const { return stop_.stop_requested(); }

  // What is due and not being worked on. Fails with what failed on another thread.
  Result<std::vector<PendingFetch>> FindStartable() {
    auto due = TRY(parts_.state->DueFetches(parts_.runtime.clock.NowSeconds(),
                                            kFetchPage + static_cast<uint32_t>(options_.parallel)));
    const std::lock_guard lock(mutex_);
    if (failure_) return *std::exchange(failure_, std::nullopt);
    std::erase_if(due,
                  [this](const auto& fetch) { return running_.contains(KeyOfMessage(fetch)); });
    return due;
  }

  // Works on the fetch, or lets a thread do it. False: all threads are busy.
  Result<bool> Start(const PendingFetch& fetch) {
    if (!threads_) {
      TRY(FetchFiles(fetch));
      return true;
    }
    {
      std::unique_lock lock(mutex_);
      const auto is_free = [this] { return running_.size() < options_.parallel; };
      if (!thread_is_free_.wait_for(lock, kLongestWaitForThread, is_free)) return false;
      // The same message may be due twice.
      if (!running_.insert(KeyOfMessage(fetch)).second) return true;
    }
    const bool started = threads_->Submit([this, fetch] { End(fetch, FetchFiles(fetch)); });
    if (!started) End(fetch, Done{});
    return started;
  }

  void End(const PendingFetch& fetch, const Status& status) {
    {
      const std::lock_guard lock(mutex_);
      running_.erase(KeyOfMessage(fetch));
      if (!status) failure_ = status.error();
    }
    thread_is_free_.notify_all();
  }

  static bool AreFilesNew(const tables::StreamRecord& record, const Message& noticed) {
    const item::Value* files = record.old_image ? record.old_image->Find("files") : nullptr;
    return files == nullptr || !AreSameFiles(DecodeFiles(*files), noticed.traits.files);
  }

  // nullopt when there is no such message.
  Result<std::optional<Message>> Load(const Place& place, const slack::Timestamp& ts) {
    const auto row = TRY(
        parts_.tables->Get({.table = options_.table, .key = KeyOf(MessagesOf(place), ts.text())}));
    auto message = row ? DecodeMessage(*row) : Error{};
    // A damaged row counts as absent: it must not hold up other messages.
    return message ? std::optional(*std::move(message)) : std::nullopt;
  }

  std::string UriOf(const std::string& key) const {
    return fmt::format("s3://{}/{}", options_.bucket, key);
  }

  // The files that should be stored and are not in files_s3.
  std::vector<FileMeta> Missing(const Message& message) const {
    std::vector<FileMeta> missing = FilesToKeep(message);
    std::erase_if(missing, [&](const FileMeta& file) {
      const auto key = ObjectKeyOf(message.place, message.ts, file.id);
      return key && std::ranges::binary_search(message.files_s3, UriOf(*key));
    });
    return missing;
  }

  Status ClearFlag(const Message& message) {
    TRY(parts_.tables->Update(UpdateOfFiles(options_.table, message, {})));
    return ForgetFailure(message);
  }

  Status ForgetFailure(const Message& message) {
    if (!message.files_fetch_failed) return Done{};
    return parts_.state->RemoveFailed({.place = message.place, .ts = message.ts});
  }

  Status FetchFiles(const PendingFetch& fetch) {
    const auto message = TRY(Load(fetch.place, fetch.ts));
    // A process that died may have stored a file after the purge deleted the objects.
    if (message && message->purged) TRY(DeleteObjects(*message));
    if (!message || message->purged) return parts_.state->Finish(fetch);
    const FetchAttempt attempt = FetchMissing(*message);
    if (IsStopping()) return RecordAttempt(*message, attempt, /*again=*/true);
    // A failure of our own store does not count as an attempt, so it never makes us give up a file.
    const int64_t attempts = fetch.attempts + (attempt.is_our_fault ? 0 : 1);
    const bool again =
        attempt.is_our_fault || (attempt.may_succeed_later && attempts < options_.max_attempts);
    const Status recorded = RecordAttempt(*message, attempt, again);
    // A row without room for the URIs must not hold up other messages.
    const bool is_refused = !recorded && recorded.error().code == ErrorCode::kInvalid;
    if (is_refused) Log(*message, recorded.error().message);
    if (!recorded && !is_refused) return recorded;
    if (!again || is_refused) return parts_.state->Finish(fetch);
    return Postpone(fetch, attempts, attempt);
  }

  FetchAttempt FetchMissing(const Message& message) {
    FetchAttempt attempt;
    const std::vector<FileMeta> missing = Missing(message);
    if (missing.empty()) return attempt;
    const std::optional<Secret> token = parts_.token(message.place.team);
    for (const FileMeta& file : missing) {
      if (IsStopping()) break;
      const auto key = ObjectKeyOf(message.place, message.ts, file.id);
      if (!key) {
        AddOutcome(file, "", FileFailed{.reason = "its id is not a valid file id"}, &attempt);
      } else if (!token) {
        AddOutcome(file, *key, FileFailed{.reason = "there is no bot token"}, &attempt);
      } else {
        AddOutcome(file, *key, fetcher_.Fetch(file, *key, *token, stop_.get_token()), &attempt);
      }
    }
    return attempt;
  }

  void AddOutcome(const FileMeta& file, const std::string& key, const FileOutcome& outcome,
                  FetchAttempt* attempt) {
    if (const auto* failed = std::get_if<FileFailed>(&outcome)) {
      attempt->failures.push_back(fmt::format("{}: {}", file.id, failed->reason));
      attempt->may_succeed_later |= failed->retryable;
      attempt->is_our_fault |= failed->is_ours;
      attempt->retry_after = std::max(attempt->retry_after, failed->retry_after);
      return;
    }
    if (std::holds_alternative<FileSkipped>(outcome)) {
      metrics_.skipped.Add();
      return;
    }
    attempt->uris.push_back(UriOf(key));
    const auto* const stored = std::get_if<FileStored>(&outcome);
    const auto& info = stored ? stored->info : std::get<FilePresent>(outcome).info;
    if (info) attempt->info.push_back(*info);
    if (stored) {
      metrics_.stored.Add();
      metrics_.bytes.Add(static_cast<double>(stored->size));
    } else {
      metrics_.present.Add();
    }
  }

  // Between attempts the stored files are recorded and the flag stays as it is.
  Status RecordAttempt(const Message& message, const FetchAttempt& attempt, bool again) {
    const auto failures = static_cast<double>(attempt.failures.size());
    (again ? metrics_.retried : metrics_.failed).Add(failures);
    if (again && attempt.uris.empty()) return Done{};
    FilesUpdate update{.uris = attempt.uris, .error = ErrorOf(attempt.failures)};
    if (again) update.error = message.files_fetch_error;
    if (!attempt.info.empty()) update.info = JoinInfo(message.files_info, attempt.info);
    const auto reply = TRY(parts_.tables->Update(UpdateOfFiles(options_.table, message, update)));
    // The message was purged in the meantime: delete what was just stored.
    if (!reply.applied) return DeleteObjects(message);
    if (again) return Done{};
    if (attempt.failures.empty()) return ForgetFailure(message);
    Log(message, update.error);
    return parts_.state->AddFailed({.place = message.place, .ts = message.ts});
  }

  Status DeleteObjects(const Message& message) {
    return DeleteObjectsOf(*parts_.objects, message.place, message.ts);
  }

  Status Postpone(const PendingFetch& fetch, int64_t attempts, const FetchAttempt& attempt) {
    const auto doublings = std::min(fetch.delays, kMaxDoublings);
    PendingFetch later = fetch;
    later.attempts = attempts;
    later.delays = fetch.delays + 1;
    later.due =
        parts_.runtime.clock.NowSeconds() +
        std::max(options_.first_wait * (int64_t{1} << doublings), attempt.retry_after).count();
    later.reason = ErrorOf(attempt.failures);
    return parts_.state->Schedule(later, fetch);
  }

  void CountSkipped(const Message& message) {
    const auto skipped = message.traits.files.size() - FilesToKeep(message).size();
    metrics_.skipped.Add(static_cast<double>(skipped));
  }

  Status UpdateBacklog() {
    metrics_.backlog.Set(static_cast<double>(TRY(parts_.state->CountFetches())));
    return Done{};
  }

  void Log(const Message& message, const std::string& error) const {
    parts_.runtime.logger.Log(LogLevel::kWarning, "files of a message were not fetched",
                              {{"team", message.place.team.text()},
                               {"channel", message.place.channel.text()},
                               {"ts", message.ts.text()},
                               {"error", error}});
  }

  const FilesOptions options_;
  const FilesParts parts_;
  FileFetcher fetcher_;
  const FileMetrics metrics_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable thread_is_free_;
  std::set<MessageKey> running_;
  std::optional<Error> failure_;
  // Last: its threads use the members above. Empty when Step does the work itself.
  std::optional<WorkerPool> threads_;
};

Files::Files(FilesOptions options, FilesParts parts)
    : worker_(std::make_unique<Worker>(std::move(options), std::move(parts))) {}

Files::~Files() { worker_->Stop(); }

Status Files::Notice(const tables::StreamRecord& record) { return worker_->Notice(record); }

Status Files::Step() { return worker_->Step(); }

void Files::Wait() { worker_->Wait(); }

void Files::Stop() { worker_->Stop(); }

}  // namespace tidemark::archive
