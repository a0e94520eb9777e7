// Everything that changes the folder, one system call a method, so that a test can stand between
// and let the power go at any of them. Paths are relative to the folder; "" is the folder itself.
//
// Methods may be called from any thread. Errors are kNotFound when the name is not there, and
// kUnavailable with the system's reason otherwise.
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

  // An empty file to write; one of this name loses its bytes.
  virtual Result<Descriptor> Create(const std::string& path) = 0;
  // Appends all of the bytes.
  virtual Status Write(const Descriptor& file, std::string_view bytes) = 0;
  // The record's attribute, and the time of modification.
  virtual Status SetRecord(const Descriptor& file, std::string_view record,
                           std::chrono::milliseconds modified) = 0;
  virtual Status Sync(const Descriptor& file) = 0;
  // Replaces what has the name.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;
  // False when it was there.
  virtual Result<bool> MakeFolder(const std::string& path) = 0;
  // False when it is not empty, or not there.
  virtual Result<bool> RemoveFolder(const std::string& path) = 0;
  // The names in the folder.
  virtual Status SyncFolder(const std::string& path) = 0;
  // All that was ever written.
  virtual Status SyncAll() = 0;
};

// The system's. `root` is the folder, and outlives it.
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

// What the last system call failed with, as an error: "cannot <doing>: <reason>".
Error SystemError(std::string_view doing);

// The folder that a path lies in: "a/b" of "a/b/c", "" of "a".
std::string FolderOf(const std::string& path);

}  // namespace tidemark::directory
