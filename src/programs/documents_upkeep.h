// `tidemark documents backfill`, `fsck` and `stats`: in the folder, or at a server.
//
// Runs over all documents are asked for piece by piece. Ctrl-C ends one between two pieces; what it
// says then, or its checkpoint file, is where the next run goes on.
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
  // Each as the API has it; empty: not asked for.
  std::string since = {};
  std::string until = {};
  std::string customer = {};
  std::string from = {};             // A checkpoint, as an interrupted run said it.
  std::string checkpoint_file = {};  // Empty: none is kept.
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
