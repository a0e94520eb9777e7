// TempFolder is a new empty folder in the temporary folder of the machine. The destructor deletes
// it with everything in it.
//
//   TempFolder folder;
//   auto tables = EmbeddedTables::Open({.folder = folder.path() + "/data"});
//
// Close everything that uses the folder before that. For one thread.
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
    // The result is ignored: a test does not fail because a folder cannot be deleted.
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
