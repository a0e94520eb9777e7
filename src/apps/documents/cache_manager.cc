#include "apps/documents/cache_manager.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/converter.h"
#include "apps/documents/index_walk.h"
#include "apps/documents/limits.h"
#include "base/expiry.h"

namespace tidemark::documents {

namespace {

// Writers of one row that meet this often have something else to sort out.
constexpr int kMaxCollisions = 20;

CacheError TooManyCollisions(const std::string& id) {
  return Conflict(fmt::format("others keep changing the row of '{}': try again", id));
}

CacheError NotCached(const std::string& id) {
  return NotFound(fmt::format("the cache has no document '{}'", id));
}

// A document that has no room in its row reads as one that is not cached.
bool FitsIntoRow(const DocumentsOptions& options, const Row& row) {
  const item::Item item = EncodeRow(options, row);
  return item.Contains("document_json");
}

CachedDocument CachedFrom(Row row) {
  return {.document = *std::move(row.committed->document),
          .etag = std::move(row.committed->etag),
          .verified = row.verified};
}

// Whether the row that a hit leads to is what the hit says it is. A pointer may be older than the
// row; the first customer is found by the row itself, so nothing is found twice.
bool Confirms(const Row& row, const IndexHit& hit, const Filter& filter) {
  const DocumentFacts& facts = row.committed->facts;
  if (facts.created_at != hit.position.created_at || !Matches(filter, facts)) return false;
  return hit.position.key == row.id || facts.customers.front() != *filter.customer;
}

}  // namespace

CacheManager::CacheManager(const DocumentsOptions& options, RowStore* rows,
                           const Observer* observer)
    : options_(options), rows_(*rows), observer_(*observer), clock_(observer->clock()) {}

Outcome<CachePut> CacheManager::Put(const Context& context, const Document& document,
                                    const std::string& etag) {
  return observer_.Observe<CachePut>(
      context, {.name = "put", .key = document.id(), .dry_run = options_.dry_run},
      [&](const Context& counted, Operation& operation) -> Outcome<CachePut> {
        if (options_.dry_run) return CachePut::kDryRun;
        const CachePut put = TRY(Store(counted, document, etag));
        if (put == CachePut::kTooOld) operation.outcome = "too old to be cached";
        if (put == CachePut::kTooLarge) operation.outcome = "too large for its row";
        return put;
      });
}

Outcome<CachePut> CacheManager::Store(const Context& context, const Document& document,
                                      const std::string& etag) {
  for (int i = 0; i < kMaxCollisions; ++i) {
    const std::optional<Row> before = TRY(rows_.Load(context, document.id()));
    Row next = before.value_or(Row{.id = document.id()});
    next.committed = CommittedFrom(options_, document, etag, clock_.NowSeconds());
    next.tombstone.reset();
    next.verified = clock_.Now();
    if (!next.committed) {
      // An older version of it must not stay in its place.
      if (!before || !before->committed) return CachePut::kTooOld;
      if (TRY(rows_.Remove(context, *before))) return CachePut::kTooOld;
      continue;
    }
    const bool fits = FitsIntoRow(options_, next);
    if (TRY(rows_.Replace(context, before, std::move(next)))) {
      return fits ? CachePut::kCached : CachePut::kTooLarge;
    }
  }
  return TooManyCollisions(document.id());
}

Outcome<CachedDocument> CacheManager::Get(const Context& context, const std::string& id) {
  return observer_.Observe<CachedDocument>(
      context, {.name = "get", .key = id, .cache = CacheResult::kMiss},
      [&](const Context& counted, Operation& operation) -> Outcome<CachedDocument> {
        if (Status valid = ValidateId(id); !valid) return Refused(valid.error());
        std::optional<Row> row = TRY(rows_.Load(counted, id));
        if (!row || !IsServable(*row, clock_.NowSeconds()) || !row->committed->document) {
          return NotCached(id);
        }
        operation.cache = CacheResult::kHit;
        return CachedFrom(*std::move(row));
      });
}

Outcome<Done> CacheManager::Delete(const Context& context, const std::string& id) {
  return observer_.Observe<Done>(context,
                                 {.name = "delete", .key = id, .dry_run = options_.dry_run},
                                 [&](const Context& counted, Operation&) -> Outcome<Done> {
                                   if (Status valid = ValidateId(id); !valid)
                                     return Refused(valid.error());
                                   if (options_.dry_run) return Done{};
                                   return Bury(counted, id);
                                 });
}

Outcome<Done> CacheManager::Bury(const Context& context, const std::string& id) {
  for (int i = 0; i < kMaxCollisions; ++i) {
    const std::optional<Row> before = TRY(rows_.Load(context, id));
    if (!before || !before->committed) return Done{};
    const EpochSeconds now = clock_.NowSeconds();
    Row next = *before;
    next.tombstone = Tombstone{
        .etag = before->committed->etag, .deleted_at = now, .ttl = now + kTombstoneLife.count()};
    next.committed.reset();
    next.verified = clock_.Now();
    if (TRY(rows_.Replace(context, before, std::move(next)))) return Done{};
  }
  return TooManyCollisions(id);
}

Outcome<CachedPage> CacheManager::Query(const Context& context, const RangeQuery& query) {
  const std::string key = fmt::format("{}..{}", query.from, query.to);
  return observer_.Observe<CachedPage>(
      context, {.name = "query", .key = key},
      [&](const Context& counted, Operation&) -> Outcome<CachedPage> {
        const Filter filter = TRY(ParseFilter(query));
        return Collect(counted, filter, query);
      });
}

// The row as it is now: an index has only its key, or may be behind.
Outcome<Done> CacheManager::ReadAgain(const Context& context, IndexHit& hit) {
  hit.row = TRY(rows_.Load(context, hit.id));
  hit.json.reset();
  if (hit.row && hit.row->committed && hit.row->committed->document) {
    hit.json = hit.row->committed->document->json();
  }
  return Done{};
}

Outcome<CachedPage> CacheManager::Collect(const Context& context, const Filter& filter,
                                          const RangeQuery& query) {
  // One more than asked for: it says whether there are others.
  IndexWalk walk(&rows_, RangesOf(filter), query.after, static_cast<uint32_t>(query.limit + 1));
  CachedPage page;
  const auto wanted = [&] { return static_cast<uint32_t>(query.limit + 1 - page.hits.size()); };
  while (std::optional<IndexHit> hit = TRY(walk.Next(context, wanted()))) {
    if (!hit->row || options_.indexes_lag) TRY(ReadAgain(context, *hit));
    const std::optional<Row>& row = hit->row;
    if (!row || !IsServable(*row, clock_.NowSeconds()) || !Confirms(*row, *hit, filter)) continue;
    if (page.hits.size() == query.limit) {
      page.last = page.hits.back().position;
      break;
    }
    const DocumentFacts& facts = row->committed->facts;
    CachedHit found{.position = hit->position, .id = row->id, .facts = facts};
    if (row->intent) ++page.in_flight;
    found.in_doubt = row->intent && IsStale(*row->intent, clock_.Now(), options_);
    if (hit->json) found.document.emplace(row->id, facts, *std::move(hit->json));
    page.hits.push_back(std::move(found));
  }
  return page;
}

Outcome<std::vector<FoundDocument>> CacheManager::QueryByTimeRange(const Context& context,
                                                                   const std::string& type,
                                                                   EpochSeconds from,
                                                                   EpochSeconds to) {
  return QueryAll(context, {.from = from, .to = to, .type = type});
}

Outcome<std::vector<FoundDocument>> CacheManager::QueryByCustomerAndTime(
    const Context& context, const std::string& customer, EpochSeconds from, EpochSeconds to) {
  return QueryAll(context, {.from = from, .to = to, .customer = customer});
}

Outcome<std::vector<FoundDocument>> CacheManager::QueryByStatusAndTime(const Context& context,
                                                                       const std::string& status,
                                                                       EpochSeconds from,
                                                                       EpochSeconds to) {
  return QueryAll(context, {.from = from, .to = to, .status = status});
}

Outcome<std::vector<FoundDocument>> CacheManager::QueryAll(const Context& context,
                                                           RangeQuery query) {
  std::vector<FoundDocument> documents;
  query.limit = kMaxPage;
  do {
    CachedPage page = TRY(Query(context, query));
    for (CachedHit& hit : page.hits) {
      if (hit.document) documents.push_back(*std::move(hit.document));
    }
    query.after = page.last;
  } while (query.after);
  return documents;
}

}  // namespace tidemark::documents
