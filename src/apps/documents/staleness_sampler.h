// StalenessSampler measures how often the cache is behind: it reads some documents again from the
// object store and publishes how many differed, by how long ago the row was verified. It changes
// nothing.
//
// May be called from any thread; whoever owns it calls Sample from time to time.
#pragma once

#include <array>
#include <string>
#include <vector>

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

  // Up to `count` documents, chosen at random from a stretch of rows that begins at a random time
  // of creation. What is being written is passed over.
  Outcome<StalenessReport> Sample(const Context& context, size_t count);

 private:
  // By how long ago a row was verified: within the hour, within the day, before.
  static constexpr size_t kAges = 3;
  struct AgeCounters {
    Counter* sampled = nullptr;
    Counter* stale = nullptr;
  };

  Outcome<std::vector<std::string>> Choose(const Context& context, size_t count);
  Outcome<Done> Collect(const Context& context, const std::vector<IndexRange>& ranges, size_t limit,
                        std::vector<std::string>& ids);
  Outcome<Done> SampleOne(const Context& context, const std::string& id, StalenessReport& report);
  void Count(const Row& row, bool is_stale, StalenessReport& report) const;

  RowStore& rows_;
  DocumentStore& store_;
  Random& random_;
  const Clock& clock_;
  std::array<AgeCounters, kAges> counters_;
  Gauge* stale_share_ = nullptr;  // Of the last sample.
};

}  // namespace tidemark::documents
