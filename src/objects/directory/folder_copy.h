// Copies a folder of objects, also while it is in use. The copy of an object has its bytes, its
// record and its time, so it has the same ETag, content type and metadata.
//
//   auto copy = TRY(FolderCopy::Open("data/objects", "backup/objects"));
//   TRY(copy->CopyAll([&](uint64_t bytes) { ++copied; return !stop; }));
//   TRY(copy->Sync());
//
// The hash of every object is checked while it is copied. An object that is damaged is left out and
// is one of the problems. Files that are not objects (docs/formats/objects.md) are left out too.
// Any thread may call the methods.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace tidemark::directory {

// A copy leaves this much space on its disk, which may be the disk of a server: a store that has no
// space refuses every write.
inline constexpr uint64_t kFreeBytesAfterCopy = uint64_t{256} << 20;

// Called for each object with its size. False: stop.
using OnObject = std::function<bool(uint64_t size_bytes)>;

class FolderCopy {
 public:
  // Creates the folder `to` and its parents. kNotFound when there is no folder `from`.
  static Result<std::unique_ptr<FolderCopy>> Open(const std::string& from, const std::string& to,
                                                  uint64_t min_free_bytes = kFreeBytesAfterCopy);

  // Copies the object unless it was copied before. Nothing happens when there is no such object.
  // kUnavailable when too little space would be left.
  Status Copy(const std::string& key);
  // Copies every object that is there when its folder is reached. kCancelled when told to stop.
  Status CopyAll(const OnObject& on_object);
  // Puts everything that was copied on disk.
  Status Sync() const;

  // The objects that could not be copied because they are damaged.
  std::vector<std::string> problems() const;

 private:
  FolderCopy(Descriptor from, Descriptor to, uint64_t min_free_bytes)
      : from_(std::move(from)), to_(std::move(to)), min_free_bytes_(min_free_bytes) {}
  Status CheckSpaceFor(uint64_t size_bytes) const;
  // Returns the size.
  Result<uint64_t> CopyOne(const std::string& key);

  const Descriptor from_;
  const Descriptor to_;
  const uint64_t min_free_bytes_;
  mutable std::mutex mutex_;
  std::vector<std::string> problems_;
};

struct FolderReport {
  uint64_t objects = 0;
  uint64_t bytes = 0;
  std::vector<std::string> problems;  // Damaged objects.
};
// Reads every object of the folder and checks its hash. A missing folder has no objects.
Result<FolderReport> VerifyFolder(const std::string& folder, const OnObject& on_object);

}  // namespace tidemark::directory
