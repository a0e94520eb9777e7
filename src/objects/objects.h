// Objects is a bucket with S3's semantics: bytes under a key, replaced as a whole, with an ETag
// that changes whenever the bytes or their metadata are written anew.
//
//   PutReply reply = TRY(objects.Put({.key = "slack/T1/C1/…", .bytes = text, .if_absent = true}));
//   if (!reply.applied) ...  // There is one.
//
// A reader sees an object before a write or after it, never a part. A success is durable before it
// is returned. Conditions are checked and the write is made as one step. An expected outcome
// (absent, condition not met) is a field of the reply.
//
// All methods may be called from any thread, and block until they are done. They fail with kInvalid
// when the request is wrong (nothing was written then), kUnavailable when nothing was done and
// trying later may help, kUnknown when a write may or may not have been applied, and kCorrupt
// when what is stored is damaged.
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

// Names of a-z, 0-9, '-', '_' and '.', at most 256; values of printable ASCII; together at most
// 2 KB.
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
  // The content: these bytes, or, when a path is given, those of the file, which is only read.
  std::string bytes = {};
  std::string file = {};
  std::string content_type = "application/octet-stream";
  Metadata metadata = {};
  // At most one: only when there is no object, or only over the one with this ETag.
  bool if_absent = false;
  std::optional<std::string> if_match = std::nullopt;
};
struct PutReply {
  bool applied = true;    // False: the condition did not hold, and nothing was written.
  std::string etag = {};  // Of what is stored now, when applied.
};

struct DeleteRequest {
  std::string key;
  std::optional<std::string> if_match = std::nullopt;
};
struct DeleteReply {
  bool applied = true;  // Also when there was none. False: the condition did not hold.
};

struct ListRequest {
  std::string prefix = {};
  std::string after = {};  // Keys that sort behind this one.
  size_t limit = kMaxPage;
};
struct ListReply {
  std::vector<ObjectInfo> objects = {};  // In the order of the keys' bytes.
  bool more = false;                     // There are others behind the last.
};

// An object that was opened: its bytes stay readable and the same, whatever is written under its
// key meanwhile. Belongs to one thread at a time.
class OpenObject {
 public:
  virtual ~OpenObject() = default;
  virtual const ObjectInfo& info() const = 0;
  // Up to `size` bytes from the offset on; fewer only at the end. kCorrupt when there are fewer
  // bytes than the object had.
  virtual Result<std::string> Read(uint64_t offset, size_t size) = 0;
};

class Objects {
 public:
  virtual ~Objects() = default;

  virtual Result<PutReply> Put(const PutRequest& request) = 0;
  // nullopt when there is none.
  virtual Result<std::optional<ObjectInfo>> Head(const std::string& key) = 0;
  // nullptr when there is none.
  virtual Result<std::unique_ptr<OpenObject>> Open(const std::string& key) = 0;
  virtual Result<DeleteReply> Delete(const DeleteRequest& request) = 0;
  virtual Result<ListReply> List(const ListRequest& request) = 0;
};

}  // namespace tidemark::objects
