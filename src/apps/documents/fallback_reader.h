// FallbackReader gets a document from the cache and, when that does not have it or is away, from
// the object store, and fills the cache with what it found.
//
// Those who miss the same document at the same time share one read of the object; nobody is given
// one that began before it asked. A fill lands only when nobody wrote the row since the miss. That
// neither has a document is remembered for at most 30 s, in this process, and forgotten when a row
// appears. May be called from any thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "apps/documents/cache_manager.h"
#include "apps/documents/document_store.h"
#include "apps/documents/synchronizer.h"

namespace tidemark::documents {

enum class ReadSource { kCache, kObject };

struct ReadReply {
  Document document;
  std::string etag;
  ReadSource source = ReadSource::kCache;
  // How long ago this was seen to be the object's content.
  std::chrono::milliseconds age{0};
};

class FallbackReader {
 public:
  // All outlive this.
  FallbackReader(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
                 Synchronizer* synchronizer, const Observer* observer);
  ~FallbackReader();

  // kNotFound when the object store has none; kUnavailable when it cannot be asked and the cache
  // has none, naming both when the cache is away too. A failed fill is only a warning.
  Outcome<ReadReply> Get(const Context& context, const std::string& id);

 private:
  class Impl;
  const Observer& observer_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::documents
