// RangeReader finds the documents that were created in a span of time, and says whether these are
// all: a part is never returned as if it were the whole.
//
//   RangeReply reply = TRY(reader.Read(context, query, Beyond::kSearchObjects));
//   if (!reply.coverage.complete) ...
//
// The cache has all documents since its coverage mark, as far back as its rows live. Documents that
// are older, or all of them when the table is unavailable or has no mark, are read from the object
// store, or are left out and the reply says so. May be called from any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "apps/documents/document_store.h"
#include "apps/documents/observer.h"
#include "apps/documents/query.h"
#include "apps/documents/row_store.h"
#include "apps/documents/synchronizer.h"

namespace tidemark::documents {

// What to do about the part of the time that the cache does not cover.
enum class Beyond { kSearchObjects, kFlag };

// How far a reply can be relied on.
struct Coverage {
  bool complete = false;  // Everything that was asked for is there.
  // The part that is complete, both ends included. It is empty when the start is after the end.
  EpochSeconds complete_from = 0;
  EpochSeconds complete_to = 0;
  // All objects that were stored at this time are accounted for, and all later writes through this
  // server. Later changes by other programs are there once their events were handled.
  std::chrono::milliseconds as_of{0};
  bool searched_objects = false;  // A part was read from the object store.
  bool cache_was_away = false;
  size_t in_flight = 0;   // Documents of the reply that somebody is writing, and first writes.
  size_t unreadable = 0;  // Objects that are not valid documents; they might match.
};

struct RangeReply {
  std::vector<FoundDocument> documents;  // In the order of creation.
  std::optional<RowPosition> last;       // Set when there are more after it.
  Coverage coverage;
};

class RangeReader {
 public:
  // All outlive this.
  RangeReader(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
              Synchronizer* synchronizer, const Observer* observer);

  // kInvalid when the query is not valid. kUnavailable, naming both stores, when neither can
  // answer. When only the object store is unavailable, the reply is what the cache has, and is not
  // complete.
  Result<RangeReply> Read(const Context& context, const RangeQuery& query, Beyond beyond);

 private:
  class Reading;

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
