// Objects is a bucket with S3's semantics: bytes under a key, replaced as a whole, with an ETag
// that changes with every write of the bytes or their metadata.
//
//   PutReply reply = TRY(objects.Put({.key = "slack/T1/C1/…", .bytes = text, .if_absent = true}));
//   if (!reply.applied) ...  // The object exists already.
//
// A reader sees an object as it was before a write or after it, never a part of it. A write is
// durable before it returns. A condition is checked in one step with the write. Expected outcomes
// (absent, condition not met) are fields of the reply.
//
// Any thread may call the methods. They block until they are done. The errors are: kInvalid if the
// request is wrong (nothing was written); kUnavailable if nothing was done and a retry may help;
// kUnknown if a write may or may not have been applied; kCorrupt if the stored object is damaged.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tidemark::objects {

inline constexpr size_t kMaxKeyBytes = 1024;
inline constexpr size_t kMaxPage = 1000;

// Names have a-z, 0-9, '-', '_' and '.', and at most 256 bytes. Values are printable ASCII. All
// together have at most 2 KB.
using Metadata = std::map<std::string, std::string>;

struct ObjectInfo {
  std::string key;
  uint64_t size = 0;
  std::string etag;  // Without quotes.
  std::string content_type;
  Metadata metadata;
  std::chrono::milliseconds modified{0};  // Since the epoch.
  friend bool operator==(const ObjectInfo&, const ObjectInfo&) = default;
};

struct PutRequest {
  std::string key;  // UTF-8, not empty, no "." or ".." between slashes.
  // The content: these bytes or, if a path is given, those of the file, which is not changed.
  std::string bytes = {};
  std::string file = {};
  std::string content_type = "application/octet-stream";
  Metadata metadata = {};
  // At most one of these: write only if there is no object, or only if it has this ETag.
  bool if_absent = false;
  std::optional<std::string> if_match = std::nullopt;
};
struct PutReply {
  bool applied = true;    // False: the condition does not hold, and nothing was written.
  std::string etag = {};  // The new ETag, if applied.
};

struct DeleteRequest {
  std::string key;
  std::optional<std::string> if_match = std::nullopt;
};
struct DeleteReply {
  bool applied = true;  // True also if there was no object. False: the condition does not hold.
};

struct ListRequest {
  std::string prefix = {};
  std::string after = {};  // Only keys that sort after this one.
  size_t limit = kMaxPage;
};
struct ListReply {
  std::vector<ObjectInfo> objects = {};  // In the order of the bytes of the keys.
  bool more = false;                     // There are more after the last one.
};

// An open object. Its bytes do not change, even if the key is overwritten or deleted. Only one
// thread may use it at a time.
class OpenObject {
 public:
  virtual ~OpenObject() = default;
  virtual const ObjectInfo& info() const = 0;
  // Returns up to `size` bytes from the offset on, and fewer only at the end. Fails with kCorrupt
  // if the object has become shorter.
  virtual Result<std::string> Read(uint64_t offset, size_t size) = 0;
};

class Objects {
 public:
  virtual ~Objects() = default;

  virtual Result<PutReply> Put(const PutRequest& request) = 0;
  // Returns nullopt if there is no object.
  virtual Result<std::optional<ObjectInfo>> Head(const std::string& key) = 0;
  // Returns nullptr if there is no object.
  virtual Result<std::unique_ptr<OpenObject>> Open(const std::string& key) = 0;
  virtual Result<DeleteReply> Delete(const DeleteRequest& request) = 0;
  virtual Result<ListReply> List(const ListRequest& request) = 0;
};

}  // namespace tidemark::objects
