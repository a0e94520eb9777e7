// StalenessSampler measures how often the cache is outdated. It compares some rows with their
// objects and publishes how many differed, by how long ago the row was verified. It changes
// nothing.
//
// May be called from any thread. Its owner calls Sample at regular times.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "apps/documents/document_store.h"
#include "apps/documents/row_store.h"
#include "base/runtime.h"

namespace tidemark::documents {

struct StalenessReport {
  size_t sampled = 0;
  size_t stale = 0;  // The object had another ETag, or was deleted.
};

class StalenessSampler {
 public:
  // All outlive this.
  StalenessSampler(RowStore* rows, DocumentStore* store, const Runtime& runtime);

  // Compares up to `count` documents, chosen at random among the rows that follow a random time of
  // creation. Rows that somebody is writing are skipped.
  Result<StalenessReport> Sample(const Context& context, size_t count);

 private:
  // Rows that were verified within the last hour, within the last day, and before.
  static constexpr size_t kAges = 3;
  struct AgeCounters {
    Counter* sampled = nullptr;
    Counter* stale = nullptr;
  };

  Result<std::vector<std::string>> Choose(const Context& context, size_t count);
  Status Collect(const Context& context, const std::vector<IndexRange>& ranges, size_t limit,
                 std::vector<std::string>& ids);
  Status SampleOne(const Context& context, const std::string& id, StalenessReport& report);
  void Count(const Row& row, bool is_stale, StalenessReport& report) const;

  RowStore& rows_;
  DocumentStore& store_;
  const Runtime runtime_;
  std::array<AgeCounters, kAges> counters_;
  Gauge& stale_share_;  // Of the last sample.
};

}  // namespace tidemark::documents
