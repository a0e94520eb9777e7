#include "apps/archive/file_fetcher.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/deadline.h"

namespace tidemark::archive {

namespace {

constexpr std::chrono::seconds kAskDeadline(10);
// For all hops of a download together.
constexpr std::chrono::seconds kDownloadDeadline(300);
constexpr char kSpoolPrefix[] = "fetch-";
constexpr char kAnyType[] = "application/octet-stream";
constexpr size_t kMaxTypeLength = 127;

bool IsStub(const FileMeta& file) { return file.mode == "file_access"; }

// Removes the file in its destructor.
struct SpoolFile {
  explicit SpoolFile(std::string path_given) : path(std::move(path_given)) {}
  ~SpoolFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  const std::string path;
};

FileFailed FailureOf(const slack::CallError& error) {
  const bool is_final = error.failure == slack::CallFailure::kNotFound ||
                        error.failure == slack::CallFailure::kDenied;
  return {.retryable = !is_final,
          .is_ours = error.failure == slack::CallFailure::kRateLimited,
          .reason = "files.info says " + error.error};
}

// An error of our own object store. kUnavailable and kUnknown pass; any other error would come
// again.
FileFailed FailureOf(const Error& error) {
  const bool passes = error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kUnknown;
  return {.retryable = passes,
          .is_ours = passes,
          .reason = "the object store refused it: " + error.message};
}

bool IsContentType(std::string_view type) {
  return !type.empty() && type.size() <= kMaxTypeLength &&
         std::ranges::all_of(type, [](char c) { return c >= ' ' && c <= '~'; });
}

std::string ContentTypeOf(const FileMeta& file, const slack::Downloaded& downloaded) {
  for (const std::string& type : {file.mimetype, downloaded.content_type}) {
    if (IsContentType(type)) return type;
  }
  return kAnyType;
}

}  // namespace

bool IsKept(const FileMeta& file) {
  const bool is_elsewhere = file.is_external || file.mode == "external";
  const bool is_hidden = file.mode == "hidden_by_limit" || file.mode == "tombstone";
  return !is_elsewhere && !is_hidden && (!file.url_private.empty() || IsStub(file));
}

FileFetcher::FileFetcher(FileFetcherOptions options, FileFetcherParts parts)
    : options_(std::move(options)), parts_(parts) {
  // Errors are ignored here: the same error comes again, with its reason, when a file is written.
  std::error_code ignored;
  std::filesystem::create_directories(options_.spool, ignored);
  for (const auto& entry : std::filesystem::directory_iterator(options_.spool, ignored)) {
    const bool is_ours = entry.path().filename().string().starts_with(kSpoolPrefix);
    if (is_ours) std::filesystem::remove(entry.path(), ignored);
  }
}

// The object is looked up first: a process that died after it had stored the file need not download
// it again.
FileOutcome FileFetcher::Fetch(const FileMeta& file, const std::string& key, const Secret& token,
                               const std::stop_token& stop) {
  const auto stored = parts_.objects->Head(key);
  if (!stored) return FailureOf(stored.error());
  FileMeta known = file;
  if (*stored) {
    const bool is_told = IsStub(file) && !Ask(token, &known);
    return FilePresent{.info = is_told ? std::optional(known) : std::nullopt};
  }
  if (options_.ask_first || IsStub(file)) {
    if (auto outcome = Ask(token, &known)) return *std::move(outcome);
  }
  if (auto failed = FindLackOfSpace(known)) return *std::move(failed);
  FileOutcome outcome = DownloadAndPut(known, key, token, stop);
  if (!IsStub(file)) return outcome;
  if (auto* const here = std::get_if<FileStored>(&outcome)) here->info = std::move(known);
  if (auto* const here = std::get_if<FilePresent>(&outcome)) here->info = std::move(known);
  return outcome;
}

std::optional<FileOutcome> FileFetcher::Ask(const Secret& token, FileMeta* file) {
  const auto answer =
      parts_.web_api->GetFile(token, file->id, Deadline::After(*parts_.clock, kAskDeadline));
  if (const auto* error = std::get_if<slack::CallError>(&answer)) return FailureOf(*error);
  const auto& info = std::get<slack::FileInfo>(answer);
  file->mode = info.mode;
  file->is_external = info.is_external;
  if (!info.url_private_download.empty()) file->url_private = info.url_private_download;
  if (info.size > 0) file->size = info.size;
  if (!info.mimetype.empty()) file->mimetype = info.mimetype;
  if (!info.name.empty()) file->name = info.name;
  if (!IsKept(*file)) return FileSkipped{};
  if (IsStub(*file)) return FileFailed{.reason = "files.info does not show it"};
  return std::nullopt;
}

// The tables are usually on the same disk. A full disk would stop the archive itself.
std::optional<FileFailed> FileFetcher::FindLackOfSpace(const FileMeta& file) const {
  std::error_code error;
  const auto space = std::filesystem::space(options_.spool, error);
  // What cannot be asked is not refused: writing the file says what is wrong.
  if (error || options_.min_free_bytes == 0) return std::nullopt;
  const auto size = static_cast<uint64_t>(std::max<int64_t>(file.size, 0));
  if (space.available >= size && space.available - size >= options_.min_free_bytes) {
    return std::nullopt;
  }
  return FileFailed{.retryable = true,
                    .is_ours = true,
                    .reason = fmt::format("the disk has {} bytes left, and archive.file-free-bytes "
                                          "keeps {} of them free",
                                          space.available, options_.min_free_bytes)};
}

FileOutcome FileFetcher::DownloadAndPut(const FileMeta& file, const std::string& key,
                                        const Secret& token, const std::stop_token& stop) {
  const SpoolFile spool(fmt::format("{}/{}{}", options_.spool, kSpoolPrefix, ++downloads_));
  const auto result =
      parts_.downloader->Download({.url = file.url_private,
                                   .to = spool.path,
                                   .size = file.size,
                                   .mimetype = file.mimetype,
                                   .stop = stop},
                                  token, Deadline::After(*parts_.clock, kDownloadDeadline));
  if (const auto* error = std::get_if<slack::DownloadError>(&result)) {
    return FileFailed{
        .retryable = error->retryable, .reason = error->reason, .retry_after = error->retry_after};
  }
  const auto& downloaded = std::get<slack::Downloaded>(result);
  const auto reply = parts_.objects->Put({.key = key,
                                          .file = spool.path,
                                          .content_type = ContentTypeOf(file, downloaded),
                                          .metadata = {{"sha256", downloaded.sha256}},
                                          .if_absent = true});
  if (!reply) return FailureOf(reply.error());
  if (!reply->applied) return FilePresent{};
  return FileStored{.size = downloaded.size};
}

}  // namespace tidemark::archive
