// RangeReader answers which documents were created in a time, and says how sure it is that these
// are all: an answer is never silently a part.
//
//   RangeReply reply = TRY(reader.Read(context, query, Beyond::kSearchObjects));
//   if (!reply.coverage.complete) ...
//
// The cache has all documents since its coverage mark, as far back as its life reaches. What lies
// before that, or everything when the table is away or has no mark, is read from the object
// store, or left out and flagged. May be called from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/documents/cache_manager.h"
#include "apps/documents/document_store.h"

namespace tidemark::documents {

// What is done about the part of a time that the cache does not have.
enum class Beyond { kSearchObjects, kFlag };

// How far an answer can be relied on.
struct Coverage {
  bool complete = false;  // All that was asked for is there.
  // What is complete of it, both ends included; nothing when the start is behind the end.
  EpochSeconds complete_from = 0;
  EpochSeconds complete_to = 0;
  // All objects that were stored at this time are accounted for; later ones as far as their events
  // came, and all that were written through the cache.
  std::chrono::milliseconds as_of{0};
  bool searched_objects = false;  // A part was read from the object store.
  bool cache_was_away = false;
  size_t in_flight = 0;   // Documents of the answer that somebody is writing.
  size_t unreadable = 0;  // Objects that are no valid documents, and so cannot be matched.
};

struct RangeReply {
  std::vector<FoundDocument> documents;  // In the order of creation.
  std::optional<RowPosition> last;       // Set when there are more behind it.
  Coverage coverage;
};

// Settles first writes that somebody left, so that they are found or gone.
using SettleStale = std::function<Outcome<Done>(const Context&)>;

class RangeReader {
 public:
  // All outlive this. Without `settle` what is left by others is only counted.
  RangeReader(const DocumentsOptions& options, CacheManager* manager, RowStore* rows,
              DocumentStore* store, const Observer* observer, SettleStale settle = {});

  // kUnavailable naming both when neither store can answer. When only the object store is away, the
  // answer is what the cache has, flagged.
  Outcome<RangeReply> Read(const Context& context, const RangeQuery& query, Beyond beyond);

 private:
  class Reading;

  const DocumentsOptions options_;
  CacheManager& manager_;
  RowStore& rows_;
  DocumentStore& store_;
  const Observer& observer_;
  const SettleStale settle_;
};

}  // namespace tidemark::documents
