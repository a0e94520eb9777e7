// The FileFetcher brings one file from Slack into the object store: the file or nothing, and never
// a second time.
//
// Belongs to one thread.
#pragma once

#include <functional>
#include <optional>
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
  std::string spool;       // A folder of this process alone.
  bool ask_first = false;  // files.info before each download.
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
};
struct FilePresent {};  // The object was there.
struct FileSkipped {};  // files.info says that it is none of Slack's, or hidden.
struct FileFailed {
  bool retryable = false;
  bool is_ours = false;  // The object store is away, not Slack.
  std::string reason;    // For people; never holds the token, nor a URL's query.
};
using FileOutcome = std::variant<FileStored, FilePresent, FileSkipped, FileFailed>;

class FileFetcher {
 public:
  // Makes the spool folder, and removes what an earlier process left in it.
  FileFetcher(FileFetcherOptions options, FileFetcherParts parts);

  FileOutcome Fetch(const FileMeta& file, const std::string& key, const Secret& token);

 private:
  // Fills in what files.info knows better; nullopt: go on.
  std::optional<FileOutcome> Ask(const Secret& token, FileMeta* file);
  FileOutcome DownloadAndPut(const FileMeta& file, const std::string& key, const Secret& token);

  const FileFetcherOptions options_;
  const FileFetcherParts parts_;
  uint64_t downloads_ = 0;
};

// Whether the object of such a file is ours to have: not external, not hidden by Slack's plan, not
// deleted.
bool IsKept(const FileMeta& file);

}  // namespace tidemark::archive
