#include "apps/documents/fallback_reader.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/limits.h"
#include "base/shared_flights.h"

namespace tidemark::documents {

namespace {

using MaybeReply = std::optional<ReadReply>;

// The object store could not be asked. To the caller it does not matter why; it must only never
// look like "there is no such document".
Error AsUnavailable(Error error) {
  if (IsRetryable(error.code) && error.code != ErrorCode::kCancelled) {
    error.code = ErrorCode::kUnavailable;
  }
  return error;
}

Error TooMuchWaiting() {
  return {ErrorCode::kUnavailable, "too many documents wait to be read: try again later"};
}

// What a reply tells about the operation that ended with it.
void Describe(const Result<MaybeReply>& reply, Operation& operation) {
  operation.found = !reply || reply->has_value();
  const bool is_hit = reply && *reply && (*reply)->source == ReadSource::kCache;
  operation.cache = is_hit ? CacheResult::kHit : CacheResult::kMiss;
}

Error NotADocument(const std::string& id, const std::string& why) {
  return {ErrorCode::kNotFound, fmt::format("the object of '{}' is not a document: {}", id, why)};
}

// Ids that neither store had, for a while. An entry counts only while the row has the revision that
// it had when the entry was made: a row that appears or changes makes it void.
class AbsentIds {
 public:
  explicit AbsentIds(std::chrono::milliseconds life) : life_(life) {}

  bool Contains(const std::string& id, const std::string& revision, std::chrono::nanoseconds now) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return false;
    if (found->second.revision == revision && now < found->second.until) return true;
    entries_.erase(found);
    return false;
  }
  void Add(const std::string& id, const std::string& revision, std::chrono::nanoseconds now) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= kMaxNegativeEntries) {
      std::erase_if(entries_, [&](const auto& entry) { return entry.second.until <= now; });
    }
    // Still full: other ids are not remembered, and the object store is asked for them each time.
    if (entries_.size() >= kMaxNegativeEntries) return;
    entries_.insert_or_assign(id, Entry{revision, now + life_});
  }

 private:
  struct Entry {
    std::string revision;
    std::chrono::nanoseconds until;
  };

  const std::chrono::milliseconds life_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

std::string RevisionOf(const std::optional<Row>& row) { return row ? row->revision : ""; }

}  // namespace

class FallbackReader::Impl {
 public:
  Impl(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
       Synchronizer* synchronizer, const Observer* observer)
      : options_(options),
        rows_(*rows),
        store_(*store),
        synchronizer_(*synchronizer),
        observer_(*observer),
        absent_(std::min(options.negative_life, kLongestNegativeLife)) {}

  Later<MaybeReply> GetLater(const Context& context, const std::string& id,
                             const RunElsewhere& run) {
    TRY(ValidateId(id));
    if (!options_.enabled) return ReadObject(context, id);
    Result<std::optional<Row>> row = rows_.Load(context, id);
    if (row && MayBeServed(*row)) return MaybeReply(ReplyFrom(**std::move(row)));
    if (row && absent_.Contains(id, RevisionOf(*row), Monotonic())) return MaybeReply();
    Read read = [this, context, id] { return Fill(context, id); };
    if (!row) {
      read = [this, context, id, why = row.error()] { return ReadPastCache(context, id, why); };
    }
    return Share(std::make_shared<const Sharing>(Sharing{context, id, std::move(read), run}),
                 Turn::kFirst);
  }

 private:
  using Read = std::function<Result<MaybeReply>()>;
  struct Sharing {
    Context context;
    std::string id;
    Read read;
    RunElsewhere run;
  };
  enum class Turn { kFirst, kLater };

  // One caller reads for all. A read that was already running when this caller came may be older
  // than a write that was answered before. So this caller waits for it and takes the next one,
  // which began after the caller asked. When the reading caller gives up, the others read again.
  Later<MaybeReply> Share(const std::shared_ptr<const Sharing>& sharing, Turn turn) {
    // A read of a later turn began after the caller asked, and so does one that starts now.
    const auto is_fresh = std::make_shared<bool>(turn == Turn::kLater);
    const auto start = [&] {
      *is_fresh = true;
      const bool is_taken =
          sharing->run([this, sharing] { flights_.Land(sharing->id, sharing->read()); });
      if (!is_taken) flights_.Land(sharing->id, TooMuchWaiting());
    };
    return flights_.Join(sharing->id, start)
        .Then([this, sharing, is_fresh](Result<MaybeReply> reply) -> Later<MaybeReply> {
          const bool given_up = !reply && reply.error().code == ErrorCode::kCancelled;
          if (*is_fresh && (!given_up || sharing->context.IsOver())) return reply;
          return Share(sharing, Turn::kLater);
        });
  }

