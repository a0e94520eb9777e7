// Documents stores, reads and finds changes and announcements. The object store has the truth; a
// table caches it and makes ranges fast. docs/flows/documents.md follows a document through it.
//
//   auto documents = TRY(Documents::Open(options, &tables, &objects, runtime));
//   documents->GetLater(documents->NewContext(), id, run_on_a_worker)
//       .Then([](Result<std::optional<ReadReply>> reply) { … });
//
// When the cache is disabled, reads, ranges and writes use the object store only. Errors are those
// that retrier.h lists. May be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "apps/documents/backfill.h"
#include "apps/documents/comparison.h"
#include "apps/documents/event_handler.h"
#include "apps/documents/fallback_reader.h"
#include "apps/documents/fsck.h"
#include "apps/documents/range_reader.h"
#include "apps/documents/repairs.h"
#include "apps/documents/staleness_sampler.h"
#include "apps/documents/write_through.h"
#include "base/runtime.h"

namespace tidemark::documents {

// The state of the cache.
struct CacheStats {
  TableSize table = {};
  std::optional<CoverageMark> coverage =
      std::nullopt;      // nullopt: no run went over all objects yet.
  bool compared = true;  // False while it is being compared with the objects, as after a start.
  // First writes that have not ended. Writes over an existing version are not counted: only their
  // rows know of them.
  size_t first_writes = 0;
  size_t repairs = 0;           // Notes about rows to be repaired.
  OperationCounts counts = {};  // Since this process started.
};

class Documents {
 public:
  // Makes the table when the cache is enabled and the table is missing. kInvalid when an option is
  // wrong. All outlive it.
  static Result<std::unique_ptr<Documents>> Open(const DocumentsOptions& options,
                                                 tables::Tables* tables, objects::Objects* objects,
                                                 const Runtime& runtime);
  ~Documents();

  // A context for one request, with the deadline of the options.
  Context NewContext(std::stop_token stop = {}) const;

  Result<WriteResult> Write(const Context& context, const WriteRequest& request);
  Result<WriteResult> Delete(const Context& context, const DeleteRequest& request);
  // Answers nullopt when there is no such document. `run` gets what may block (fallback_reader.h).
  Later<std::optional<ReadReply>> GetLater(const Context& context, const std::string& id,
                                           const FallbackReader::RunElsewhere& run);
  Result<RangeReply> Range(const Context& context, const RangeQuery& query, Beyond beyond);

  // Brings rows up to date with objects that other programs changed. Without the cache there is
  // nothing to do, and the report is empty.
  EventReport HandleEvents(const Context& context, std::string_view notification_json);
  EventReport HandleEvents(const Context& context, const Notification& notification);
  // Settles stale writes and repairs rows that have a note. To be called at regular times.
  Result<RepairReport> Housekeep(const Context& context);

  // Objects may have changed unnoticed, so the rows are not trusted until Compare has returned
  // true. See comparison.h. Does nothing when the cache is disabled.
  void BeginComparison();
  Result<bool> Compare(const Context& context, const Deadline& until);

  // Upkeep of the cache; see backfill.h, fsck.h and staleness_sampler.h. kInvalid when the cache is
  // disabled.
  Result<BackfillReport> Backfill(const Context& context, const WalkOptions& walk);
  Result<FsckReport> Fsck(const Context& context, const WalkOptions& walk,
                          const std::function<void(const FsckFinding&)>& tell);
  Result<StalenessReport> Sample(const Context& context, size_t count);
  Result<CacheStats> Stats(const Context& context);

 private:
  struct Parts;
  Status VerifyEnabled() const;
  // Runs backfill or fsck from the checkpoint of the walk, and seals the one of the report.
  template <typename Run>
  auto RunSealed(const Context& context, std::string_view name, WalkOptions walk, const Run& run)
      -> decltype(run(walk));
  explicit Documents(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tidemark::documents
