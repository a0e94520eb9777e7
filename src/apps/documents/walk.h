// What runs over all documents have in common: where they are, what they are asked for, how they
// stop.
//
// A run ends at the deadline, a stop or a pause, and goes on from its checkpoint. A document that
// fails keeps no other from its turn; many in a row mean that a store is away, and end the run with
// the error. A walk belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "apps/documents/document_store.h"
#include "apps/documents/observer.h"
#include "apps/documents/query.h"
#include "apps/documents/row_store.h"
#include "base/clock.h"

namespace tidemark::documents {

// What a run has done so far; its checkpoint is `last_key`, in the order of keys.
struct WalkProgress {
  size_t checked = 0;
  std::string last_key;
};

struct WalkOptions {
  std::string after = {};  // A checkpoint; empty: from the beginning.
  // Of the run that this goes on with, when all of it went well: what it may mark at its end. Who
  // begins at the beginning finds it.
  std::optional<CoverageMark> mark = std::nullopt;
  bool dry_run = false;
  // Created in this time, for this customer; what is not given does not matter.
  std::optional<EpochSeconds> from = std::nullopt;
  std::optional<EpochSeconds> to = std::nullopt;
  std::optional<std::string> customer = std::nullopt;
  // Called after each page.
  std::function<void(const WalkProgress&)> progress = {};
  // Asked before each document: true ends the run there, as a stop does, but what is under way has
  // all its time. Unset: never.
  std::function<bool()> pause = {};
};

// kCancelled when the run's time is over, or it is to pause.
Outcome<Done> MayGoOn(const Context& context, const WalkOptions& walk);

// Those that are asked for; nullopt: all. kValidation as for a range.
Outcome<std::optional<Filter>> FilterOf(const WalkOptions& walk);
// What a run may mark that begins at this time and sees every document that the cache can hold;
// nullopt when it is not to see all of them, or changes nothing.
std::optional<CoverageMark> MarkOf(const DocumentsOptions& options, const WalkOptions& walk,
                                   std::chrono::milliseconds start);
// Stores it; false when the run's time was over meanwhile, and it may go on later.
Outcome<bool> StoreMarkInTime(const Context& context, RowStore& rows, const CoverageMark& mark);
// Whether a run ended with this error because its time was over, and may go on later.
bool IsInterruption(const Context& context, const CacheError& error);

// Whether it is of use to go on after a failure.
class Patience {
 public:
  // The error when it is not, or when the run's time is over.
  Outcome<Done> After(const Context& context, const Outcome<Done>& visit);

 private:
  int in_a_row_ = 0;
};

// Goes over the objects in the order of their keys, a page at a time.
class ObjectWalk {
 public:
  using Visit = std::function<Outcome<Done>(const std::string& id)>;

  // All outlive this. Begins behind the walk's checkpoint.
  ObjectWalk(const DocumentsOptions& options, DocumentStore* store, const Observer* observer,
             const WalkOptions* walk);

  // The error of the listing, of the last of many visits that failed, or that of an interruption:
  // then the checkpoint is before the object that was not done.
  Outcome<Done> Run(const Context& context, const Visit& visit);

  const WalkProgress& progress() const { return progress_; }
  size_t failed() const { return failed_; }

 private:
  Outcome<Done> VisitOne(const Context& context, const Visit& visit, const std::string& id);

  const DocumentsOptions options_;
  DocumentStore& store_;
  const Observer& observer_;
  const WalkOptions& walk_;
  WalkProgress progress_;
  Patience patience_;
  size_t failed_ = 0;
};

}  // namespace tidemark::documents
