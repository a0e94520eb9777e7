#include "apps/documents/range_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/limits.h"

namespace tidemark::documents {

namespace {

constexpr EpochSeconds kNever = std::numeric_limits<EpochSeconds>::max();

// The first documents behind a position, in order, however they come; never more than are wanted.
class FirstDocuments {
 public:
  FirstDocuments(const std::optional<RowPosition>& after, size_t count)
      : after_(after), count_(count) {}

  void Add(RowPosition position, Document document) {
    if (after_ && position <= *after_) return;
    documents_.insert_or_assign(std::move(position), std::move(document));
    if (documents_.size() > count_) documents_.erase(std::prev(documents_.end()));
  }
  std::map<RowPosition, Document> Take() { return std::move(documents_); }

 private:
  const std::optional<RowPosition> after_;
  const size_t count_;
  std::map<RowPosition, Document> documents_;
};

}  // namespace

// One answer in the making.
class RangeReader::Reading {
 public:
  Reading(const RangeReader& reader, const Context& context, const RangeQuery& query,
          const Filter& filter)
      : reader_(reader), context_(context), query_(query), filter_(filter) {
    reply_.coverage.complete_from = filter.from;
    reply_.coverage.complete_to = filter.to;
    reply_.coverage.complete = true;
  }

  Outcome<RangeReply> Run(Beyond beyond) {
    const Outcome<EpochSeconds> edge = FindEdge();
    if (!edge) return FromObjectsAlone(beyond, edge.error());
    const EpochSeconds now_complete_from = *edge;
    if (now_complete_from > filter_.from) {
      if (beyond == Beyond::kSearchObjects) {
        if (auto found = SearchObjects(filter_.from, std::min(now_complete_from - 1, filter_.to));
            !found) {
          LeaveOut(now_complete_from, found.error().message);
        }
      } else {
        LeaveOut(now_complete_from, "it was not asked for");
      }
    }
    const bool cache_has_some = now_complete_from <= filter_.to || !searched_;
    if (cache_has_some && !IsFull()) {
      if (auto cached = ReadCache(searched_ ? now_complete_from : filter_.from); !cached) {
        return FromObjectsAlone(beyond, cached.error());
      }
    }
    return std::move(reply_);
  }

 private:
  bool IsFull() const { return reply_.last.has_value(); }

  // Since when the cache has everything.
  Outcome<EpochSeconds> FindEdge() {
    if (!reader_.options_.enabled) {
      reply_.coverage.as_of = reader_.observer_.clock().Now();
      return kNever;
    }
    const std::optional<CoverageMark> mark = TRY(reader_.rows_.LoadMark(context_));
    TRY(SettleLeftWrites());
    reply_.coverage.as_of = mark ? mark->as_of : reader_.observer_.clock().Now();
    if (!mark) return kNever;
    // Rows end when their life is over, so the cache cannot reach further back than that.
    const EpochSeconds oldest_row =
        reader_.observer_.clock().NowSeconds() - reader_.options_.ttl.count() + 1;
    return std::max(mark->complete_from, oldest_row);
  }

  // First writes that were left may have reached their object, which no index knows yet.
  Outcome<Done> SettleLeftWrites() {
    if (reader_.settle_) {
      if (auto settled = reader_.settle_(context_); !settled) {
        reply_.coverage.complete = false;
        reader_.observer_.Warn("writes that were left could not be settled", "range",
                               settled.error().message);
      }
    }
    const auto under_way =
        TRY(reader_.rows_.ListIntents(context_, reader_.observer_.clock().Now()));
    reply_.coverage.in_flight += under_way.size();
    return Done{};
  }

  void LeaveOut(EpochSeconds complete_from, std::string_view why) {
    reply_.coverage.complete = false;
    reply_.coverage.complete_from = complete_from;
    reader_.observer_.Warn("a part of a range was not read from the object store",
                           fmt::format("{}..{}", filter_.from, complete_from), why);
  }

  // The table is away, or has just gone: the objects have it all.
  Outcome<RangeReply> FromObjectsAlone(Beyond beyond, const CacheError& why) {
    if (beyond == Beyond::kFlag || context_.IsOver()) return why;
    reader_.observer_.Warn("the cache could not answer a range: its objects are read",
                           fmt::format("{}..{}", filter_.from, filter_.to), why.message);
    reply_ = {};
    reply_.coverage = {.complete = true,
                       .complete_from = filter_.from,
                       .complete_to = filter_.to,
                       .as_of = reader_.observer_.clock().Now(),
                       .cache_was_away = true};
    if (auto found = SearchObjects(filter_.from, filter_.to); !found) {
      return Both(why, std::move(found).error());
    }
    return std::move(reply_);
  }

