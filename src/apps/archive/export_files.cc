#include "apps/archive/export_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "base/zip.h"

namespace tidemark::archive {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxHeldBytes = 8 << 20;
constexpr size_t kPieceBytes = 256 << 10;

class ZippedFiles final : public ExportFiles {
 public:
  explicit ZippedFiles(ZipFile zip) : ExportFiles(ListOf(zip)), zip_(std::move(zip)) {}

  Status Read(const ExportFile& file, const Take& take) override {
    const ZipEntry& entry = zip_.entries()[file.index];
    if (entry.size_bytes <= kMaxHeldBytes) return ReadHeld(entry, take);
    // Too large for memory: it is unpacked twice, first only to check its checksum.
    TRY(zip_.Read(entry, [](std::string_view) -> Status { return Done{}; }));
    return zip_.Read(entry, take);
  }

 private:
  static std::vector<ExportFile> ListOf(const ZipFile& zip) {
    std::vector<ExportFile> files;
    for (const ZipEntry& entry : zip.entries()) {
      files.push_back({entry.name, entry.size_bytes, files.size()});
      // Some programs for Windows write them between folders. No name in an export has one.
      std::ranges::replace(files.back().name, '\\', '/');
    }
    return files;
  }

  Status ReadHeld(const ZipEntry& entry, const Take& take) {
    held_.clear();
    TRY(zip_.Read(entry, [this](std::string_view piece) -> Status {
      held_ += piece;
      return Done{};
    }));
    return take(held_);
  }

  ZipFile zip_;
  std::string held_;
};

class FolderFiles final : public ExportFiles {
 public:
  FolderFiles(std::string folder, std::vector<ExportFile> files)
      : ExportFiles(std::move(files)), folder_(std::move(folder)) {}

  Status Read(const ExportFile& file, const Take& take) override {
    std::ifstream stream(folder_ + "/" + file.name, std::ios::binary);
    std::string piece(kPieceBytes, '\0');
    while (stream) {
      stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
      TRY(take(std::string_view(piece).substr(0, static_cast<size_t>(stream.gcount()))));
    }
    if (stream.eof()) return Done{};
    return Error{ErrorCode::kUnavailable, fmt::format("'{}' cannot be read", file.name)};
  }

 private:
  const std::string folder_;
};

// Only regular files: a symbolic link could lead out of the folder.
Result<std::vector<ExportFile>> ListFolder(const std::string& folder) {
  std::vector<ExportFile> files;
  try {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_symlink() || !entry.is_regular_file()) continue;
      files.push_back({entry.path().lexically_relative(folder).generic_string(), entry.file_size(),
                       files.size()});
    }
  } catch (const fs::filesystem_error& error) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the folder '{}' cannot be read: {}", folder, error.what())};
  }
  return files;
}

}  // namespace

// Sorted, so that days come in the order of their dates and FindFile can search.
ExportFiles::ExportFiles(std::vector<ExportFile> files) : files_(std::move(files)) {
  std::sort(files_.begin(), files_.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
}

Result<std::unique_ptr<ExportFiles>> OpenExportFiles(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return std::unique_ptr<ExportFiles>(std::make_unique<FolderFiles>(path, TRY(ListFolder(path))));
  }
  return std::unique_ptr<ExportFiles>(std::make_unique<ZippedFiles>(TRY(ZipFile::Open(path))));
}

}  // namespace tidemark::archive
