// DocumentStore reads and writes documents as objects: the truth. A write names the version that
// it replaces, and carries a tag by which it is recognised afterwards.
//
// Reads are retried as the Retrier says. A write whose outcome is not known is not repeated: it
// says so, and whoever made it looks at the object. May be called from any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "apps/documents/cache_error.h"
#include "apps/documents/context.h"
#include "apps/documents/options.h"
#include "apps/documents/retrier.h"
#include "objects/objects.h"

namespace tidemark::documents {

// The metadata of an object that holds its transaction's tag.
inline constexpr std::string_view kTxnMetadata = "tidemark-txn";

// What an object says of itself.
struct ObjectState {
  std::string etag;
  std::string txn = {};  // Empty when others wrote it.
  std::chrono::milliseconds modified{0};
  friend bool operator==(const ObjectState&, const ObjectState&) = default;
};

struct StoredDocument {
  // Not parsed: others write here too. Empty when it is larger than kMaxDocumentBytes.
  std::string json;
  ObjectState state;
};

enum class PutOutcome {
  kWritten,
  kRefused,  // Another version is there than the one it was to replace; nothing was written.
  kUnknown,  // It may or may not have been written.
};

struct ObjectPut {
  std::string id;
  std::string json;
  std::optional<std::string> base_etag = std::nullopt;  // nullopt: there must be none.
  std::string txn;
};

struct PutResult {
  PutOutcome outcome = PutOutcome::kWritten;
  std::string etag = {};  // When it was written.
};

struct ListedObject {
  std::string id;
  ObjectState state;  // Without the tag.
};
struct ObjectPage {
  std::vector<ListedObject> objects;  // In the order of their keys.
  std::optional<std::string> last;    // The key to go on behind; set when there are more.
};

class DocumentStore {
 public:
  // All outlive this.
  DocumentStore(const DocumentsOptions& options, objects::Objects* objects, const Retrier* retrier);

  // nullopt when there is no object.
  Outcome<std::optional<ObjectState>> Head(const Context& context, const std::string& id);
  Outcome<std::optional<StoredDocument>> Read(const Context& context, const std::string& id);

  Outcome<PutResult> Put(const Context& context, const ObjectPut& put);
  // kWritten also when there was none.
  Outcome<PutOutcome> Delete(const Context& context, const std::string& id,
                             const std::string& base_etag);

  // What is below the authoritative prefix and can be a document; at most `limit` keys are looked
  // at.
  Outcome<ObjectPage> List(const Context& context, const std::string& after, size_t limit);

 private:
  Result<std::optional<StoredDocument>> ReadOnce(const std::string& key);

  const DocumentsOptions options_;
  objects::Objects& objects_;
  const Retrier& retrier_;
};

}  // namespace tidemark::documents
