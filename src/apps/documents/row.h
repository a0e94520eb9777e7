// A Row is what the cache knows of one document: the last version known to be committed in the
// object store, or that it was deleted; and, while a write is under way, the intent beside it.
// docs/formats/documents.md describes how it is stored. Plain data.
//
// Nothing of an intent is ever served: it says only that somebody may be changing the object, and
// by which tag to recognise the change.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "apps/documents/document.h"
#include "apps/documents/options.h"
#include "base/clock.h"

namespace tidemark::documents {

// A version that was in the object store.
struct Committed {
  DocumentFacts facts;
  // nullopt: it is too large for the row, or the stored text is damaged; the object has it.
  std::optional<Document> document;
  std::string etag;  // Of the object that holds it.
  EpochSeconds ttl = 0;
  friend bool operator==(const Committed&, const Committed&) = default;
};

// The object was deleted, or was gone when somebody looked.
struct Tombstone {
  std::string etag;  // Of the version that was deleted; empty when it is not known.
  EpochSeconds deleted_at = 0;
  EpochSeconds ttl = 0;
  friend bool operator==(const Tombstone&, const Tombstone&) = default;
};

enum class IntentKind { kPut, kDelete };

struct Intent {
  std::string txn;  // What the object's metadata says once this write has happened.
  IntentKind kind = IntentKind::kPut;
  std::optional<std::string> base_etag;  // Of the object it replaces; nullopt: there is none.
  std::chrono::milliseconds started{0};  // Since the epoch.
  friend bool operator==(const Intent&, const Intent&) = default;
};

struct Row {
  std::string id;
  // Anew with each write of the row: who writes names the one it read.
  std::string revision = {};
  // At most one of the two. Neither: nothing is known, as before a first write.
  std::optional<Committed> committed = std::nullopt;
  std::optional<Tombstone> tombstone = std::nullopt;
  std::optional<Intent> intent = std::nullopt;
  // When the committed part, or the tombstone, was last seen to be the object's state.
  std::chrono::milliseconds verified{0};
  // Of the last event that was handled; orders events of this object and nothing else.
  std::string sequencer = {};
  friend bool operator==(const Row&, const Row&) = default;
};

// Whether the row may be served: committed and not expired. Its document may be missing.
bool IsServable(const Row& row, EpochSeconds now);
// Whether a write began so long ago that nobody waits for it any more.
bool IsStale(const Intent& intent, std::chrono::milliseconds now, const DocumentsOptions& options);

}  // namespace tidemark::documents
