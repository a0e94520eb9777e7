// CacheManager is the cache by itself: documents in the table, put, got, deleted and found by time,
// whatever the object store holds. Readers and writers that know both stand on it.
//
//   TRY(manager.Put(context, document, etag));
//   CachedPage page = TRY(manager.Query(context, {.from = from, .to = to, .customer = "hts"}));
//
// Expired rows are absent, swept or not. A write under way is never seen. In a dry run writes are
// logged and not made; reads are as usual. May be called from any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "apps/documents/cache_error.h"
#include "apps/documents/context.h"
#include "apps/documents/document.h"
#include "apps/documents/observer.h"
#include "apps/documents/options.h"
#include "apps/documents/query.h"
#include "apps/documents/row_store.h"
#include "base/clock.h"

namespace tidemark::documents {

struct CachedDocument {
  Document document;
  std::string etag;                       // Of the object it was read from.
  std::chrono::milliseconds verified{0};  // When it was last seen to be the object's content.
};

// What the cache knows of one that matches.
struct CachedHit {
  RowPosition position;
  std::string id;
  DocumentFacts facts;
  // nullopt: the row has no room for it, or is damaged; the object has it.
  std::optional<FoundDocument> document;
  // A write of it began too long ago: the object may be newer, and is to be asked.
  bool in_doubt = false;
};

struct CachedPage {
  std::vector<CachedHit> hits;      // In the order of creation.
  std::optional<RowPosition> last;  // Set when there are more behind it.
  size_t in_flight = 0;             // Hits that somebody is writing.
};

enum class CachePut {
  kCached,
  kTooOld,    // Its life is over: it is not cached, which is no error.
  kTooLarge,  // The row has what it is found by; the document itself is read from the object.
  kDryRun,
};

class CacheManager {
 public:
  // All outlive this.
  CacheManager(const DocumentsOptions& options, RowStore* rows, const Observer* observer);

  // Replaces what the cache has, whoever wrote it. kConflict when others keep changing the row.
  Outcome<CachePut> Put(const Context& context, const Document& document, const std::string& etag);

  // kNotFound when there is none that may be served: absent, deleted, expired, damaged, or too
  // large for the row.
  Outcome<CachedDocument> Get(const Context& context, const std::string& id);

  // Also when there is none. A tombstone stays for a day.
  Outcome<Done> Delete(const Context& context, const std::string& id);

  // Those of the cache that match. It knows nothing of what is not cached; RangeReader does.
  Outcome<CachedPage> Query(const Context& context, const RangeQuery& query);

  // The three ranges, all pages of each.
  Outcome<std::vector<FoundDocument>> QueryByTimeRange(const Context& context,
                                                       const std::string& type, EpochSeconds from,
                                                       EpochSeconds to);
  Outcome<std::vector<FoundDocument>> QueryByCustomerAndTime(const Context& context,
                                                             const std::string& customer,
                                                             EpochSeconds from, EpochSeconds to);
  Outcome<std::vector<FoundDocument>> QueryByStatusAndTime(const Context& context,
                                                           const std::string& status,
                                                           EpochSeconds from, EpochSeconds to);

 private:
  // Both are tried again, from reading the row on, while others change it.
  Outcome<CachePut> Store(const Context& context, const Document& document,
                          const std::string& etag);
  Outcome<Done> Bury(const Context& context, const std::string& id);
  Outcome<Done> ReadAgain(const Context& context, IndexHit& hit);
  Outcome<CachedPage> Collect(const Context& context, const Filter& filter,
                              const RangeQuery& query);
  Outcome<std::vector<FoundDocument>> QueryAll(const Context& context, RangeQuery query);

  const DocumentsOptions options_;
  RowStore& rows_;
  const Observer& observer_;
  const Clock& clock_;
};

}  // namespace tidemark::documents
