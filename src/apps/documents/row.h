// A Row is what the cache knows about one document: the last version that was committed to the
// object store, or that the document was deleted. While a write is under way the row also has the
// intent of that write. docs/formats/documents.md describes how rows are stored.
//
// Readers never see anything of an intent. It only says that somebody may be changing the object,
// and by which tag the change is recognised.
//
// Below are the rules for what a row becomes once it is known what the object holds. The writer and
// the Synchronizer both use them, so they agree.
//
// Plain data and pure functions; may be used from any thread.
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
  // nullopt: the document is too large for the row, or the stored text is damaged. The object has
  // it.
  std::optional<Document> document;
  std::string etag;  // Of the object that holds it.
  EpochSeconds ttl = 0;
  friend bool operator==(const Committed&, const Committed&) = default;
};

// The object was deleted, or was not there when it was last read.
struct Tombstone {
  std::string etag;  // Of the version that was deleted; empty when it is not known.
  EpochSeconds deleted_at = 0;
  EpochSeconds ttl = 0;
  friend bool operator==(const Tombstone&, const Tombstone&) = default;
};

enum class IntentKind { kPut, kDelete };

struct Intent {
  std::string txn;  // The tag in the object's metadata once this write has happened.
  IntentKind kind = IntentKind::kPut;
  std::optional<std::string> base_etag;  // Of the object that it replaces; nullopt: there is none.
  std::chrono::milliseconds started{0};  // Since the epoch.
  std::string process = {};              // The name of the process that writes.
  friend bool operator==(const Intent&, const Intent&) = default;
};

struct Row {
  std::string id;
  // A new random text with each write of the row. A writer names the revision that it read.
  std::string revision = {};
  // At most one of these two. Neither: nothing is known yet, as before a first write.
  std::optional<Committed> committed = std::nullopt;
  std::optional<Tombstone> tombstone = std::nullopt;
  std::optional<Intent> intent = std::nullopt;
  // When the version or the tombstone was last compared with the object and found right.
  std::chrono::milliseconds verified{0};
  friend bool operator==(const Row&, const Row&) = default;
};

// Whether the row may be served: it has a version that has not expired. Its document may be
// missing.
bool IsServable(const Row& row, EpochSeconds now);
// Whether the writer must have given up: its process has ended, or the write began long ago.
bool IsStale(const Intent& intent, std::chrono::milliseconds now, const DocumentsOptions& options);
// Whether the row holds neither a version nor a tombstone.
bool IsBlank(const Row& row);

// When the row of a document ends: this long after the later of its creation and its modification.
EpochSeconds CalculateTtl(EpochSeconds created_at, EpochSeconds modified_at,
                          std::chrono::seconds life);

// The row when the object holds this version; it has no intent. A document that is older than the
// life of rows is not cached. Its row becomes a tombstone instead of going away, because a reader
// that read an older version before must not find an empty place and fill it with that version.
Row CommitVersion(const DocumentsOptions& options, Row row, Document document,
                  const std::string& etag, std::chrono::milliseconds now);

// The row when there is no object, or the object is not a document: a tombstone for a day.
Row MarkDeleted(Row row, std::chrono::milliseconds now);

// The row without its intent; nothing else changes.
Row WithoutIntent(Row row);

}  // namespace tidemark::documents