  // Reads all objects: only they say when their documents were created.
  Outcome<Done> SearchObjects(EpochSeconds from, EpochSeconds to) {
    Filter part = filter_;
    part.from = from;
    part.to = to;
    FirstDocuments found(query_.after, query_.limit + 1);
    std::string after;
    size_t listed = 0;
    while (true) {
      const ObjectPage page = TRY(reader_.store_.List(context_, after, objects::kMaxPage));
      for (const ListedObject& object : page.objects) TRY(Match(object.id, part, found));
      listed += page.objects.size();
      if (!page.last) break;
      if (listed >= kMaxListedObjects) {
        return CacheError{.message = fmt::format("there are more than {} objects to read: ask for "
                                                 "a time that the cache has",
                                                 kMaxListedObjects)};
      }
      after = *page.last;
    }
    searched_ = true;
    reply_.coverage.searched_objects = true;
    for (const auto& [position, document] : found.Take()) {
      Append(position, FoundDocument(document));
    }
    return Done{};
  }

  Outcome<Done> Match(const std::string& id, const Filter& part, FirstDocuments& found) {
    std::optional<Document> document = TRY(ReadObject(id));
    if (!document || !Matches(part, document->facts())) return Done{};
    RowPosition position = PositionOf(part, *document);
    found.Add(std::move(position), *std::move(document));
    return Done{};
  }

  // nullopt when it is gone, or no document.
  Outcome<std::optional<Document>> ReadObject(const std::string& id) {
    std::optional<StoredDocument> stored = TRY(reader_.store_.Read(context_, id));
    if (!stored) return std::optional<Document>();
    Result<Document> document = Document::Parse(std::move(stored->json));
    if (document && document->id() == id) return std::optional(*std::move(document));
    ++reply_.coverage.unreadable;
    return std::optional<Document>();
  }

  Outcome<Done> ReadCache(EpochSeconds from) {
    RangeQuery rest = query_;
    rest.from = std::max(from, filter_.from);
    do {
      rest.limit = query_.limit - reply_.documents.size();
      // Full, but nobody knows yet whether there is one more.
      if (rest.limit == 0) rest.limit = 1;
      CachedPage page = TRY(reader_.manager_.Query(context_, rest));
      reply_.coverage.in_flight += page.in_flight;
      for (CachedHit& hit : page.hits) Take(hit);
      rest.after = page.last;
    } while (rest.after && !IsFull());
    return Done{};
  }

  // The cache's document, unless only the object can tell.
  void Take(CachedHit& hit) {
    if (hit.document && !hit.in_doubt) return Append(hit.position, *std::move(hit.document));
    const Outcome<std::optional<Document>> document = ReadObject(hit.id);
    if (document) {
      if (*document && Matches(filter_, (*document)->facts())) {
        Append(hit.position, FoundDocument(**document));
      }
      return;
    }
    reply_.coverage.complete = false;
    if (hit.document) Append(hit.position, *std::move(hit.document));
  }

  void Append(const RowPosition& position, FoundDocument document) {
    if (reply_.documents.size() == query_.limit) {
      if (!reply_.last) reply_.last = last_position_;
      return;
    }
    last_position_ = position;
    reply_.documents.push_back(std::move(document));
  }

  const RangeReader& reader_;
  const Context& context_;
  const RangeQuery& query_;
  const Filter& filter_;
  RangeReply reply_;
  RowPosition last_position_;
  bool searched_ = false;
};

RangeReader::RangeReader(const DocumentsOptions& options, CacheManager* manager, RowStore* rows,
                         DocumentStore* store, const Observer* observer, SettleStale settle)
    : options_(options),
      manager_(*manager),
      rows_(*rows),
      store_(*store),
      observer_(*observer),
      settle_(std::move(settle)) {}

Outcome<RangeReply> RangeReader::Read(const Context& context, const RangeQuery& query,
                                      Beyond beyond) {
  const std::string key = fmt::format("{}..{}", query.from, query.to);
  return observer_.Observe<RangeReply>(
      context, {.name = "range", .key = key},
      [&](const Context& counted, Operation& operation) -> Outcome<RangeReply> {
        const Filter filter = TRY(ParseFilter(query));
        Outcome<RangeReply> reply = Reading(*this, counted, query, filter).Run(beyond);
        if (reply && !reply->coverage.complete) operation.outcome = "incomplete";
        return reply;
      });
}

}  // namespace tidemark::documents
