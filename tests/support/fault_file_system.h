// FaultFileSystem is a file system for RocksDB that behaves as a disk does on its worst day:
// it loses what was not synced when the power goes, tears what was being written, answers
// errors, and runs out of space. Each on demand, so that a test decides when.
//
//   auto files = std::make_shared<FaultFileSystem>(folder.path(), &random);
//   files->Arm({.nth = 17, .effect = FaultEffect::kPowerCut});
//   ... work in folder.path() + "/data" until it fails, close it ...
//   files->Restart();
//   ... open it again and look ...
//
// Model of the disk. A file keeps what was synced, and at a power cut a random part of the
// front of what was appended since. Creating, renaming, linking and deleting are durable once
// their directory is synced; at a power cut some of the newest ones are undone, in reverse
// order, as a journaling file system does. A sync that failed loses its bytes for good: later
// syncs of that file succeed and keep nothing of them, as Linux does.
//
// Nothing is ever synced for real: a kill of the test process is not what this tests. The
// files are ordinary files, and can be read and damaged directly while nothing has them open.
//
// All methods may be called from any thread. The object must outlive every handle it gave out.
// Not modelled, and refused: files that are written in place, and reuse of log files.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <rocksdb/file_system.h>

#include "base/random.h"

namespace tidemark {

enum class FileCallKind {
  kCreate,  // A file, to append to.
  kOpen,    // A file or folder, to read.
  kRead,
  kWrite,
  kSync,
  kSyncFolder,
  kClose,
  kRename,
  kLink,
  kDelete,
  kMakeFolder,
  kLook,  // Whether it exists, its size, its children.
};
inline constexpr size_t kFileCallKinds = 12;

struct FileCall {
  FileCallKind kind;
  std::string path;
  uint64_t offset = 0;  // For kRead at a place: where.
};

// True for the calls that leave something on the disk: the boundaries at which a power cut
// makes a difference.
bool Changes(const FileCall& call);

enum class FaultEffect {
  kError,     // The call answers an input/output error; of a write, a part may be done.
  kNoSpace,   // The call answers that the disk is full; of a write, a part may be done.
  kPowerCut,  // The power goes before the call.
};

struct Fault {
  // Which calls count.
  std::function<bool(const FileCall&)> matches = Changes;
  uint64_t nth = 1;  // From the moment it is armed; the first is 1.
  FaultEffect effect = FaultEffect::kError;
  bool persistent = false;  // From then on every matching call fails.
};

// What a power cut leaves of bytes that were not synced.
enum class Tearing {
  kPrefix,  // Some from their front.
  kPages,   // The same, and any page of it may be zeros: they were written in another order.
};

class FaultFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  // `root` is an existing folder; what is used must lie in it, in a folder other than "attic".
  // `random` decides what a power cut and a torn write keep.
  FaultFileSystem(std::string root, Random* random);
  ~FaultFileSystem() override;
  const char* Name() const override { return "FaultFileSystem"; }

  // ---- What the test does ----

  // Replaces the fault that was armed.
  void Arm(Fault fault);
  void Disarm();
  // True once the armed fault has happened.
  bool fired() const;

  // kPrefix unless told.
  void SetTearing(Tearing tearing);
  // The power goes now: unsynced state is lost, and every call on every handle fails.
  void PowerCut();
  // The power is back. Handles from before stay dead.
  void Restart();
  bool powered() const;

  // Appends beyond this many bytes are answered with "no space". nullopt: as much as there is.
  void SetFreeBytes(std::optional<uint64_t> bytes);

  // Calls that were tried, of one kind or that change something.
  uint64_t Count(FileCallKind kind) const;
  uint64_t CountChanges() const;

  // ---- What RocksDB does ----

  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* result,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* result,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomRWFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus FileExists(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetChildren(const std::string& folder, const rocksdb::IOOptions& options,
                                std::vector<std::string>* result,
                                rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetFileSize(const std::string& path, const rocksdb::IOOptions& options,
                                uint64_t* size, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus Truncate(const std::string& path, size_t size,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus CreateDir(const std::string& path, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus CreateDirIfMissing(const std::string& path, const rocksdb::IOOptions& options,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LockFile(const std::string& path, const rocksdb::IOOptions& options,
                             rocksdb::FileLock** lock, rocksdb::IODebugContext* debug) override;
  // RocksDB's own log is not kept: it proves nothing and costs most of an open.
  rocksdb::IOStatus NewLogger(const std::string& path, const rocksdb::IOOptions& options,
                              std::shared_ptr<rocksdb::Logger>* result,
                              rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options,
                                 uint64_t* free_bytes, rocksdb::IODebugContext* debug) override;

 private:
  class Writer;
  class SequentialReader;
  class PlacedReader;
  class Folder;
  struct Content;
  // A change of names that its folder has not synced yet, with what undoes it.
  struct NameChange {
    std::string folder;
    std::string path;  // What came to be, or what was deleted.
    std::optional<std::string> renamed_from = std::nullopt;
    std::optional<std::string> kept_at = std::nullopt;  // In the attic: what was at `path` before.
    bool created = true;                                // False: deleted.
  };

  // Everything named ...Locked, and Admit, is called with mutex_ held.
  template <typename Action>
  rocksdb::IOStatus Do(const FileCall& call, uint64_t generation, Action action);
  template <typename Action>
  rocksdb::IOStatus Do(const FileCall& call, Action action);
  rocksdb::IOStatus Admit(const FileCall& call, uint64_t generation);
  using WriteForReal = std::function<rocksdb::IOStatus(const rocksdb::Slice&)>;
  rocksdb::IOStatus Append(const std::shared_ptr<Content>& content, const std::string& path,
                           const rocksdb::Slice& data, uint64_t generation,
                           const WriteForReal& write);
  rocksdb::IOStatus Sync(const std::shared_ptr<Content>& content, const std::string& path,
                         uint64_t generation);
  std::shared_ptr<Content> ContentLocked(const std::string& path);
  std::optional<std::string> MoveToAtticLocked(const std::string& path);
  void RetellPathsLocked(const std::string& from, const std::string& to);
  void SettleLocked(const std::string& folder);
  void PowerCutLocked();
  void LoseContentLocked(Content* content);
  void UndoNamesLocked();
  uint64_t KeptOf(uint64_t unsynced);

  const std::string attic_;
  Random* const random_;
  mutable std::mutex mutex_;
  bool powered_ = true;
  Tearing tearing_ = Tearing::kPrefix;
  uint64_t generation_ = 1;  // Handles of an earlier one are dead.
  std::optional<Fault> fault_;
  uint64_t matched_ = 0;  // Calls the fault has counted.
  bool fired_ = false;
  std::optional<uint64_t> free_bytes_;
  std::array<uint64_t, kFileCallKinds> counts_ = {};
  uint64_t changes_ = 0;
  uint64_t attic_names_ = 0;
  std::set<std::shared_ptr<Content>> unsynced_;
  std::vector<NameChange> names_;  // In the order they were made.
};

// Turns one bit of a file round, in place. `bit` is below eight times the file's size.
void FlipBit(const std::string& path, uint64_t bit);

}  // namespace tidemark
