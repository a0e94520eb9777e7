// ObjectWrite puts or deletes the object of a document, and finds out what came of it: by the
// replies, and where they are missing by the tag that the object carries. It never guesses.
//
// One write; belongs to one thread.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "apps/documents/document_store.h"
#include "apps/documents/pause.h"
#include "base/clock.h"

namespace tidemark::documents {

enum class Landing {
  kLanded,
  kRefused,    // Another version is there than the one it was to replace; nothing was written.
  kFailed,     // Nothing was written, and nothing will be.
  kUndecided,  // Nobody knows, or it may still arrive.
  kOvertaken,  // Nobody knows, but somebody else has written since: it can no longer arrive.
};

struct ObjectWriteResult {
  Landing landing = Landing::kLanded;
  std::string etag = {};                           // Of what was written.
  std::optional<CacheError> error = std::nullopt;  // Unless it landed or was refused.
};

// For what must not be left half done: the context, or a moment more when it is over, for which
// who gave up does not wait.
Context EndingContext(const Context& context, const Clock& clock);

class ObjectWrite {
 public:
  struct What {
    std::string id;
    const std::string* json = nullptr;  // Null: the object is to be deleted.
    std::optional<std::string> base_etag = std::nullopt;
    std::string txn;
  };

  // All outlive this.
  ObjectWrite(What what, DocumentStore* store, Pauser* pauser, const Clock* clock)
      : what_(std::move(what)), store_(*store), pauser_(*pauser), clock_(*clock) {}

  ObjectWriteResult Run(const Context& context);

 private:
  Outcome<PutResult> Send(const Context& context);
  // nullopt: the object is still the one to be replaced.
  std::optional<ObjectWriteResult> Judge(const std::optional<ObjectState>& object) const;
  ObjectWriteResult GiveUp(CacheError error) const;
  CacheError Unknown(CacheError error) const;

  const What what_;
  DocumentStore& store_;
  Pauser& pauser_;
  const Clock& clock_;
  // A request was sent whose reply never came: it may have happened, or happen yet.
  bool in_doubt_ = false;
};

}  // namespace tidemark::documents
