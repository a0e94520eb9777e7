// `tidemark documents backfill`, `fsck` and `stats`: in the data folder, or at a server.
//
// A run over all documents is done in pieces, one request each. Ctrl-C ends it after the current
// piece. The next run continues from the text that it prints then, or from its checkpoint file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"
#include "programs/listing.h"

namespace tidemark::programs {

struct DocumentsRunOptions {
  SourceOptions source;
  OutputOptions output;
  bool dry_run = false;
  // Parameters of the API; empty: not sent.
  std::string since = {};
  std::string until = {};
  std::string customer = {};
  std::string from = {};             // A checkpoint, as an interrupted run printed it.
  std::string checkpoint_file = {};  // Empty: no file is used.
  std::optional<int64_t> rate = std::nullopt;
};

struct DocumentsStatsOptions {
  SourceOptions source;
  OutputOptions output;
};

// kNotMet when a document failed, or the run was interrupted.
Result<ExitCode> BackfillDocuments(const DocumentsRunOptions& options);
// Prints what differs and why, and the proof. kNotMet when something still differs, or the run was
// interrupted.
Result<ExitCode> CheckDocuments(const DocumentsRunOptions& options);
Result<ExitCode> ShowDocumentsStats(const DocumentsStatsOptions& options);

}  // namespace tidemark::programs
