// The files of an export, which is a zip file or an unpacked folder.
//
// A file in a zip is handed out only after all of it was unpacked and its checksum is right, so
// nothing of a damaged file is imported. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::archive {

struct ExportFile {
  std::string name;  // The path from the top of the export, with slashes.
  uint64_t size_bytes = 0;
  uint64_t index = 0;
};

class ExportFiles {
 public:
  using Take = std::function<Status(std::string_view piece)>;

  virtual ~ExportFiles() = default;

  // Sorted by name.
  const std::vector<ExportFile>& files() const { return files_; }
  // Gives the file to `take` piece by piece. An error of `take` ends the reading and is returned.
  virtual Status Read(const ExportFile& file, const Take& take) = 0;

 protected:
  explicit ExportFiles(std::vector<ExportFile> files);

 private:
  std::vector<ExportFile> files_;
};

// kNotFound when there is nothing at the path; kInvalid when it is neither a folder nor a readable
// zip file.
Result<std::unique_ptr<ExportFiles>> OpenExportFiles(const std::string& path);

}  // namespace tidemark::archive
