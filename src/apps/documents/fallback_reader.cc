#include "apps/documents/fallback_reader.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/limits.h"
#include "base/single_flight.h"

namespace tidemark::documents {

namespace {

CacheError NoSuchDocument(const std::string& id) {
  return NotFound(fmt::format("there is no document '{}'", id));
}

// That the object store could not be asked is never "there is none".
CacheError Unavailable(CacheError error) {
  if (error.type != CacheErrorType::kCancelled && error.type != CacheErrorType::kNotFound) {
    error.type = CacheErrorType::kUnavailable;
  }
  return error;
}

// Ids that nobody has, for a while. An entry counts only while the row is the one that was there
// when it was made, or there is none still.
class NegativeEntries {
 public:
  explicit NegativeEntries(std::chrono::milliseconds life) : life_(life) {}

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
    // Full of ids that were asked for a moment ago: the object store is asked for the others.
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
        negatives_(std::min(options.negative_life, kLongestNegativeLife)) {}

  Outcome<ReadReply> Get(const Context& context, const std::string& id) {
    if (Status valid = ValidateId(id); !valid) return Refused(valid.error());
    if (!options_.enabled) return ReadObject(context, id);
    Outcome<std::optional<Row>> loaded = rows_.Load(context, id);
    if (!loaded) return Share(context, id, [&] { return ReadPast(context, id, loaded.error()); });
    if (MayBeServed(*loaded)) return FromRow(**std::move(loaded));
    if (negatives_.Contains(id, RevisionOf(*loaded), Monotonic())) return NoSuchDocument(id);
    return Share(context, id, [&] { return Fill(context, id); });
  }

 private:
  // One reads for all. A read that was under way when we came may be older than a write that was
  // answered by then: it is waited for, and whatever read comes next began after us. Whose reader
  // gave up reads for itself.
  Outcome<ReadReply> Share(const Context& context, const std::string& id,
                           const std::function<Outcome<ReadReply>()>& read) {
    bool began_after_us = false;
    while (true) {
      Outcome<ReadReply> reply = flights_.Do(id, [&] {
        began_after_us = true;
        return read();
      });
      const bool given_up = !reply && reply.error().type == CacheErrorType::kCancelled;
      if (began_after_us && (!given_up || context.IsOver())) return reply;
      began_after_us = true;
    }
  }

  // A row whose write was left long ago may be older than its object.
  bool MayBeServed(const std::optional<Row>& row) const {
    const bool is_in_doubt =
        row && row->intent && IsStale(*row->intent, observer_.clock().Now(), options_);
    return HasDocument(row) && !is_in_doubt;
  }
  bool HasDocument(const std::optional<Row>& row) const {
    return row && IsServable(*row, observer_.clock().NowSeconds()) && row->committed->document;
  }

  ReadReply FromRow(Row row) const {
    return {.document = *std::move(row.committed->document),
            .etag = std::move(row.committed->etag),
            .source = ReadSource::kCache,
            .age = std::max(observer_.clock().Now() - row.verified, std::chrono::milliseconds(0))};
  }

  Outcome<ReadReply> Fill(const Context& context, const std::string& id) {
    // Somebody may have filled it between our miss and our turn.
    Outcome<std::optional<Row>> loaded = rows_.Load(context, id);
    if (!loaded) return ReadPast(context, id, loaded.error());
    if (MayBeServed(*loaded)) return FromRow(**std::move(loaded));
    Outcome<SyncReply> synced = synchronizer_.SyncFrom(context, {.id = id, .fill = true}, *loaded);
    if (!synced && HasDocument(*loaded)) {
      observer_.Warn("a write that was left could not be settled", id, synced.error().message);
      return FromRow(**std::move(loaded));
    }
    if (!synced) return Unavailable(std::move(synced).error());
    if (synced->document) {
      return ReadReply{.document = std::move(synced->document->document),
                       .etag = std::move(synced->document->etag),
                       .source = ReadSource::kObject};
    }
    if (!synced->invalid.empty()) return Unreadable(id, synced->invalid);
    const bool is_settled =
        synced->outcome == SyncOutcome::kAbsent || synced->outcome == SyncOutcome::kUnchanged;
    if (is_settled) negatives_.Add(id, RevisionOf(*loaded), Monotonic());
    return NoSuchDocument(id);
  }

  // Without the table.
  Outcome<ReadReply> ReadPast(const Context& context, const std::string& id,
                              const CacheError& why) {
    if (context.IsOver()) return why;
    observer_.Warn("the cache is away: the object is read", id, why.message);
    Outcome<ReadReply> read = ReadObject(context, id);
    const bool both = !read && read.error().type == CacheErrorType::kUnavailable;
    return both ? Both(why, std::move(read).error()) : std::move(read);
  }

  Outcome<ReadReply> ReadObject(const Context& context, const std::string& id) {
    Outcome<std::optional<StoredDocument>> stored = store_.Read(context, id);
    if (!stored) return Unavailable(std::move(stored).error());
    if (!*stored) return NoSuchDocument(id);
    Result<Document> document = ParseObject(id, std::move((*stored)->json));
    if (!document) return Unreadable(id, document.error().message);
    return ReadReply{.document = *std::move(document),
                     .etag = (*stored)->state.etag,
                     .source = ReadSource::kObject};
  }

  static CacheError Unreadable(const std::string& id, const std::string& why) {
    return NotFound(fmt::format("the object of '{}' is no document: {}", id, why));
  }

  std::chrono::nanoseconds Monotonic() const { return observer_.clock().Monotonic(); }

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
  NegativeEntries negatives_;
  SingleFlight<Outcome<ReadReply>> flights_;
};

FallbackReader::FallbackReader(const DocumentsOptions& options, RowStore* rows,
                               DocumentStore* store, Synchronizer* synchronizer,
                               const Observer* observer)
    : observer_(*observer),
      impl_(std::make_unique<Impl>(options, rows, store, synchronizer, observer)) {}

FallbackReader::~FallbackReader() = default;

Outcome<ReadReply> FallbackReader::Get(const Context& context, const std::string& id) {
  return observer_.Observe<ReadReply>(context,
                                      {.name = "read", .key = id, .cache = CacheResult::kMiss},
                                      [&](const Context& counted, Operation& operation) {
                                        Outcome<ReadReply> reply = impl_->Get(counted, id);
                                        if (reply && reply->source == ReadSource::kCache)
                                          operation.cache = CacheResult::kHit;
                                        return reply;
                                      });
}

}  // namespace tidemark::documents
