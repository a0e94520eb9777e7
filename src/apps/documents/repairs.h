// Repairs are notes of documents whose rows may be wrong, because the table was away when the
// object was written. A note is an object, since that store was there; it outlives the process.
//
//   TRY(repairs.Note(context, id));        // Before the object is written.
//   RepairReport report = repairs.Run(context);
//
// A note says when it was made, and stays until the write that it was made for must be over: a row
// that was repaired before that write would be wrong again. May be called from any thread; notes
// of one document are one note.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "apps/documents/synchronizer.h"
#include "objects/objects.h"

namespace tidemark::documents {

struct RepairReport {
  size_t due = 0;       // Notes that were found.
  size_t repaired = 0;  // Rows that are right now; their notes are gone.
};

class Repairs {
 public:
  // All outlive this.
  Repairs(const DocumentsOptions& options, objects::Objects* objects, const Retrier* retrier,
          Synchronizer* synchronizer, const Observer* observer);

  Outcome<Done> Note(const Context& context, const std::string& id);
  // How many are noted.
  Outcome<size_t> Count(const Context& context);
  // Synchronizes what was noted. What fails stays noted, and the others go on.
  Outcome<RepairReport> Run(const Context& context);

 private:
  struct FoundNote {
    std::string etag;
    std::chrono::milliseconds made{0};
  };

  Outcome<objects::ListReply> List(const Context& context, const std::string& after);
  Outcome<std::optional<FoundNote>> Read(const Context& context, const std::string& key);
  // True when the row is right and the note is gone.
  Outcome<bool> Repair(const Context& context, const std::string& key);
  Outcome<Done> Forget(const Context& context, const std::string& key, const FoundNote& note);

  const DocumentsOptions options_;
  objects::Objects& objects_;
  const Retrier& retrier_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