  // A row whose writer must have given up may be older than its object, and so may every row while
  // changes of objects may have gone unnoticed.
  bool MayBeServed(const std::optional<Row>& row) const {
    const bool is_in_doubt =
        row && row->intent && IsStale(*row->intent, observer_.clock().Now(), options_);
    return rows_.AreTrusted() && HasDocument(row) && !is_in_doubt;
  }
  bool HasDocument(const std::optional<Row>& row) const {
    return row && IsServable(*row, observer_.clock().NowSeconds()) && row->committed->document;
  }

  ReadReply ReplyFrom(Row row) const {
    return {.document = *std::move(row.committed->document),
            .etag = std::move(row.committed->etag),
            .source = ReadSource::kCache,
            .age = std::max(observer_.clock().Now() - row.verified, std::chrono::milliseconds(0))};
  }

  Result<MaybeReply> Fill(const Context& context, const std::string& id) {
    // Another caller may have filled the row between our miss and our turn.
    Result<std::optional<Row>> row = rows_.Load(context, id);
    if (!row) return ReadPastCache(context, id, row.error());
    if (MayBeServed(*row)) return MaybeReply(ReplyFrom(**std::move(row)));
    Result<SyncReply> synced = synchronizer_.SyncFrom(context, {.id = id, .fill = true}, *row);
    if (!synced && HasDocument(*row)) {
      observer_.Warn("a write that its writer left could not be settled", id,
                     synced.error().message);
      return MaybeReply(ReplyFrom(**std::move(row)));
    }
    if (!synced) return AsUnavailable(std::move(synced).error());
    if (synced->document) {
      return MaybeReply(ReadReply{.document = *std::move(synced->document),
                                  .etag = synced->etag.value_or(""),
                                  .source = ReadSource::kObject});
    }
    if (!synced->invalid.empty()) return NotADocument(id, synced->invalid);
    // Not after any other outcome: the row has changed, or a write is under way.
    if (synced->outcome == SyncOutcome::kAbsent || synced->outcome == SyncOutcome::kUnchanged) {
      absent_.Add(id, RevisionOf(*row), Monotonic());
    }
    return MaybeReply();
  }

  // The table could not be asked, so only the object store is.
  Result<MaybeReply> ReadPastCache(const Context& context, const std::string& id,
                                   const Error& why) {
    if (context.IsOver()) return why;
    observer_.Warn("the cache is not available: reading the object", id, why.message);
    Result<MaybeReply> read = ReadObject(context, id);
    const bool both_failed = !read && read.error().code != ErrorCode::kCancelled &&
                             read.error().code != ErrorCode::kNotFound;
    return both_failed ? CombineErrors(why, read.error()) : std::move(read);
  }

  Result<MaybeReply> ReadObject(const Context& context, const std::string& id) {
    Result<std::optional<StoredDocument>> stored = store_.Read(context, id);
    if (!stored) return AsUnavailable(std::move(stored).error());
    if (!*stored) return MaybeReply();
    const std::string etag = (*stored)->state.etag;
    Result<Document> document = ParseObject(id, **std::move(stored));
    if (!document) return NotADocument(id, document.error().message);
    return MaybeReply(
        ReadReply{.document = *std::move(document), .etag = etag, .source = ReadSource::kObject});
  }

  std::chrono::nanoseconds Monotonic() const { return observer_.clock().Monotonic(); }

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
  AbsentIds absent_;
  SharedFlights<MaybeReply> flights_;
};

FallbackReader::FallbackReader(const DocumentsOptions& options, RowStore* rows,
                               DocumentStore* store, Synchronizer* synchronizer,
                               const Observer* observer)
    : observer_(*observer),
      impl_(std::make_unique<Impl>(options, rows, store, synchronizer, observer)) {}

FallbackReader::~FallbackReader() = default;

Later<std::optional<ReadReply>> FallbackReader::GetLater(const Context& context,
                                                         const std::string& id,
                                                         const RunElsewhere& run) {
  const auto tally = std::make_shared<Tally>();
  Context counted = context;
  counted.tally = tally.get();
  const auto start = observer_.clock().Monotonic();
  // The work keeps the tally, which it counts in.
  const auto run_counted = [run, tally](std::function<void()> work) {
    return run([work = std::move(work), tally] { work(); });
  };
  return impl_->GetLater(counted, id, run_counted)
      .Then([this, id, tally, start](Result<MaybeReply> reply) {
        Operation operation{.name = "read",
                            .key = id,
                            .duration = observer_.clock().Monotonic() - start,
                            .error = reply ? nullptr : &reply.error(),
                            .retries = tally->retries,
                            .throttled = tally->throttled};
        Describe(reply, operation);
        observer_.Record(operation);
        return reply;
      });
}

}  // namespace tidemark::documents
