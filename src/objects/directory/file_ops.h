// All operations that change the folder, one method for each system call, so that a test can
// simulate a power failure at any of them. Paths are relative to the folder; "" is the folder
// itself.
//
// Any thread may call the methods. The error is kNotFound if the name does not exist, and otherwise
// kUnavailable with the text of the system.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace tidemark::directory {

class FileOps {
 public:
  virtual ~FileOps() = default;

  // Creates an empty file for writing. If there is a file with this name, it becomes empty.
  virtual Result<Descriptor> Create(const std::string& path) = 0;
  // Appends all of the bytes.
  virtual Status Write(const Descriptor& file, std::string_view bytes) = 0;
  // Sets the attribute of the record and the modification time.
  virtual Status SetRecord(const Descriptor& file, std::string_view record,
                           std::chrono::milliseconds modified) = 0;
  virtual Status Sync(const Descriptor& file) = 0;
  // Replaces a file that has the new name.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;
  // Returns false if it exists already.
  virtual Result<bool> MakeFolder(const std::string& path) = 0;
  // Returns false if it is not empty or does not exist.
  virtual Result<bool> RemoveFolder(const std::string& path) = 0;
  // The names in the folder.
  virtual Status SyncFolder(const std::string& path) = 0;
  // Syncs everything that was written to the file system.
  virtual Status SyncAll() = 0;
};

// Calls the system. `root` is the folder and must outlive this.
class SystemFileOps final : public FileOps {
 public:
  explicit SystemFileOps(const Descriptor* root) : root_(*root) {}

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
  const Descriptor& root_;
};

// The error of the last system call, with the text "cannot <doing>: <reason>".
Error SystemError(std::string_view doing);

// The folder that contains the path: "a/b" for "a/b/c", "" for "a".
std::string FolderOf(const std::string& path);

}  // namespace tidemark::directory
