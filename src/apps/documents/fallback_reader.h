// FallbackReader gets a document from the cache. When the cache does not have it or is unavailable,
// it reads the object, and fills the cache with what it found.
//
// Callers that miss the same document at the same time share one read of the object, but no caller
// gets the result of a read that began before its request. A fill is written only when the row has
// not been written since the miss. When neither store has a document, this process remembers that
// for at most 30 s, and forgets it as soon as a row appears. May be called from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/documents/document_store.h"
#include "apps/documents/observer.h"
#include "apps/documents/row_store.h"
#include "apps/documents/synchronizer.h"
#include "base/later.h"

namespace tidemark::documents {

enum class ReadSource { kCache, kObject };

struct ReadReply {
  Document document;
  std::string etag;
  ReadSource source = ReadSource::kCache;
  // How long ago this was last compared with the object.
  std::chrono::milliseconds age{0};
};

class FallbackReader {
 public:
  // All outlive this.
  FallbackReader(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
                 Synchronizer* synchronizer, const Observer* observer);
  ~FallbackReader();

  // Does work that may block on another thread. False: it cannot, and the work is dropped.
  using RunElsewhere = std::function<bool(std::function<void()>)>;
  // Answers nullopt when there is no object, and kNotFound, saying why, when the object is not a
  // document. kUnavailable when the cache does not have it and the object store cannot be asked;
  // the message names both stores when the cache is unavailable too. A failed fill is only a
  // warning.
  //
  // Only the row is read on the calling thread; `run` gets the read of the object, once for all
  // callers that share it. Callers that wait hold no thread. kUnavailable when `run` cannot take
  // it.
  Later<std::optional<ReadReply>> GetLater(const Context& context, const std::string& id,
                                           const RunElsewhere& run);

 private:
  class Impl;
  const Observer& observer_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::documents
