// ImportUploads keeps exports that callers send in pieces, one file each, until they are imported.
//
//   uint64_t size = TRY(uploads.Append(id, offset, piece));   // Again and again.
//   TRY(uploads.Verify(id, stop));                             // Is it what the sender has?
//
// The id of an export is the SHA-256 hash of its bytes, in hexadecimal. So an upload that was
// interrupted goes on where it ended, also after a restart of the server, and a damaged one is
// noticed. One upload is kept at a time. A new one removes an older one that is complete, or that
// got nothing for ten minutes or since the start. May be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"

namespace tidemark::api {

struct ImportUploadsOptions {
  std::string folder;
  uint64_t min_free_bytes = 0;  // Of its disk: nothing is kept that would leave less.
};

class ImportUploads {
 public:
  // The clock outlives this.
  ImportUploads(ImportUploadsOptions options, const Clock* clock)
      : options_(std::move(options)), clock_(*clock) {}

  // kInvalid when it is not a hash in hexadecimal. Call it first: an id is a part of a path.
  static Status CheckId(const std::string& id);
  std::string PathOf(const std::string& id) const { return options_.folder + "/" + id + ".part"; }

  // How many bytes are there; nullopt when there is no upload.
  std::optional<uint64_t> SizeOf(const std::string& id) const;
  // Adds a piece and returns the new size. kConflict when the upload does not end at the offset,
  // kInUse while another upload is being received, kUnavailable when the disk has no room.
  Result<uint64_t> Append(const std::string& id, uint64_t offset, std::string_view piece);
  // The upload is complete: another one may begin.
  void Finish(const std::string& id);
  // kInvalid when the bytes do not have this hash. kCancelled when `stop` is set meanwhile.
  Status Verify(const std::string& id, const std::atomic<bool>& stop) const;
  void Remove(const std::string& id);

 private:
  Status MakeRoomFor(const std::string& id);
  Status CheckDisk(uint64_t bytes) const;

  const ImportUploadsOptions options_;
  const Clock& clock_;
  std::mutex mutex_;
  std::string receiving_;  // The id of the last piece, and when it came.
  std::chrono::nanoseconds received_at_{0};
};

}  // namespace tidemark::api
