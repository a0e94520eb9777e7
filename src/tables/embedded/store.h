// Store keeps sorted rows of bytes in a folder, in three families. Rows are written in atomic
// batches, and read as of now or as of a snapshot. Only store.cc and status.cc call RocksDB, so no
// other code sees RocksDB's types.
//
// Reads and cursors may be used from any thread; writes come from the committer alone.
// After a failed write, or when RocksDB reports an error in the background, the store
// refuses every further write until it is opened again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::embedded {

enum class Family {
  kCatalog,  // What tables there are, counts, tokens.
  kRows,     // Items, index rows, expiry rows.
  kStreams,  // Stream records.
};

// The rows from `low` up to but not including `high`.
struct Range {
  std::string low;
  std::string high;
};

// All keys that begin with `prefix`.
Range PrefixRange(std::string prefix);

// Changes that become visible and durable together.
class Batch {
 public:
  ~Batch();
  Batch(Batch&&) noexcept;

  void Put(Family family, std::string_view key, std::string_view value);
  void Delete(Family family, std::string_view key);
  void DeleteRange(Family family, const Range& range);
  bool empty() const;
  size_t size_bytes() const;

 private:
  friend class Store;
  struct Rep;
  explicit Batch(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

// The store as it was at one moment. It must not outlive its store.
class Snapshot {
 public:
  ~Snapshot();
  Snapshot(Snapshot&&) noexcept;

 private:
  friend class Store;
  struct Rep;
  explicit Snapshot(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

// Walks the rows of a range. When it is no longer valid, check `status`: a damaged block ends it
// too.
class Cursor {
 public:
  ~Cursor();
  Cursor(Cursor&&) noexcept;

  void SeekToFirst();
  void SeekToLast();
  void Seek(std::string_view key);         // To the first row at or behind the key.
  void SeekForPrev(std::string_view key);  // To the last row at or before the key.
  void Next();
  void Prev();
  bool valid() const;
  std::string_view key() const;    // Until the cursor moves.
  std::string_view value() const;  // Until the cursor moves.
  Status status() const;
  // True when a walk in memory has ended because it needs the disk to go on.
  bool needs_disk() const;

 private:
  friend class Store;
  struct Rep;
  explicit Cursor(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

enum class Found { kYes, kNo, kNeedsDisk };

// How a walk uses memory. A long walk reads ahead and does not fill the block cache. A walk in
// memory does not read the disk: it ends at the first row that is not in memory.
enum class Walk { kShort, kLong, kInMemory };

class Store {
 public:
  // The format of the folder that this version writes (docs/formats/folder.md).
  static constexpr uint32_t kFormat = 1;

  static Result<std::unique_ptr<Store>> Open(const Options& options);
  ~Store();

  // False when there is no such row.
  Result<bool> Get(Family family, std::string_view key, std::string* value) const;
  Result<bool> Get(Family family, std::string_view key, std::string* value,
                   const Snapshot& snapshot) const;
  // The same without reading the disk.
  Result<Found> GetInMemory(Family family, std::string_view key, std::string* value) const;
  Cursor Iterate(Family family, Range range, Walk walk = Walk::kShort) const;
  Cursor Iterate(Family family, Range range, const Snapshot& snapshot) const;
  Snapshot TakeSnapshot() const;

  Batch NewBatch() const;
  enum class Sync { kYes, kNo };
  // Writes the batch to the log and makes it visible. With Sync::kYes, the batch and all batches
  // before it are on disk first. kUnavailable: nothing was written. kUnknown: the disk failed
  // during the write.
  Status Write(Batch* batch, Sync sync);

  // kUnavailable with the reason when writes are stopped, kDenied when open for reading.
  Status Writable() const;
  // kUnavailable when the last CheckFreeSpace found less free space than the reserve.
  Status HasSpace() const;
  void CheckFreeSpace();

  // Whether writes are stopped by a full disk or by exhausted descriptors, and that is over.
  bool CanReopen() const;
  // Closes the database and opens it again. Fails when something is being read, when opening
  // fails, or when an acknowledged write is missing; then writes stay stopped, and reads go on if
  // possible. `forget` clears the caches; nobody reads the store while it runs. After a success
  // the caller, which is the committer between two groups, calls EndReopening.
  Status Reopen(const std::function<void()>& forget);
  // Allows writes, unless the outcome is an error.
  void EndReopening(const Status& outcome);

  FileShape Shape() const;

  // Reads every block of every file and compares it with its checksum. Calls the function before
  // each file, and ends with its error if it fails.
  Status VerifyFiles(const std::function<Status()>& go_on) const;
  // Copies everything as of now into a folder that is missing or empty, and syncs it. Only the last
  // step makes it a data folder. The store can be opened again while files are copied to another
  // disk.
  Status Checkpoint(const std::string& folder, StopFlag stop = nullptr) const;

 private:
  struct Rep;
  explicit Store(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace tidemark::embedded
