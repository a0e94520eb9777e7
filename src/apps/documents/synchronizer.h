// Synchronizer makes a row say what the object says. Events, reads that miss, repairs, backfill,
// fsck and the settling of writes all use it. It reads the row, then the object, and writes the row
// only if it is still the one that was read. So it does not matter in which order it runs or how
// often, and an old event never brings an old version back.
//
// May be called from any thread.
#pragma once

#include <optional>
#include <string>

#include "apps/documents/document_store.h"
#include "apps/documents/observer.h"
#include "apps/documents/options.h"
#include "apps/documents/row_store.h"
#include "base/result.h"
#include "base/runtime.h"

namespace tidemark::documents {

enum class SyncOutcome {
  kUnchanged,  // The row was right already.
  kWritten,
  kRemoved,    // There is no object any more, and the row says so now.
  kAbsent,     // There is neither an object nor a row.
  kNotCached,  // The document is too old to be cached, or the object is not a valid document.
  kInFlight,   // A write of ours is under way and will write the row itself.
};

struct SyncReply {
  SyncOutcome outcome = SyncOutcome::kUnchanged;
  std::optional<Document> document = std::nullopt;  // What the object holds, if it is valid.
  std::optional<std::string> etag = std::nullopt;   // Of the object, if there is one.
  std::string invalid = {};                         // Why the object is not a document.
};

struct SyncRequest {
  std::string id;
  // An event says that the object was deleted. Then a tombstone is left also where there was no
  // row, so that a reader that read the object before does not fill the cache with it.
  bool deleted = false;
  // The caller wants the document, not the row: a row that cannot be written is only a warning.
  bool fill = false;
  bool dry_run = false;  // Says what it would do, and writes nothing.
};

// The result of settling the first writes that had not ended.
struct SettleReport {
  size_t settled = 0;
  size_t under_way = 0;
  size_t failed = 0;  // Still stale, because a store could not be asked.
};

class Synchronizer {
 public:
  // All outlive this.
  Synchronizer(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
               const Observer* observer, const Runtime& runtime);

  // A stale intent is settled on the way: the object's tag says whether that write has happened.
  // kConflict when other writers keep changing the row.
  Result<SyncReply> Sync(const Context& context, const SyncRequest& request);
  // The same for a caller that has just loaded the row.
  Result<SyncReply> SyncFrom(const Context& context, const SyncRequest& request,
                             std::optional<Row> row);

  // Settles all first writes whose writers must have given up. One that fails does not stop the
  // others. Stale writes over an existing version are settled by the readers of that row.
  Result<SettleReport> SettleStale(const Context& context);

 private:
  // What to do with a row.
  struct Plan {
    SyncReply reply;
    bool is_due = false;                     // False: the row stays as it is.
    std::optional<Row> next = std::nullopt;  // nullopt: the row is removed.
  };

  Plan MakePlan(const SyncRequest& request, const std::optional<Row>& row,
                std::optional<StoredDocument> object) const;
  Plan PlanWithObject(const SyncRequest& request, const std::optional<Row>& row,
                      StoredDocument object) const;
  Plan PlanWithoutObject(const SyncRequest& request, const std::optional<Row>& row) const;
  Result<bool> Apply(const Context& context, const std::optional<Row>& row, Plan& plan);
  Status SettleOne(const Context& context, const Row& row, SettleReport& report);

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  const Observer& observer_;
  const Runtime runtime_;
};

}  // namespace tidemark::documents
