// DocumentStore reads and writes documents as objects. The objects are the truth; the table is only
// a cache of them.
//
//   std::optional<StoredDocument> stored = TRY(store.Read(context, id));
//   ObjectWriteReply reply = store.Write(context, {.id = id, .json = &json, .base_etag = etag,
//                                                  .txn = tag});
//
// A write names the version that it replaces and puts a tag into the object's metadata. When a
// reply is lost, the tag tells whether the write has happened: nothing is ever guessed.
//
// Reads are retried as the Retrier says. May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/documents/context.h"
#include "apps/documents/document.h"
#include "apps/documents/options.h"
#include "apps/documents/retrier.h"
#include "base/result.h"
#include "base/runtime.h"
#include "objects/objects.h"

namespace tidemark::documents {

// The key of a document's object.
std::string ObjectKey(const DocumentsOptions& options, std::string_view id);
// The id of the document whose object has this key. Returns nullopt when the key is not below the
// prefix of documents, or cannot be that of a document.
std::optional<std::string> IdOfKey(const DocumentsOptions& options, std::string_view key);

// The metadata of an object in which a write puts its tag.
inline constexpr std::string_view kTxnMetadata = "tidemark-txn";

struct ObjectState {
  std::string etag;
  std::string txn = {};  // Empty when another program wrote the object.
  std::chrono::milliseconds modified{0};
  friend bool operator==(const ObjectState&, const ObjectState&) = default;
};

struct StoredDocument {
  // Not parsed, because other programs write here too. Empty when the object is larger than
  // kMaxDocumentBytes.
  std::string json;
  ObjectState state;
  uint64_t size_bytes = 0;  // Of the object.
};

// The document in an object. kInvalid when its text is not a document, or is the document of
// another id.
Result<Document> ParseObject(const std::string& id, StoredDocument stored);

enum class ObjectWriteState {
  kWritten,    // Also by an earlier attempt whose reply was lost.
  kRefused,    // Another version is there than the one to be replaced. Nothing was written.
  kFailed,     // Nothing was written, and nothing will be.
  kUndecided,  // The write may have happened or may still happen.
  kOvertaken,  // The write may have happened, but another writer has written since.
};

struct ObjectWrite {
  std::string id;
  const std::string* json = nullptr;                    // Null: the object is deleted.
  std::optional<std::string> base_etag = std::nullopt;  // nullopt: there must be no object.
  std::string txn;
};

struct ObjectWriteReply {
  ObjectWriteState state = ObjectWriteState::kWritten;
  std::string etag = {};                      // Of what was written.
  std::optional<Error> error = std::nullopt;  // Set unless it was written or refused.
};

struct ListedObject {
  std::string id;
  ObjectState state;  // Without the tag.
};
struct ObjectPage {
  std::vector<ListedObject> objects;  // In the order of their keys.
  std::optional<std::string> last;    // The next page begins after this key; unset on the last one.
};

class DocumentStore {
 public:
  // All outlive this.
  DocumentStore(const DocumentsOptions& options, objects::Objects* objects, const Retrier* retrier,
                const Runtime& runtime);

  // Both return nullopt when there is no object.
  Result<std::optional<ObjectState>> Head(const Context& context, const std::string& id);
  Result<std::optional<StoredDocument>> Read(const Context& context, const std::string& id);

  // Sends the write until its outcome is known, or until the retries are used up.
  ObjectWriteReply Write(const Context& context, const ObjectWrite& write);

  // The objects that can be documents. At most `limit` keys are looked at.
  Result<ObjectPage> List(const Context& context, const std::string& after, size_t limit);

 private:
  class Writing;

  Result<std::optional<StoredDocument>> ReadOnce(const std::string& key);

  const DocumentsOptions options_;
  objects::Objects& objects_;
  const Retrier& retrier_;
  const Runtime runtime_;
};

}  // namespace tidemark::documents
