// Backfill puts the documents of the object store into the cache. It may run at any time, more than
// once, and beside live writes: each document is synchronized as after an event. A run over all
// documents that the cache can hold leaves the coverage mark that ranges rely on.
//
// May be called from any thread.
#pragma once

#include <optional>
#include <string>

#include "apps/documents/synchronizer.h"
#include "apps/documents/walk.h"

namespace tidemark::documents {

struct BackfillReport {
  size_t checked = 0;    // Objects that were visited.
  size_t cached = 0;     // Rows that changed, or would change in a dry run.
  size_t unchanged = 0;  // Rows that were right already, or are being written.
  size_t skipped = 0;    // Not asked for, too old, or deleted meanwhile.
  size_t invalid = 0;    // Objects that are not documents.
  size_t failed = 0;
  std::string last_key = {};  // Where the next run continues, when this one was interrupted.
  bool finished = false;      // It came to the end of the objects.
  bool marked = false;        // The coverage mark was written.
  // When it was interrupted: the text for the run that continues it, which Documents seals, and the
  // mark in it.
  std::string checkpoint = {};
  std::optional<CoverageMark> mark = std::nullopt;
};

class Backfill {
 public:
  // All outlive this.
  Backfill(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
           Synchronizer* synchronizer, const Observer* observer);

  // Runs to the end, or until the deadline or a stop; `finished` says which. Fails when a store
  // stays unavailable; then the next run continues from the last progress that was reported. Only a
  // run that began at the beginning leaves a mark, also when it was done in several pieces.
  Result<BackfillReport> Run(const Context& context, const WalkOptions& walk);

 private:
  Status Visit(const Context& context, const SyncRequest& request,
               const std::optional<Filter>& filter, BackfillReport& report);
  Result<bool> IsAskedFor(const Context& context, const std::string& id, const Filter& filter,
                          BackfillReport& report);
  Result<SyncReply> Synchronize(const Context& context, const SyncRequest& request);

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
