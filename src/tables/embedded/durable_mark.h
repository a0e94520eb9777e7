// DurableMark is a small file beside the logs. It holds the sequence number of the newest write
// that was synced, so that opening can check that the logs still contain that write. The logs alone
// cannot show that an end was cut off or that the newest log is missing: both look like an earlier
// crash.
//
//   const auto promised = TRY(DurableMark::Read(path));      // before the folder is opened
//   DurableMark mark = TRY(DurableMark::Open(path));
//   mark.Advance(sequence);                                  // after each sync of the log
//
// Advance overwrites the file in place after each sync of the log, and does not sync the file
// itself. When the process is killed, the kernel still writes the file. A power cut may leave an
// older mark. So the mark may be lower than what is on disk, but never higher. The format is in
// docs/formats/folder.md.
//
// A second file of the same form holds another sequence number: when the folder was last opened,
// everything up to it was in table files. It is needed if the logs begin with a hole: the changes
// in the hole come after this number.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/result.h"

namespace tidemark::embedded {

class DurableMark {
 public:
  DurableMark() = default;

  // nullopt when the file is missing or damaged.
  static Result<std::optional<uint64_t>> Read(const std::string& path);
  // Creates the file when it is missing.
  static Result<DurableMark> Open(const std::string& path);

  void Advance(uint64_t sequence);
  // Puts the mark on disk.
  void Sync();

 private:
  explicit DurableMark(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace tidemark::embedded
