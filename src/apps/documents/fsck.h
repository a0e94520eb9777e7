// Fsck compares rows with objects, says what differs and why, and repairs it unless it is a dry
// run: first all objects with their rows, then all rows without an object.
//
// Its last line is the proof: checked = equal + repaired + in flight + differing.
// May be called from any thread, beside live writes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/documents/synchronizer.h"
#include "apps/documents/walk.h"

namespace tidemark::documents {

// One difference, in words for people.
struct FsckFinding {
  std::string id;
  std::string what;
  bool repaired = false;
};

struct FsckReport {
  size_t checked = 0;
  size_t equal = 0;
  size_t repaired = 0;
  size_t in_flight = 0;
  size_t differing = 0;       // Left so: a dry run, or the repair failed.
  std::string last_key = {};  // Where to go on: an object's key, or a place among the rows.
  bool finished = false;
  bool marked = false;  // The coverage mark was written.
  // When it was interrupted: what the run that goes on may mark, if it may.
  std::optional<CoverageMark> mark = std::nullopt;
};

// "checked 27000, equal 26998, repaired 1, in flight 1, differing 0"
std::string ProofLine(const FsckReport& report);

class Fsck {
 public:
  // All outlive this.
  Fsck(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
       Synchronizer* synchronizer, const Observer* observer);

  // Until the end, the deadline or a stop: then `finished` says which. An error when a store stays
  // away. kValidation when the checkpoint is none. `tell` may be empty.
  Outcome<FsckReport> Run(const Context& context, const WalkOptions& walk,
                          const std::function<void(const FsckFinding&)>& tell);

 private:
  class Checking;

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
