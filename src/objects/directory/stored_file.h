// An object's file, opened to be read, with what is known of it; docs/formats/objects.md, "Files
// that others write" and "Damage". Belongs to one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/hashing.h"
#include "base/result.h"
#include "objects/objects.h"

namespace tidemark::directory {

struct StoredFile {
  Descriptor file;
  objects::ObjectInfo info;
  std::string sha256;  // Of its bytes: as recorded or, without a record that counts, as found.
};

// nullopt when there is no file at the path of the key. kCorrupt when its record is damaged.
Result<std::optional<StoredFile>> OpenStored(const Descriptor& root, const std::string& key);

// Reads the file, and compares the hash when it was read from its front to its end.
class OpenFile final : public objects::OpenObject {
 public:
  explicit OpenFile(StoredFile stored) : stored_(std::move(stored)) {}

  const objects::ObjectInfo& info() const override { return stored_.info; }
  Result<std::string> Read(uint64_t offset, size_t size) override;

 private:
  Status Check(uint64_t offset, const std::string& bytes);

  const StoredFile stored_;
  Sha256Stream hasher_;
  uint64_t hashed_ = 0;  // Bytes from the front; those behind were not read in order.
};

// Reads up to `size` bytes at the offset; fewer only at the end of the file.
Result<std::string> ReadAt(const Descriptor& file, uint64_t offset, size_t size);

}  // namespace tidemark::directory
