#include "base/zip.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <zip.h>

namespace tidemark {

namespace {

constexpr size_t kPieceBytes = 256 << 10;

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using File = std::unique_ptr<zip_file_t, CloseFile>;

Error OpenError(const std::string& path, int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  const bool missing = code == ZIP_ER_NOENT;
  return {missing ? ErrorCode::kNotFound : ErrorCode::kInvalid,
          fmt::format("'{}' cannot be read as a zip file: {}", path, text)};
}

// An entry that cannot be read is damaged, unless it uses a method that libzip does not know.
Error ReadError(const ZipEntry& entry, zip_error_t* error) {
  const int code = zip_error_code_zip(error);
  const bool unknown = code == ZIP_ER_COMPNOTSUPP || code == ZIP_ER_ENCRNOTSUPP ||
                       code == ZIP_ER_NOPASSWD || code == ZIP_ER_WRONGPASSWD;
  return {unknown ? ErrorCode::kInvalid : ErrorCode::kCorrupt,
          fmt::format("'{}' cannot be unpacked: {}", entry.name, zip_error_strerror(error))};
}

Error WrongSize(const ZipEntry& entry) {
  return {ErrorCode::kCorrupt, fmt::format("'{}' does not have the {} bytes that the zip file says",
                                           entry.name, entry.size_bytes)};
}

std::vector<ZipEntry> ListEntries(zip_t* archive) {
  std::vector<ZipEntry> entries;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive, static_cast<zip_uint64_t>(i), 0, &stat) != 0) continue;
    if ((stat.valid & ZIP_STAT_NAME) == 0 || (stat.valid & ZIP_STAT_SIZE) == 0) continue;
    const std::string_view name = stat.name;
    // A name that ends with a slash is a folder.
    if (name.empty() || name.back() == '/') continue;
    entries.push_back({std::string(name), stat.index, stat.size});
  }
  return entries;
}

}  // namespace

void ZipFile::Close::operator()(zip* archive) const { zip_discard(archive); }

Result<ZipFile> ZipFile::Open(const std::string& path) {
  int code = 0;
  Handle archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive == nullptr) return OpenError(path, code);
  std::vector<ZipEntry> entries = ListEntries(archive.get());
  return ZipFile(std::move(archive), std::move(entries));
}

Status ZipFile::Read(const ZipEntry& entry,
                     const std::function<Status(std::string_view piece)>& take) {
  File file(zip_fopen_index(archive_.get(), entry.index, 0));
  if (file == nullptr) return ReadError(entry, zip_get_error(archive_.get()));
  auto piece = std::make_unique<std::array<char, kPieceBytes>>();
  uint64_t total = 0;
  for (;;) {
    const zip_int64_t count = zip_fread(file.get(), piece->data(), piece->size());
    if (count < 0) return ReadError(entry, zip_file_get_error(file.get()));
    if (count == 0) break;
    total += static_cast<uint64_t>(count);
    // A small file may unpack to a very large one, so the limit is checked for each piece.
    if (total > entry.size_bytes) return WrongSize(entry);
    TRY(take({piece->data(), static_cast<size_t>(count)}));
  }
  if (total != entry.size_bytes) return WrongSize(entry);
  return Done{};
}

}  // namespace tidemark
