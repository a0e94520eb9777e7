// Store is the folder as rows of bytes: three families of sorted rows, written in atomic
// batches, read at the present or as of a snapshot. It is the only code that calls RocksDB
// (with status.cc), so that nothing above it sees RocksDB's types.
//
// Reads and cursors may be used from any thread; writes come from the committer alone.
// After a failed write, or when RocksDB reports trouble in the background, the store
// refuses every further write until it is opened again.
#pragma once

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

// The range of all keys that begin with `prefix`.
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

// Walks the rows of a range. Check `status` when it is no longer valid: damage ends it too.
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

 private:
  friend class Store;
  struct Rep;
  explicit Cursor(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

// How a walk uses memory: a long one reads ahead and leaves the cache to others.
enum class Walk { kShort, kLong };

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
  Cursor Iterate(Family family, Range range, Walk walk = Walk::kShort) const;
  Cursor Iterate(Family family, Range range, const Snapshot& snapshot) const;
  Snapshot TakeSnapshot() const;

  Batch NewBatch() const;
  enum class Sync { kYes, kNo };
  // Makes the batch durable (with Sync::kYes together with all before it) and then visible.
  // kUnavailable: nothing was written. kUnknown: the disk failed under it.
  Status Write(Batch* batch, Sync sync);

  // kUnavailable with the reason when writes are stopped, kDenied when open for reading.
  Status Writable() const;
  // kUnavailable while the disk has less left than its reserve, as of the last look.
  Status HasSpace() const;
  void CheckFreeSpace();

  // Reads every block of every file against its checksum.
  Status VerifyFiles() const;
  // A copy of everything as of now, synced, in a folder that is missing or empty. It becomes a
  // data folder only with its last step.
  Status Checkpoint(const std::string& folder) const;

 private:
  struct Rep;
  explicit Store(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace tidemark::embedded
