// Repairs are notes of documents whose rows may be wrong, because the table was away when the
// object was written. A note is an object, since that store was there; it outlives the process.
//
//   TRY(repairs.Note(context, id));        // Before the object is written.
//   RepairReport report = repairs.Run(context);
//
// May be called from any thread; notes of one document are one note.
#pragma once

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
          Synchronizer* synchronizer);

  Outcome<Done> Note(const Context& context, const std::string& id);
  // Synchronizes what was noted. What fails stays noted, and the others go on.
  Outcome<RepairReport> Run(const Context& context);

 private:
  const DocumentsOptions options_;
  objects::Objects& objects_;
  const Retrier& retrier_;
  Synchronizer& synchronizer_;
};

}  // namespace tidemark::documents
