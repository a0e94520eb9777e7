// Fsck compares rows with objects, reports what differs and why, and repairs it unless it is a dry
// run. First it visits all objects with their rows, then all rows without an object.
//
// It compares everything that queries rely on: the document, the attributes by which the indexes
// find the row, and the pointers of its customers. What the indexes of types and statuses list, and
// is neither a row nor a pointer, is removed. What only the index of customers lists is not looked
// for: queries check it against the row each time.
//
// Its counts are the proof: checked = equal + repaired + in flight + differing.
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
  size_t differing = 0;       // Not repaired: it is a dry run, or the repair failed.
  std::string last_key = {};  // Where the next run continues: an object's key, or a row's position.
  bool finished = false;
  bool marked = false;  // The coverage mark was written.
  // When it was interrupted: the text for the run that continues it, which Documents seals, and the
  // mark in it.
  std::string checkpoint = {};
  std::optional<CoverageMark> mark = std::nullopt;
};

// "checked 27000, equal 26998, repaired 1, in flight 1, differing 0"
std::string ProofLine(const FsckReport& report);

class Fsck {
 public:
  // All outlive this.
  Fsck(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
       Synchronizer* synchronizer, const Observer* observer);

  // Runs to the end, or until the deadline or a stop; `finished` says which. Fails when a store
  // stays unavailable. kInvalid when the checkpoint is not one. `tell` gets each difference; it may
  // be empty.
  Result<FsckReport> Run(const Context& context, const WalkOptions& walk,
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
