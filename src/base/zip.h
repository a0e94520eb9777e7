// A ZipFile reads the files inside a zip file, also those of several gigabytes (zip64), without
// unpacking it: piece by piece, in bounded memory.
//
//   ZipFile zip = TRY(ZipFile::Open("export.zip"));
//   for (const ZipEntry& entry : zip.entries()) {
//     TRY(zip.Read(entry, [&](std::string_view piece) -> Status { ... }));
//   }
//
// Names come from the file as they are: they are for comparing, never for making paths of. One
// thread at a time may use it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
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
  // kNotFound when there is no such file, kInvalid when it is no zip file or is cut off.
  static Result<ZipFile> Open(const std::string& path);

  // Files only, in the order of the zip file.
  const std::vector<ZipEntry>& entries() const { return entries_; }

  // Calls `take` with one piece after the other; an Error of its ends the reading. kCorrupt when
  // what was read is not what was packed, or is longer than the entry says: then the pieces
  // given so far are not to be trusted. kInvalid when it is encrypted or packed in a way that is
  // not known.
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
