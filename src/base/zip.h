// A ZipFile reads the files inside a zip file, also those of several gigabytes (zip64), without
// unpacking it: piece by piece, in bounded memory.
//
//   ZipFile zip = TRY(ZipFile::Open("export.zip"));
//   for (const ZipEntry& entry : zip.entries()) {
//     TRY(zip.Read(entry, [&](std::string_view piece) -> Status { ... }));
//   }
//
// Names are returned as they are in the file. Use them only for comparisons, never to build paths.
// One thread at a time may use it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

struct zip;

namespace tidemark {

struct ZipEntry {
  std::string name;  // With slashes between folders.
  uint64_t index = 0;
  uint64_t size_bytes = 0;  // Unpacked, as the zip file says.
};

class ZipFile {
 public:
  // kNotFound when there is no such file, kInvalid when it is not a zip file or is cut off.
  static Result<ZipFile> Open(const std::string& path);

  // Files only, in the order of the zip file.
  const std::vector<ZipEntry>& entries() const { return entries_; }

  // Calls `take` with one piece after the other. An error of `take` ends the reading. kCorrupt when
  // the checksum is wrong, or the content is longer than the entry says: then the pieces given so
  // far must not be used. kInvalid when the entry is encrypted or uses an unknown compression.
  Status Read(const ZipEntry& entry, const std::function<Status(std::string_view piece)>& take);

 private:
  struct Close {
    void operator()(zip* archive) const;
  };
  using Handle = std::unique_ptr<zip, Close>;

  ZipFile(Handle archive, std::vector<ZipEntry> entries)
      : archive_(std::move(archive)), entries_(std::move(entries)) {}

  Handle archive_;
  std::vector<ZipEntry> entries_;
};

}  // namespace tidemark
