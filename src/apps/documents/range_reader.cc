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

// Keeps the first `count` documents after a position, added in any order. It keeps no more
// documents than fill a page and begin the next one.
class FirstDocuments {
 public:
  FirstDocuments(const std::optional<RowPosition>& after, size_t count)
      : after_(after), count_(count) {}

  void Add(RowPosition position, Document document) {
    if (after_ && position <= *after_) return;
    const size_t size_bytes = document.json().size();
    if (!documents_.emplace(std::move(position), std::move(document)).second) return;
    size_bytes_ += size_bytes;
    while (documents_.size() > count_ || HasMoreThanAPage()) {
      size_bytes_ -= LastBytes();
      documents_.erase(std::prev(documents_.end()));
    }
  }
  std::map<RowPosition, Document> Take() { return std::move(documents_); }

 private:
  size_t LastBytes() const { return documents_.rbegin()->second.json().size(); }
  // Whether the page is full without the last one, which only tells that there are more.
  bool HasMoreThanAPage() const {
    return documents_.size() > 2 && size_bytes_ - LastBytes() > kMaxPageBytes;
  }

  const std::optional<RowPosition> after_;
  const size_t count_;
  std::map<RowPosition, Document> documents_;
  size_t size_bytes_ = 0;
};

// Whether the row matches the filter at the position where the index has it. A pointer may be older
// than its row, so it may be wrong. The row itself is the hit of its first customer: a pointer for
// that customer is an old one, and would find the document a second time.
bool Confirms(const Row& row, const IndexHit& hit, const Filter& filter) {
  const DocumentFacts& facts = row.committed->facts;
  if (facts.created_at != hit.position.created_at || !Matches(filter, facts)) return false;
  if (hit.position.key == row.id) return true;
  return filter.customer && facts.customers.front() != *filter.customer;
}

}  // namespace

// One reply in the making.
class RangeReader::Reading {
 public:
  Reading(const RangeReader& reader, const Context& context, const RangeQuery& query,
          const Filter& filter)
      : reader_(reader), context_(context), query_(query), filter_(filter) {
    reply_.coverage.complete_from = filter.from;
    reply_.coverage.complete_to = filter.to;
    reply_.coverage.complete = true;
  }

  // The objects have what was created before the edge, the cache what was created since.
  Result<RangeReply> Run(Beyond beyond) {
    const Result<EpochSeconds> edge = FindEdge();
    if (!edge) return ReadObjectsAlone(beyond, edge.error());
    if (*edge > filter_.from) ReadBeforeEdge(*edge, beyond);
    const bool cache_has_some = *edge <= filter_.to || !searched_;
    if (cache_has_some && !IsFull()) {
      const Status cached = ReadCache(searched_ ? *edge : filter_.from);
      if (!cached) return ReadObjectsAlone(beyond, cached.error());
    }
    return std::move(reply_);
  }

 private:
  bool IsFull() const { return reply_.last.has_value(); }
  const Clock& clock() const { return reader_.observer_.clock(); }

  // The time since which the cache has everything; kNever when it is not known to have anything.
  Result<EpochSeconds> FindEdge() {
    if (!reader_.options_.enabled) {
      reply_.coverage.as_of = clock().Now();
      return kNever;
    }
    const std::optional<CoverageMark> mark = TRY(reader_.rows_.LoadMark(context_));
    TRY(SettleStaleWrites());
    reply_.coverage.as_of = mark ? mark->as_of : clock().Now();
    if (!mark || !reader_.rows_.AreTrusted()) return kNever;
    // Rows expire, so the cache cannot reach further back than the life of a row.
    const EpochSeconds oldest_row = clock().NowSeconds() - reader_.options_.ttl.count() + 1;
    return std::max(mark->complete_from, oldest_row);
  }

  // A first write whose writer died may have reached its object, and no index has it yet. Settled,
  // it is either in the indexes or gone.
  Status SettleStaleWrites() {
    const SettleReport settled = TRY(reader_.synchronizer_.SettleStale(context_));
    reply_.coverage.in_flight += settled.under_way + settled.failed;
    if (settled.failed > 0) reply_.coverage.complete = false;
    return Done{};
  }

  void ReadBeforeEdge(EpochSeconds edge, Beyond beyond) {
    if (beyond == Beyond::kFlag) return LeaveOutBefore(edge, "the caller did not ask for it");
    const Status found = SearchObjects(filter_.from, std::min(edge - 1, filter_.to));
    if (!found) LeaveOutBefore(edge, found.error().message);
  }

  void LeaveOutBefore(EpochSeconds edge, std::string_view why) {
    reply_.coverage.complete = false;
    reply_.coverage.complete_from = edge;
    reader_.observer_.Warn("a part of a range was not read from the object store",
                           fmt::format("{}..{}", filter_.from, edge), why);
  }

  // The table is unavailable, or has become unavailable midway. The objects have everything.
  Result<RangeReply> ReadObjectsAlone(Beyond beyond, const Error& why) {
    if (beyond == Beyond::kFlag || context_.IsOver()) return why;
    reader_.observer_.Warn("the cache could not answer a range: its objects are read",
                           fmt::format("{}..{}", filter_.from, filter_.to), why.message);
    reply_ = {};
    size_bytes_ = 0;
    reply_.coverage = {.complete = true,
                       .complete_from = filter_.from,
                       .complete_to = filter_.to,
                       .as_of = clock().Now(),
                       .cache_was_away = true};
    if (auto found = SearchObjects(filter_.from, filter_.to); !found) {
      return CombineErrors(why, found.error());
    }
    return std::move(reply_);
  }

