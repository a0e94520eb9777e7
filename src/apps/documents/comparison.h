// Comparison brings the cache up to date with changes of objects that no watcher reported: the
// program was not running, or a watcher missed something. It compares the names and the versions of
// all objects with those of all rows, and synchronizes what differs. So objects that have not
// changed are not read.
//
// Until it is finished the rows are not trusted: reads look at the object, and ranges read the
// objects or say that they are not complete. At the end it leaves the coverage mark, because it has
// seen every object.
//
// One thread at a time may call Advance. Begin may be called from any thread.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "apps/documents/document_store.h"
#include "apps/documents/observer.h"
#include "apps/documents/row_store.h"
#include "apps/documents/synchronizer.h"

namespace tidemark::documents {

class Comparison {
 public:
  // All outlive this.
  Comparison(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
             Synchronizer* synchronizer, const Observer* observer);

  // Objects may have changed unnoticed: the rows are not trusted any more, and the comparison
  // starts from the beginning, also when one is under way.
  void Begin();

  // Continues until the end or until this time. True when there is nothing left to compare. After
  // an error another call continues. An object that is damaged is left alone: only its owner can
  // mend it.
  Result<bool> Advance(const Context& context, const Deadline& until);

 private:
  // A run from the beginning to the end.
  struct Run {
    CoverageMark mark;
    bool has_rows = false;
    std::map<std::string, std::string> rows = {};  // Id → version, of rows not met as objects yet.
    std::optional<std::string> after = "";         // The last object that was compared.
    bool still_differs = false;                    // In a dry run: something should be written.
  };

  bool TakeBegin();
  Status ReadRows(const Context& context);
  // Both return when they are done or the time is over.
  Status CompareObjects(const Context& context, const Deadline& until);
  Status CompareRest(const Context& context, const Deadline& until);
  Status Synchronize(const Context& context, const std::string& id);
  Result<bool> Finish(const Context& context);

  const DocumentsOptions options_;
  RowStore& rows_;
  DocumentStore& store_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
  std::optional<Run> run_;  // nullopt: nothing is to be compared.
  std::mutex mutex_;
  bool begins_ = false;  // Begin was called since the last call of Advance.
};

}  // namespace tidemark::documents
