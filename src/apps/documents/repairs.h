// Repairs keeps notes about documents whose rows may be wrong, because the table was unavailable
// when the object was written. A note is itself an object: the object store works when it is
// needed.
//
//   TRY(repairs.Note(context, id));  // Before the object is written.
//   RepairReport report = TRY(repairs.Run(context));
//
// A note says when it was made. It stays until the write that it was made for must have ended,
// because a row that is repaired before that write would be wrong again. A document has at most one
// note. May be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "apps/documents/synchronizer.h"
#include "objects/objects.h"

namespace tidemark::documents {

struct RepairReport {
  size_t due = 0;       // Notes that were found.
  size_t repaired = 0;  // Rows that are right now. Their notes were deleted.
};

class Repairs {
 public:
  // All outlive this.
  Repairs(const DocumentsOptions& options, objects::Objects* objects, const Retrier* retrier,
          Synchronizer* synchronizer, const Observer* observer);

  Status Note(const Context& context, const std::string& id);
  // The number of notes.
  Result<size_t> Count(const Context& context);
  // Synchronizes every document that has a note. One that fails keeps its note and does not stop
  // the others.
  Result<RepairReport> Run(const Context& context);

 private:
  struct FoundNote {
    std::string etag;
    std::chrono::milliseconds made{0};
  };

  Result<objects::ListReply> List(const Context& context, const std::string& after);
  Result<std::optional<FoundNote>> Read(const Context& context, const std::string& key);
  // True when the row is right and the note was deleted.
  Result<bool> Repair(const Context& context, const std::string& key);
  Status Forget(const Context& context, const std::string& key, const FoundNote& note);

  const DocumentsOptions options_;
  objects::Objects& objects_;
  const Retrier& retrier_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
