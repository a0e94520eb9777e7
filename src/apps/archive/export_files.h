// The files of an export, whether it is a zip file or the folder that one was unpacked into.
//
// A file is handed out only when all of it could be read and its checksum is right: nothing of a
// damaged one is believed. One thread at a time.
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
  std::string name;  // With slashes, from the export's top.
  uint64_t size_bytes = 0;
  uint64_t index = 0;
};

class ExportFiles {
 public:
  using Take = std::function<Status(std::string_view piece)>;

  virtual ~ExportFiles() = default;

  // In the order of their names.
  const std::vector<ExportFile>& files() const { return files_; }
  // An Error of `take` ends the reading.
  virtual Status Read(const ExportFile& file, const Take& take) = 0;

 protected:
  explicit ExportFiles(std::vector<ExportFile> files);

 private:
  std::vector<ExportFile> files_;
};

// kNotFound when there is nothing at the path; kInvalid when it is neither a folder nor a zip file
// that can be read.
Result<std::unique_ptr<ExportFiles>> OpenExportFiles(const std::string& path);

}  // namespace tidemark::archive
