// The FileFetcher copies one file from Slack into the object store. It stores the whole file or
// nothing, and never replaces an object that is there.
//
// May be used from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "apps/archive/message.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "objects/objects.h"
#include "slack/download.h"
#include "slack/web_api.h"

namespace tidemark::archive {

struct FileFetcherOptions {
  std::string spool;       // A folder that only this process uses.
  bool ask_first = false;  // files.info before each download.
  // No download begins that would leave less than this free on the disk of the spool.
  uint64_t min_free_bytes = 0;
};

// All outlive the FileFetcher.
struct FileFetcherParts {
  objects::Objects* objects = nullptr;
  slack::Downloader* downloader = nullptr;
  slack::WebApi* web_api = nullptr;
  const Clock* clock = nullptr;
};

struct FileStored {
  uint64_t size = 0;
  std::optional<FileMeta> info = std::nullopt;  // Of a stub: what files.info says of the file.
};
struct FilePresent {  // The object was already there.
  std::optional<FileMeta> info = std::nullopt;
};
struct FileSkipped {};  // files.info says that the file is external, hidden or deleted.
struct FileFailed {
  bool retryable = false;
  // Not an attempt that counts: our object store failed, our disk is nearly full, or our budget of
  // calls is used up.
  bool is_ours = false;
  std::string reason;  // For people. Never contains the token or the query of a URL.
  std::chrono::seconds retry_after = std::chrono::seconds(0);  // Slack asks for this wait.
};
using FileOutcome = std::variant<FileStored, FilePresent, FileSkipped, FileFailed>;

class FileFetcher {
 public:
  // Creates the spool folder and removes what an earlier process left in it.
  FileFetcher(FileFetcherOptions options, FileFetcherParts parts);

  // Ends soon after `stop` asks for it, with a failure.
  FileOutcome Fetch(const FileMeta& file, const std::string& key, const Secret& token,
                    const std::stop_token& stop);

 private:
  // Updates `file` with what files.info says. An outcome when that decides it; nullopt: download
  // it.
  std::optional<FileOutcome> Ask(const Secret& token, FileMeta* file);
  std::optional<FileFailed> FindLackOfSpace(const FileMeta& file) const;
  FileOutcome DownloadAndPut(const FileMeta& file, const std::string& key, const Secret& token,
                             const std::stop_token& stop);

  const FileFetcherOptions options_;
  const FileFetcherParts parts_;
  std::atomic<uint64_t> downloads_ = 0;
};

// Whether the archive stores such a file: it is not external, not hidden by Slack's plan, not
// deleted.
bool IsKept(const FileMeta& file);

}  // namespace tidemark::archive
