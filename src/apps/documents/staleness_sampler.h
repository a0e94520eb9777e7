// StalenessSampler measures how often the cache is behind: it reads some documents again from the
// object store and publishes the share that differed, by how long ago the row was verified.
//
// May be called from any thread; whoever owns it calls Sample from time to time.
#pragma once

#include "apps/documents/cache_manager.h"
#include "apps/documents/document_store.h"
#include "base/random.h"

namespace tidemark::documents {

struct StalenessReport {
  size_t sampled = 0;
  size_t stale = 0;  // The object had another ETag, or was gone.
};

class StalenessSampler {
 public:
  // All outlive this; metrics may be null.
  StalenessSampler(RowStore* rows, DocumentStore* store, Random* random, const Clock* clock,
                   Metrics* metrics);

  // Up to `count` documents, chosen at random among the newest pages.
  Outcome<StalenessReport> Sample(const Context& context, size_t count);

 private:
  RowStore& rows_;
  DocumentStore& store_;
  Random& random_;
  const Clock& clock_;
  Gauge* stale_share_ = nullptr;
};

}  // namespace tidemark::documents
