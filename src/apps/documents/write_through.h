// WriteThrough writes a document to the cache and to the object store so that readers see the
// version before or the version after, and nothing else:
//
//   1. validate            what was parsed, the transition of its status
//   2. the row: an intent  beside the committed version, which stays what readers see
//   3. the object          conditional on the version it replaces, tagged with the intent
//   4. the row: promote    the new version becomes the committed one, the intent goes
//
// When the object refuses, only the intent is removed. When nobody knows whether the object was
// written, the object is asked for its tag until it is decided; what cannot be decided is left for
// the Settler. A success means that the object has it.
//
// One writer at a time holds the intent of a document; others wait for it. May be called from any
// thread.
#pragma once

#include <optional>
#include <string>

#include "apps/documents/cache_manager.h"
#include "apps/documents/document_store.h"
#include "apps/documents/repairs.h"
#include "apps/documents/row_store.h"
#include "apps/documents/synchronizer.h"
#include "base/random.h"

namespace tidemark::documents {

struct WriteRequest {
  Document document;
  // Only over the version with this ETag; an empty one: only when there is none. nullopt: over
  // whatever is there.
  std::optional<std::string> expected_etag = std::nullopt;
};

struct WriteResult {
  std::string etag;     // Of the object; empty in a dry run.
  bool changed = true;  // False: the object said so already, and nothing was written.
  bool cached = true;   // False: the row does not have it, as it is too old or too large, or
                        // the table is away; a note for its repair is left then.
  bool dry_run = false;
};

struct DeleteRequest {
  std::string id;
  std::optional<std::string> expected_etag = std::nullopt;
};

class WriteThrough {
 public:
  // All outlive this.
  WriteThrough(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
               Synchronizer* synchronizer, Repairs* repairs, Pauser* pauser, Random* random,
               const Observer* observer);

  // kConflict when the expected version is not the one that is there, or others keep writing;
  // kValidation when its status may not follow the one before. In strict mode any error of the
  // table before the object was touched; in lenient mode those leave a note. An error that says
  // the outcome is unknown is retryable: writing the same again is harmless.
  Outcome<WriteResult> Write(const Context& context, const WriteRequest& request);

  // Also when there is none. kValidation unless its status allows it. Leaves a tombstone.
  Outcome<WriteResult> Delete(const Context& context, const DeleteRequest& request);

 private:
  struct Task;
  class Writing;

  Outcome<WriteResult> Run(const Context& context, const Task& task);
  WriteResult TellDryRun(const Task& task) const;

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  Synchronizer& synchronizer_;
  Repairs& repairs_;
  Pauser& pauser_;
  Random& random_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
