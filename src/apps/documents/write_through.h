// WriteThrough writes a document to the object store and to the cache. Readers see the version
// before or the version after, and nothing else:
//
//   1. validate            the document, and the step from its status before to the new one
//   2. the row: intent     is added beside the committed version, which readers still get
//   3. the object          is written over the version that it replaces, tagged with the intent
//   4. the row: promotion  the new version becomes the committed one, and the intent goes
//
// When the object refuses, only the intent is removed. When the reply is lost, the tag of the
// object tells whether it was written. If even that cannot be found out, the intent stays, and
// after its lease Synchronizer settles it. A success means that the object has the document.
//
// One writer at a time holds the intent of a document; the others wait for their turn. May be
// called from any thread.
#pragma once

#include <optional>
#include <string>

#include "apps/documents/document_store.h"
#include "apps/documents/repairs.h"
#include "apps/documents/row_store.h"
#include "apps/documents/synchronizer.h"
#include "base/runtime.h"

namespace tidemark::documents {

struct WriteRequest {
  Document document;
  // Write only over the version with this ETag. Empty: only when there is no object. nullopt: over
  // any version.
  std::optional<std::string> expected_etag = std::nullopt;
};

struct WriteResult {
  std::string etag;     // Of the object; empty in a dry run.
  bool changed = true;  // False: the object was like this already, and nothing was written.
  // False: the row does not have the document, because it is too old or too large, or because the
  // table is unavailable. In the last case a note for a repair was left.
  bool cached = true;
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
               Synchronizer* synchronizer, Repairs* repairs, const Observer* observer,
               const Runtime& runtime);

  // kConflict when another version is there than the expected one, or other writers do not stop.
  // kInvalid when the status may not follow the one before. In strict mode every error of the table
  // before the object is written; in lenient mode such an error leaves a note instead. kUnknown
  // when the object may or may not have been written: it is harmless to write the same again.
  Result<WriteResult> Write(const Context& context, const WriteRequest& request);

  // Succeeds also when there is no such document. kInvalid unless its status allows it.
  Result<WriteResult> Delete(const Context& context, const DeleteRequest& request);

 private:
  struct Task;
  class Writing;

  Result<WriteResult> Run(const Context& context, const Task& task);
  WriteResult LogDryRun(const Task& task) const;

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  Synchronizer& synchronizer_;
  Repairs& repairs_;
  const Observer& observer_;
  const Runtime runtime_;
};

}  // namespace tidemark::documents
