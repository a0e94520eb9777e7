// The file of an object, opened for reading, with its properties (docs/formats/objects.md, "Files
// that other programs write" and "Damage"). Only one thread may use it at a time.
#pragma once

#include <cstdint>
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
  std::string sha256;  // Of its bytes: from the record, or computed if there is no valid record.
};

// Returns nullopt if there is no file at the path of the key. Fails with kCorrupt if its record is
// damaged.
Result<std::optional<StoredFile>> OpenStored(const Descriptor& root, const std::string& key);

// Reads the file. If it is read from the beginning to the end, the hash is checked.
class OpenFile final : public objects::OpenObject {
 public:
  explicit OpenFile(StoredFile stored) : stored_(std::move(stored)) {}

  const objects::ObjectInfo& info() const override { return stored_.info; }
  Result<std::string> Read(uint64_t offset, size_t size) override;

 private:
  Status Check(uint64_t offset, const std::string& bytes);

  const StoredFile stored_;
  Sha256Stream hasher_;
  uint64_t hashed_ = 0;  // The number of bytes that were read in order from the beginning.
};

// Reads up to `size` bytes at the offset, and fewer only at the end of the file.
constexpr size_t kPieceBytes = 256 << 10;
Result<std::string> ReadAt(const Descriptor& file, uint64_t offset, size_t size);

}  // namespace tidemark::directory
