// The reading commands of `tidemark archive`: channels, people, emoji, messages, thread, message,
// files, coverage, status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/archive/source.h"
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
Result<ExitCode> ListPeople(const ArchiveReadOptions& options);
Result<ExitCode> ListEmoji(const ArchiveReadOptions& options);
Result<ExitCode> ListMessages(const MessagesOptions& options);
Result<ExitCode> ShowThread(const ArchiveReadOptions& options);
// kNotMet when there is no such message, or when a file is not stored.
Result<ExitCode> ShowMessage(const ArchiveReadOptions& options);
// The files of a message; without a channel, all messages whose files could not be fetched.
Result<ExitCode> ListFiles(const FilesCommandOptions& options);
// Lets the files of a message, or of all messages that failed, be fetched again.
Result<ExitCode> RetryFiles(const ArchiveReadOptions& options);
Result<ExitCode> ShowCoverage(const ArchiveReadOptions& options);
Result<ExitCode> ShowStatus(const ArchiveReadOptions& options);

}  // namespace tidemark::programs
