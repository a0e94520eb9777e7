// Backfill puts documents of the object store into the cache. It may run at any time, twice, or
// twice at once, beside live writes: each document is synchronized as by an event. A run over all
// documents that the cache can hold leaves the mark that ranges rely on.
//
// May be called from any thread.
#pragma once

#include "apps/documents/synchronizer.h"
#include "apps/documents/walk.h"

namespace tidemark::documents {

struct BackfillReport {
  size_t checked = 0;    // Objects that were looked at.
  size_t cached = 0;     // Rows that changed, or would in a dry run.
  size_t unchanged = 0;  // Rows that said so already, or are being written.
  size_t skipped = 0;    // Not asked for, too old, or gone meanwhile.
  size_t invalid = 0;    // Objects that are no documents.
  size_t failed = 0;
  std::string last_key = {};  // Where to go on when it was interrupted.
  bool finished = false;      // To the end of the objects.
  bool marked = false;        // The coverage mark was written.
  // When it was interrupted: what the run that goes on may mark, if it may.
  std::optional<CoverageMark> mark = std::nullopt;
};

class Backfill {
 public:
  // All outlive this.
  Backfill(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
           Synchronizer* synchronizer, const Observer* observer);

  // Until the end, the deadline or a stop: then `finished` says which. An error when a store stays
  // away; what the walk's progress was told last is where to go on. Only a run from the beginning
  // marks, also in several pieces.
  Outcome<BackfillReport> Run(const Context& context, const WalkOptions& walk);

 private:
  Outcome<Done> Visit(const Context& context, const SyncRequest& request,
                      const std::optional<Filter>& filter, BackfillReport& report);
  Outcome<bool> IsAskedFor(const Context& context, const std::string& id, const Filter& filter,
                           BackfillReport& report);
  Outcome<SyncReply> Synchronize(const Context& context, const SyncRequest& request);

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
