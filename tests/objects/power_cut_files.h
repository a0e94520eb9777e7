// A folder on a machine whose power the test can cut. It sits between DirectoryObjects and the
// system, and loses what was not synced.
//
//   PowerCutFiles files(folder);
//   files.CutAt(17);                        // Before the seventeenth call from now.
//   ... work in the folder until it fails, close it ...
//   files.Restart({.names = Loss::kAll, .bytes = Loss::kAll});
//   ... open it again and look ...
//
// Model of the disk. A file's bytes, time and attributes are durable after it is synced. Before
// that, all bytes, a prefix or nothing is left, without attributes. Creating, renaming and removing
// a name is durable after its folder is synced (for a rename: the folder of the new name). Before
// that, some of the newest changes are undone, in reverse order, as a journaling file system does.
//
// Nothing is really synced. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "objects/directory/file_ops.h"

namespace tidemark::directory {

enum class Loss { kNone, kSome, kAll };
struct Losses {
  Loss names = Loss::kAll;
  Loss bytes = Loss::kAll;
};

class PowerCutFiles final : public FileOps {
 public:
  // The folder must exist. `attic` is another folder, for files that may have to be restored.
  PowerCutFiles(std::string folder, std::string attic, Random* random);

  // Cuts the power before the n-th call from now.
  void CutAt(uint64_t nth) { cut_at_ = calls_ + nth; }
  // The n-th call from now fails, and nothing else happens.
  void FailAt(uint64_t nth) { fail_at_ = calls_ + nth; }
  bool powered() const { return powered_; }
  uint64_t calls() const { return calls_; }
  // Only the process died: nothing is lost, but unsynced changes stay unsynced.
  void PowerBack() {
    powered_ = true;
    cut_at_ = 0;
  }
  // Loses what was not synced, and switches the power on again.
  void Restart(const Losses& losses);

  Result<Descriptor> Create(const std::string& path) override;
  Status Write(const Descriptor& file, std::string_view bytes) override;
  Status SetRecord(const Descriptor& file, std::string_view record,
                   std::chrono::milliseconds modified) override;
  Status Sync(const Descriptor& file) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Result<bool> MakeFolder(const std::string& path) override;
  Result<bool> RemoveFolder(const std::string& path) override;
  Status SyncFolder(const std::string& path) override;
  Status SyncAll() override;

 private:
  struct NameChange {
    std::string folder;  // Syncing this folder makes the change durable.
    std::function<void()> undo;
  };

  Status Admit();
  std::string Path(const std::string& path) const { return folder_ + "/" + path; }
  // Makes a second name for the file, in the attic. Empty when there is no file.
  std::string Keep(const std::string& path);
  void LoseBytes(Loss loss);
  void LoseBytesOf(const std::string& path, Loss loss);

  const std::string folder_;
  const std::string attic_;
  Random& random_;
  const Descriptor root_;
  SystemFileOps system_{&root_};
  bool powered_ = true;
  uint64_t calls_ = 0;
  uint64_t cut_at_ = 0;
  uint64_t fail_at_ = 0;
  uint64_t kept_ = 0;
  std::set<uint64_t> unsynced_;  // Inodes.
  std::vector<NameChange> changes_;
};

}  // namespace tidemark::directory
