// What `tidemark archive` reads: channels, messages, threads, files, coverage, status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/archive_source.h"
#include "programs/exit_code.h"
#include "programs/listing.h"

namespace tidemark::programs {

struct ArchiveReadOptions {
  ArchiveSourceOptions source;
  OutputOptions output;
  std::string channel = {};  // An id or a name; empty for all.
  std::string ts = {};
};

struct MessagesOptions {
  ArchiveReadOptions read;
  std::string from = {};
  std::string to = {};
  bool newest_first = false;
  uint64_t limit = 100;  // 0: all.
};

struct FilesCommandOptions {
  ArchiveReadOptions read;
  std::optional<std::string> save = std::nullopt;  // --save
};

Result<ExitCode> ListChannels(const ArchiveReadOptions& options);
Result<ExitCode> ListMessages(const MessagesOptions& options);
Result<ExitCode> ShowThread(const ArchiveReadOptions& options);
// kNotMet when there is no such message; likewise for files that are not stored.
Result<ExitCode> ShowMessage(const ArchiveReadOptions& options);
Result<ExitCode> ListFiles(const FilesCommandOptions& options);
Result<ExitCode> ShowCoverage(const ArchiveReadOptions& options);
Result<ExitCode> ShowStatus(const ArchiveReadOptions& options);

}  // namespace tidemark::programs
