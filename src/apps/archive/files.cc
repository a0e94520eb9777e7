#include "apps/archive/files.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "apps/archive/file_fetcher.h"
#include "apps/archive/file_updates.h"

namespace tidemark::archive {

namespace {

// Fetches read at once, and the time after which a step begins no other.
constexpr uint32_t kPage = 16;
constexpr std::chrono::seconds kLongestStep(10);
constexpr size_t kMaxErrorBytes = 2'000;
constexpr int64_t kMaxDoublings = 9;

bool IsFileId(std::string_view id) {
  return id.size() >= slack::kMinIdLength && id.size() <= slack::kMaxIdLength &&
         id.starts_with('F') && std::ranges::all_of(id, [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

class FileMetrics {
 public:
  explicit FileMetrics(Metrics* metrics)
      : stored(Add(metrics, "stored")),
        present(Add(metrics, "present")),
        skipped(Add(metrics, "skipped")),
        failed(Add(metrics, "failed")),
        retried(Add(metrics, "retried")),
        bytes(metrics->AddCounter({.name = "tidemark_archive_files_bytes_total",
                                   .help = "Bytes of the files that were stored."})),
        backlog(metrics->AddGauge({.name = "tidemark_archive_files_backlog",
                                   .help = "Messages whose files are to be fetched."})) {}

 private:
  static Counter& Add(Metrics* metrics, const char* result) {
    return metrics->AddCounter({.name = "tidemark_archive_files_total",
                                .help = "Files of messages, by what became of them.",
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

// Of all objects of a message.
std::string ObjectPrefixOf(const Place& place, const slack::Timestamp& ts) {
  return fmt::format("slack/{}/{}/{}/", place.team.text(), place.channel.text(), ts.text());
}

// What came of one attempt at all files that a message lacks.
struct Attempt {
  std::vector<std::string> uris;  // There now.
  std::vector<std::string> failures = {};
  bool may_succeed_later = false;
  bool is_our_fault = false;
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

class Files::Worker {
 public:
  Worker(FilesOptions options, FilesParts parts)
      : options_(std::move(options)),
        parts_(std::move(parts)),
        fetcher_({.spool = options_.spool, .ask_first = options_.ask_first},
                 {.objects = parts_.objects,
                  .downloader = parts_.downloader,
                  .web_api = parts_.web_api,
                  .clock = parts_.clock}) {
    if (parts_.metrics != nullptr) metrics_.emplace(parts_.metrics);
  }

  Status Notice(const tables::StreamRecord& record) {
    if (!record.new_image || !PlaceOfMessages(TextIn(record.keys, "itemId"))) return Done{};
    if (IsOfFilesAlone(record)) return Done{};
    const auto noticed = DecodeMessage(*record.new_image);
    if (!noticed || noticed->traits.files.empty()) return Done{};
    const bool is_new = AreFilesNew(record, *noticed);
    if (is_new) CountSkipped(*noticed);
    // As it is now: the stream may be far behind, and what it tells be done.
    const auto message = TRY(Load(noticed->place, noticed->ts));
    if (!message || message->purged) return Done{};
    if (Missing(*message).empty()) return message->files_fetch_failed ? Clear(*message) : Done{};
    if (message->files_fetch_failed && !is_new) return Done{};
    return parts_.state->Schedule(
        {.place = message->place, .ts = message->ts, .due = parts_.clock->NowSeconds()},
        std::nullopt);
  }

  Status Step() {
    const auto end = parts_.clock->Monotonic() + kLongestStep;
    while (true) {
      const auto due = TRY(parts_.state->DueFetches(parts_.clock->NowSeconds(), kPage));
      for (const PendingFetch& fetch : due) {
        TRY(Try(fetch));
        if (parts_.clock->Monotonic() >= end) return ShowBacklog();
      }
      if (due.empty()) return ShowBacklog();
    }
  }

 private:
  static bool AreFilesNew(const tables::StreamRecord& record, const Message& noticed) {
    const item::Value* files = record.old_image ? record.old_image->Find("files") : nullptr;
    return files == nullptr || DecodeFiles(*files) != noticed.traits.files;
  }

  // nullopt when there is none.
  Result<std::optional<Message>> Load(const Place& place, const slack::Timestamp& ts) {
    const auto row = TRY(
        parts_.tables->Get({.table = options_.table, .key = KeyOf(MessagesOf(place), ts.text())}));
    auto message = row ? DecodeMessage(*row) : Error{};
    // A row that is none must not stop the others.
    return message ? std::optional(*std::move(message)) : std::nullopt;
  }

  std::string UriOf(const std::string& key) const {
    return fmt::format("s3://{}/{}", options_.bucket, key);
  }

  // The files that the row has no reference to.
  std::vector<FileMeta> Missing(const Message& message) const {
    std::vector<FileMeta> missing = FilesToKeep(message);
    std::erase_if(missing, [&](const FileMeta& file) {
      const auto key = ObjectKeyOf(message.place, message.ts, file.id);
      return key && std::ranges::binary_search(message.files_s3, UriOf(*key));
    });
    return missing;
  }

  Status Clear(const Message& message) {
    TRY(parts_.tables->Update(UpdateOfFiles(options_.table, message, {})));
    return Done{};
  }

  Status Try(const PendingFetch& fetch) {
    const auto message = TRY(Load(fetch.place, fetch.ts));
    // An attempt that died may have stored a file after the purge had looked for them.
    if (message && message->purged) TRY(TakeBack(*message));
    if (!message || message->purged) return parts_.state->Finish(fetch);
    const Attempt attempt = TryFiles(*message);
    // What our own store refuses is no reason to give a file up, now or at a later try.
    const int64_t attempts = fetch.attempts + (attempt.is_our_fault ? 0 : 1);
    const bool again =
        attempt.is_our_fault || (attempt.may_succeed_later && attempts < options_.max_attempts);
    const Status recorded = Record(*message, attempt, again);
    // A row that has no room for it must not stop the others.
    const bool is_refused = !recorded && recorded.error().code == ErrorCode::kInvalid;
    if (is_refused) Log(*message, recorded.error().message);
    if (!recorded && !is_refused) return recorded;
    if (!again || is_refused) return parts_.state->Finish(fetch);
    return PutOff(fetch, attempts, attempt);
  }

  Attempt TryFiles(const Message& message) {
    Attempt attempt;
    const std::vector<FileMeta> missing = Missing(message);
    if (missing.empty()) return attempt;
    const std::optional<Secret> token = parts_.token(message.place.team);
    for (const FileMeta& file : missing) {
      const auto key = ObjectKeyOf(message.place, message.ts, file.id);
      if (!key) {
        Judge(file, "", FileFailed{.reason = "its id is none"}, &attempt);
      } else if (!token) {
        Judge(file, *key, FileFailed{.reason = "there is no bot token"}, &attempt);
      } else {
        Judge(file, *key, fetcher_.Fetch(file, *key, *token), &attempt);
      }
    }
    return attempt;
  }

  void Judge(const FileMeta& file, const std::string& key, const FileOutcome& outcome,
             Attempt* attempt) {
    if (const auto* failed = std::get_if<FileFailed>(&outcome)) {
      attempt->failures.push_back(fmt::format("{}: {}", file.id, failed->reason));
      attempt->may_succeed_later |= failed->retryable;
      attempt->is_our_fault |= failed->is_ours;
      return;
    }
    if (std::holds_alternative<FileSkipped>(outcome)) {
      if (metrics_) metrics_->skipped.Add();
      return;
    }
    attempt->uris.push_back(UriOf(key));
    if (const auto* stored = std::get_if<FileStored>(&outcome)) {
      if (metrics_) metrics_->stored.Add();
      if (metrics_) metrics_->bytes.Add(static_cast<double>(stored->size));
    } else if (metrics_) {
      metrics_->present.Add();
    }
  }

  // While there is hope, what is there is told and the flag stays as it is.
  Status Record(const Message& message, const Attempt& attempt, bool again) {
    const auto failures = static_cast<double>(attempt.failures.size());
    if (metrics_) (again ? metrics_->retried : metrics_->failed).Add(failures);
    if (again && attempt.uris.empty()) return Done{};
    FilesUpdate update{.uris = attempt.uris, .error = ErrorOf(attempt.failures)};
    if (again) update.error = message.files_fetch_error;
    const auto reply = TRY(parts_.tables->Update(UpdateOfFiles(options_.table, message, update)));
    // The message was purged meanwhile, and its files with it.
    if (!reply.applied) return TakeBack(message);
    if (!again && !attempt.failures.empty()) Log(message, update.error);
    return Done{};
  }

  Status TakeBack(const Message& message) {
    return DeleteObjectsOf(*parts_.objects, message.place, message.ts);
  }

  Status PutOff(const PendingFetch& fetch, int64_t attempts, const Attempt& attempt) {
    const auto doublings = std::min(fetch.delays, kMaxDoublings);
    PendingFetch later = fetch;
    later.attempts = attempts;
    later.delays = fetch.delays + 1;
    later.due = parts_.clock->NowSeconds() + (options_.first_wait.count() << doublings);
    later.reason = ErrorOf(attempt.failures);
    return parts_.state->Schedule(later, fetch);
  }

  void CountSkipped(const Message& message) {
    const auto skipped = message.traits.files.size() - FilesToKeep(message).size();
    if (metrics_) metrics_->skipped.Add(static_cast<double>(skipped));
  }

  Status ShowBacklog() {
    if (metrics_) metrics_->backlog.Set(static_cast<double>(TRY(parts_.state->CountFetches())));
    return Done{};
  }

  void Log(const Message& message, const std::string& error) const {
    if (parts_.logger == nullptr) return;
    parts_.logger->Log(LogLevel::kWarning, "files of a message were not fetched",
                       {{"team", message.place.team.text()},
                        {"channel", message.place.channel.text()},
                        {"ts", message.ts.text()},
                        {"error", error}});
  }

  const FilesOptions options_;
  const FilesParts parts_;
  FileFetcher fetcher_;
  std::optional<FileMetrics> metrics_;
};

Files::Files(FilesOptions options, FilesParts parts)
    : worker_(std::make_unique<Worker>(std::move(options), std::move(parts))) {}

Files::~Files() = default;

Status Files::Notice(const tables::StreamRecord& record) { return worker_->Notice(record); }

Status Files::Step() { return worker_->Step(); }

}  // namespace tidemark::archive
