// What backfill and fsck have in common: which documents they visit, how they stop, and the
// checkpoint from which they continue.
//
// A run ends early at the deadline, a stop or a pause, and another run continues from its
// checkpoint. A document that fails does not stop the run. Many failures in a row mean that a store
// is unavailable, and end the run with the error. A walk belongs to one thread; the functions may
// be called from any.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "apps/documents/document_store.h"
#include "apps/documents/observer.h"
#include "apps/documents/query.h"
#include "apps/documents/row_store.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"

namespace tidemark::documents {

// A Checkpoint is where a run over all documents ended early, as one text that people and programs
// keep and give back.
struct Checkpoint {
  std::string last_key;
  // What the run may mark at its end; nullopt when it did not see every document.
  std::optional<CoverageMark> mark = std::nullopt;
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// "1760659200000,1752883200,archive/CHG-1.json", or ",,archive/CHG-1.json" without a mark.
std::string ToText(const Checkpoint& checkpoint);
// kInvalid when the text is not a checkpoint.
Result<Checkpoint> ParseCheckpoint(std::string_view text);

// What a run has done so far. The next run continues after `last_key`.
struct WalkProgress {
  size_t checked = 0;
  std::string last_key;
};

struct WalkOptions {
  // The text that an interrupted run gave to its caller; empty: from the beginning. Documents
  // checks it, and sets the next two from it.
  std::string checkpoint = {};
  std::string after = {};  // The last key of a checkpoint; empty: from the beginning.
  // The mark of the checkpoint. A run from the beginning makes its own.
  std::optional<CoverageMark> mark = std::nullopt;
  bool dry_run = false;
  // Visit only documents that were created in this time, for this customer.
  std::optional<EpochSeconds> from = std::nullopt;
  std::optional<EpochSeconds> to = std::nullopt;
  std::optional<std::string> customer = std::nullopt;
  // Called after each page.
  std::function<void(const WalkProgress&)> progress = {};
  // Called before each document; true ends the run there. Other than a stop it does not interrupt
  // the document that is being visited. Unset: never.
  std::function<bool()> pause = {};
};

// Seals a checkpoint with a key that only the table has. So a caller cannot invent a checkpoint,
// and a checkpoint is not valid for another table. The seal also covers the run and its options: a
// checkpoint of a dry run, or of a run over some documents, does not make another run skip what it
// has not done.
std::string SealCheckpoint(const Secret& key, const DocumentsOptions& options, std::string_view run,
                           const WalkOptions& walk, const Checkpoint& checkpoint);
// kInvalid when walk.checkpoint was not sealed for this run with these options and this key.
Result<Checkpoint> OpenCheckpoint(const Secret& key, const DocumentsOptions& options,
                                  std::string_view run, const WalkOptions& walk);

// kCancelled when the time of the run is over, or it should pause.
Status VerifyMayContinue(const Context& context, const WalkOptions& walk);

// The filter of the run; nullopt: all documents. kInvalid as for a range.
Result<std::optional<Filter>> FilterOf(const WalkOptions& walk);
// The mark that a run may leave when it begins at this time and visits every document that the
// cache can hold. Returns nullopt when it does not visit all of them, or is a dry run.
std::optional<CoverageMark> MarkOf(const DocumentsOptions& options, const WalkOptions& walk,
                                   std::chrono::milliseconds start);
// False when the time of the run ended before the mark was stored: another run may continue.
Result<bool> StoreMarkInTime(const Context& context, RowStore& rows, const CoverageMark& mark);
// Whether a run ended with this error only because its time was over.
bool IsInterruption(const Context& context, const Error& error);

// Decides whether a run continues after a document that failed.
class FailureLimit {
 public:
  // The error when too many documents failed in a row, or when the time of the run is over.
  Status Check(const Context& context, const Status& visit);

 private:
  int in_a_row_ = 0;
};

// Visits the objects in the order of their keys, a page at a time.
class ObjectWalk {
 public:
  using Visit = std::function<Status(const std::string& id)>;

  // All outlive this. It begins after the walk's checkpoint.
  ObjectWalk(const DocumentsOptions& options, DocumentStore* store, const Observer* observer,
             const WalkOptions* walk);

  // Fails when the objects cannot be listed, when too many visits failed in a row, or when the run
  // is interrupted. After an interruption the next run begins with the object that was not visited.
  Status Run(const Context& context, const Visit& visit);

  const WalkProgress& progress() const { return progress_; }
  size_t failed() const { return failed_; }

 private:
  Status VisitOne(const Context& context, const Visit& visit, const std::string& id);

  const DocumentsOptions options_;
  DocumentStore& store_;
  const Observer& observer_;
  const WalkOptions& walk_;
  WalkProgress progress_;
  FailureLimit failures_;
  size_t failed_ = 0;
};

}  // namespace tidemark::documents
