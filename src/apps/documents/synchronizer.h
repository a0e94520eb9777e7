// Synchronizer makes a row say what the object says. Events, fills, repairs, backfill and fsck all
// do this one thing, in this one way: read the row, then the object, and write the row only if it
// is still the one that was read. So order and number of runs do not matter, and an old hint can
// never bring an old version back.
//
// May be called from any thread.
#pragma once

#include <optional>
#include <string>

#include "apps/documents/cache_manager.h"
#include "apps/documents/document_store.h"
#include "apps/documents/row_store.h"

namespace tidemark::documents {

// The document in an object's text; kInvalid when there is none, or that of another id.
Result<Document> ParseObject(const std::string& id, std::string json);

enum class SyncOutcome {
  kUnchanged,  // The row said it already.
  kWritten,
  kRemoved,    // There is no object any more: the row says so.
  kAbsent,     // There is neither object nor row.
  kNotCached,  // The document's life is over, or the object is no valid document.
  kInFlight,   // A write of ours is under way, and this is it or what it replaces: left to it.
};

struct SyncReply {
  SyncOutcome outcome = SyncOutcome::kUnchanged;
  std::optional<CachedDocument> document = std::nullopt;  // What the object holds, if valid.
  std::optional<std::string> etag = std::nullopt;         // Of the object, if there is one.
  std::string invalid = {};  // Why the object is no document, when it is none.
};

struct SyncRequest {
  std::string id;
  std::string sequencer = {};  // Of the event that asks for it; kept with the row.
  // The object is said to be deleted: a tombstone is left also where there was no row, so that
  // nobody who read the object before fills the cache with it.
  bool deleted = false;
  // A row that cannot be written is only worth a warning: the document is wanted, not the row.
  bool fill = false;
  bool dry_run = false;  // Says what it would do, and does nothing.
};

class Synchronizer {
 public:
  // All outlive this.
  Synchronizer(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
               const Observer* observer);

  // A stale intent is settled on the way: the object's tag says whether it happened. kConflict
  // when others keep changing the row.
  Outcome<SyncReply> Sync(const Context& context, const SyncRequest& request);
  // The same, for those who have just loaded the row.
  Outcome<SyncReply> SyncFrom(const Context& context, const SyncRequest& request,
                              std::optional<Row> row);

 private:
  // What is to be done with a row.
  struct Plan {
    SyncReply reply;
    bool is_due = false;
    std::optional<Row> next = std::nullopt;  // nullopt, when something is due: the row goes.
  };

  Plan MakePlan(const SyncRequest& request, const std::optional<Row>& row,
                std::optional<StoredDocument> object) const;
  Plan PlanWithObject(const SyncRequest& request, const std::optional<Row>& row,
                      StoredDocument object) const;
  Plan PlanWithoutObject(const SyncRequest& request, const std::optional<Row>& row) const;
  Outcome<bool> Apply(const Context& context, const std::optional<Row>& row, Plan& plan);

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
