// Documents is all of it, wired: a cache of documents over a table, with the object store as the
// truth. The server and the command line speak to this.
//
//   auto documents = TRY(Documents::Open(options, {.tables = &tables, .objects = &objects, …}));
//   Outcome<ReadReply> reply = documents->Get(documents->NewContext(), id);
//
// With the cache disabled only the object store is used: reads and ranges come from it, writes go
// to it alone. May be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "apps/documents/backfill.h"
#include "apps/documents/event_handler.h"
#include "apps/documents/fallback_reader.h"
#include "apps/documents/fsck.h"
#include "apps/documents/range_reader.h"
#include "apps/documents/repairs.h"
#include "apps/documents/settler.h"
#include "apps/documents/staleness_sampler.h"
#include "apps/documents/write_through.h"

namespace tidemark::documents {

// All outlive what is made of them; logger and metrics may be null.
struct Dependencies {
  tables::Tables* tables = nullptr;
  objects::Objects* objects = nullptr;
  const Clock* clock = nullptr;
  Pauser* pauser = nullptr;
  Random* random = nullptr;
  const Logger* logger = nullptr;
  Metrics* metrics = nullptr;
};

// How the cache stands.
struct CacheStats {
  TableSize table = {};
  std::optional<CoverageMark> coverage = std::nullopt;  // nullopt: nobody went over all objects.
  // First writes that are under way or were left. Those over a version that is there are known to
  // its row alone.
  size_t first_writes = 0;
  size_t repairs = 0;                                    // Rows that were noted as to be repaired.
  std::optional<OperationCounts> counts = std::nullopt;  // Of this process, if it counts.
};

class Documents {
 public:
  // Makes the table when the cache is enabled and it is not there. kInvalid when an option is
  // wrong.
  static Result<std::unique_ptr<Documents>> Open(const DocumentsOptions& options,
                                                 const Dependencies& dependencies);
  ~Documents();

  // For one request, with the options' deadline.
  Context NewContext(std::stop_token stop = {}) const;

  Outcome<WriteResult> Write(const Context& context, const WriteRequest& request);
  Outcome<WriteResult> Delete(const Context& context, const DeleteRequest& request);
  Outcome<ReadReply> Get(const Context& context, const std::string& id);
  Outcome<RangeReply> Range(const Context& context, const RangeQuery& query, Beyond beyond);
  // Without the cache there is nothing to bring up to date, and no record is looked at.
  EventReport HandleEvents(const Context& context, std::string_view notification_json);
  EventReport HandleEvents(const Context& context, const Notification& notification);
  // Settles what is stale and repairs what was noted; from time to time.
  Outcome<RepairReport> Housekeep(const Context& context);

  // What looks after the cache; see backfill.h, fsck.h and staleness_sampler.h. kValidation when
  // the cache is disabled.
  Outcome<BackfillReport> Backfill(const Context& context, const WalkOptions& walk);
  Outcome<FsckReport> Fsck(const Context& context, const WalkOptions& walk,
                           const std::function<void(const FsckFinding&)>& tell);
  Outcome<StalenessReport> Sample(const Context& context, size_t count);
  Outcome<CacheStats> Stats(const Context& context);

 private:
  struct Parts;
  Outcome<Done> NeedCache() const;
  explicit Documents(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tidemark::documents
