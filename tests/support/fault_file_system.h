// FaultFileSystem is a file system for RocksDB that simulates a failing disk. In a power cut it
// loses what was not synced and keeps only a part of the last write. It can also return errors and
// run out of space. The test decides when each of these happens.
//
//   auto files = std::make_shared<FaultFileSystem>(folder.path(), &random);
//   files->Arm({.nth = 17, .effect = FaultEffect::kPowerCut});
//   ... work in folder.path() + "/data" until it fails, close it ...
//   files->Restart();
//   ... open it again and look ...
//
// Model of the disk. After a power cut a file has everything that was synced, and a random part,
// from the front, of what was appended since. Creating, renaming, linking and deleting a file are
// durable once the directory is synced. A power cut undoes some of the newest of these, in reverse
// order, as a journaling file system does. After a failed sync its bytes are lost: a later sync of
// the file succeeds and still does not store them, as on Linux.
//
// No real sync is ever made, because this does not test what happens when the process is killed.
// The files are ordinary files. A test can read and damage them while they are not open.
//
// All methods may be called from any thread. The object must outlive its open files.
// Files that are written in place, and log files that are used again, are not modelled: refused.
#pragma once

#include <array>
#include <cstdint>
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

// True for the calls that change the disk. A power cut between two of them can lead to another
// state than a power cut before both, so tests cut the power at each of them.
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
  // `root` is an existing folder. All files must be in folders below it, except in "attic", where
  // this object keeps deleted files. `random` decides what is left after a power cut.
  FaultFileSystem(std::string root, Random* random);
  ~FaultFileSystem() override;
  const char* Name() const override { return "FaultFileSystem"; }

  // ---- What the test does ----

  // Replaces the fault that was armed.
  void Arm(Fault fault);
  void Disarm();
  // True once the armed fault has happened.
  bool fired() const;

  // The default is kPrefix.
  void SetTearing(Tearing tearing);
  // Cuts the power now. Unsynced data is lost, and every later call on every open file fails.
  void PowerCut();
  // The power is back. Calls on files that were opened before still fail.
  void Restart();
  bool powered() const;

  // An append that needs more than this many bytes fails with "no space". nullopt: no limit.
  void SetFreeBytes(std::optional<uint64_t> bytes);

  // How many calls were made: of one kind, or of all kinds that change the disk.
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
  // RocksDB's info log is discarded: no test reads it, and it takes most of the time of an open.
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
  // A change of names in a folder that is not synced yet, and the function that undoes it.
  struct NameChange {
    std::string folder;
    std::string path;  // What came to be, or what was deleted.
    std::optional<std::string> renamed_from = std::nullopt;
    std::optional<std::string> kept_at = std::nullopt;  // In the attic: what was at `path` before.
    bool created = true;                                // False: deleted.
  };

  // The caller of Admit and of every method named ...Locked holds mutex_.
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

// Inverts one bit of a file. `bit` is below eight times the size of the file.
void FlipBit(const std::string& path, uint64_t bit);

}  // namespace tidemark
