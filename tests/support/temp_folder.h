// TempFolder is a new, empty folder of the machine's temporary folder, for a test. It is
// deleted with all it contains when the object goes.
//
//   TempFolder folder;
//   auto tables = EmbeddedTables::Open({.folder = folder.path() + "/data"});
//
// What uses the folder must be closed before it goes. Not for use by two threads at once.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/check.h"

namespace tidemark {

class TempFolder {
 public:
  TempFolder() : path_((std::filesystem::temp_directory_path() / "tidemark-XXXXXX").string()) {
    CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~TempFolder() {
    // A folder that cannot be deleted is no reason for a test to fail.
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tidemark