  // Reads all objects, because only their content says when a document was created.
  Status SearchObjects(EpochSeconds from, EpochSeconds to) {
    Filter part = filter_;
    part.from = from;
    part.to = to;
    // One more than asked for: it tells whether there are more.
    FirstDocuments found(query_.after, query_.limit + 1);
    std::optional<std::string> after = "";
    size_t listed = 0;
    while (after) {
      if (listed >= kMaxListedObjects) {
        return Invalid(
            fmt::format("there are more than {} objects to read: ask for a time that the cache has",
                        kMaxListedObjects));
      }
      const ObjectPage page = TRY(reader_.store_.List(context_, *after, objects::kMaxPage));
      for (const ListedObject& object : page.objects) TRY(AddIfMatching(object.id, part, found));
      listed += page.objects.size();
      after = page.last;
    }
    searched_ = true;
    reply_.coverage.searched_objects = true;
    for (const auto& [position, document] : found.Take()) {
      Append(position, FoundDocument(document));
    }
    return Done{};
  }

  Status AddIfMatching(const std::string& id, const Filter& part, FirstDocuments& found) {
    std::optional<Document> document = TRY(ReadObject(id));
    if (!document || !Matches(part, document->facts())) return Done{};
    RowPosition position = PositionOf(part, *document);
    found.Add(std::move(position), *std::move(document));
    return Done{};
  }

  // Returns nullopt when the object is gone or is not a document.
  Result<std::optional<Document>> ReadObject(const std::string& id) {
    std::optional<StoredDocument> stored = TRY(reader_.store_.Read(context_, id));
    if (!stored) return std::optional<Document>();
    Result<Document> document = ParseObject(id, *std::move(stored));
    if (document) return std::optional(*std::move(document));
    ++reply_.coverage.unreadable;
    return std::optional<Document>();
  }

  Status ReadCache(EpochSeconds from) {
    Filter part = filter_;
    part.from = std::max(from, filter_.from);
    IndexWalk walk(&reader_.rows_, RangesOf(part), query_.after, Wanted());
    while (!IsFull()) {
      std::optional<IndexHit> hit = TRY(walk.Next(context_, Wanted()));
      if (!hit) break;
      TRY(AddIfConfirmed(*std::move(hit), part));
    }
    return Done{};
  }

  // One more than what is missing: it tells whether there are more.
  uint32_t Wanted() const {
    return static_cast<uint32_t>(query_.limit + 1 - reply_.documents.size());
  }

  Status AddIfConfirmed(IndexHit hit, const Filter& part) {
    if (hit.id.empty()) return Done{};
    // A pointer has no row, and an index may be behind its table.
    if (!hit.row || reader_.options_.indexes_lag) TRY(LoadRow(hit));
    if (!hit.row || !IsServable(*hit.row, clock().NowSeconds()) || !Confirms(*hit.row, hit, part)) {
      return Done{};
    }
    if (hit.row->intent) ++reply_.coverage.in_flight;
    std::optional<FoundDocument> cached;
    if (hit.json) cached.emplace(hit.row->id, hit.row->committed->facts, std::move(hit.json));
    const bool is_in_doubt =
        hit.row->intent && IsStale(*hit.row->intent, clock().Now(), reader_.options_);
    if (cached && !is_in_doubt) {
      Append(hit.position, *std::move(cached));
    } else {
      AddFromObject(hit, std::move(cached));
    }
    return Done{};
  }

  // Replaces what the index has by the row as it is now.
  Status LoadRow(IndexHit& hit) {
    hit.row = TRY(reader_.rows_.Load(context_, hit.id));
    hit.json.reset();
    if (hit.row && hit.row->committed && hit.row->committed->document) {
      hit.json = hit.row->committed->document->shared_json();
    }
    return Done{};
  }

  // The row has no document, or its object may be newer: the object decides. When it cannot be
  // read, the reply has what the cache has and is not complete.
  void AddFromObject(const IndexHit& hit, std::optional<FoundDocument> cached) {
    const Result<std::optional<Document>> document = ReadObject(hit.id);
    if (!document) {
      reply_.coverage.complete = false;
      if (cached) Append(hit.position, *std::move(cached));
    } else if (*document && Matches(filter_, (*document)->facts())) {
      Append(hit.position, FoundDocument(**document));
    }
  }

  void Append(const RowPosition& position, FoundDocument document) {
    const bool fits =
        reply_.documents.size() < query_.limit &&
        (reply_.documents.empty() || size_bytes_ + document.json().size() <= kMaxPageBytes);
    if (!fits || IsFull()) {
      if (!reply_.last) reply_.last = last_position_;
      return;
    }
    last_position_ = position;
    size_bytes_ += document.json().size();
    reply_.documents.push_back(std::move(document));
  }

  const RangeReader& reader_;
  const Context& context_;
  const RangeQuery& query_;
  const Filter& filter_;
  RangeReply reply_;
  RowPosition last_position_;
  size_t size_bytes_ = 0;  // Of the documents of the reply.
  bool searched_ = false;
};

RangeReader::RangeReader(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
                         Synchronizer* synchronizer, const Observer* observer)
    : options_(options),
      rows_(*rows),
      store_(*store),
      synchronizer_(*synchronizer),
      observer_(*observer) {}

Result<RangeReply> RangeReader::Read(const Context& context, const RangeQuery& query,
                                     Beyond beyond) {
  const std::string key = fmt::format("{}..{}", query.from, query.to);
  return observer_.Observe<RangeReply>(
      context, {.name = "range", .key = key},
      [&](const Context& counted, Operation& operation) -> Result<RangeReply> {
        const Filter filter = TRY(ParseFilter(query));
        Result<RangeReply> reply = Reading(*this, counted, query, filter).Run(beyond);
        if (reply && !reply->coverage.complete) operation.outcome = "incomplete";
        return reply;
      });
}

}  // namespace tidemark::documents
