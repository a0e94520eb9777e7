// Imports an export of Slack into the archive: every message joins what is there by the same
// rules as an event, so an import may come before, after or beside the events, and more than once.
//
//   ImportReport report = TRY(ImportExport("export.zip", options, parts, &progress));
//
// An export shows each message as it stood last. It counts as told at the time of that body, so
// that an event always outweighs it. Private conversations are left out unless asked for; the
// archive keeps no later event of them. Rows that cannot be used are counted and shown by
// example. Nothing is fetched from Slack.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/archive/archive.h"
#include "apps/archive/channel_index.h"
#include "apps/archive/coverage.h"
#include "apps/archive/export_reader.h"
#include "apps/archive/import_writer.h"
#include "apps/archive/state.h"
#include "base/clock.h"
#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct ImportOptions {
  // "T0123" for all of the export, "acme=T0123" for its folder teams/acme. What is not given is
  // taken from the export.
  std::vector<std::string> teams = {};
  bool with_private = false;
  ImportMode mode = ImportMode::kStore;
  // More than there are processors: most of them wait for the disk, and share a sync.
  size_t threads = 8;
};

// All outlive the import. With kDryRun all but the clock may be null: there is no archive yet.
struct ImportParts {
  Archive* archive = nullptr;
  tables::Tables* tables = nullptr;
  Ledger* ledger = nullptr;
  State* state = nullptr;
  ChannelIndex* index = nullptr;
  const Clock* clock = nullptr;
};

// How far it is; may be read from any thread.
struct ImportProgress {
  std::atomic<uint64_t> total_bytes = 0;
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> total_files = 0;
  std::atomic<uint64_t> files = 0;
  std::atomic<uint64_t> messages = 0;
};

struct ImportReport {
  std::vector<std::string> teams;
  uint64_t files = 0;  // Of days.
  uint64_t unreadable_files = 0;
  uint64_t bytes = 0;
  StoreCounts messages;
  uint64_t left_out = 0;  // Joins, leaves, and changes of the channel, which its row shows.
  uint64_t bad = 0;       // Rows that could not be used.
  uint64_t users = 0;
  uint64_t channels = 0;
  uint64_t private_left_out = 0;  // Conversations.
  uint64_t problems = 0;
  std::vector<Problem> examples;
  double seconds = 0;

  uint64_t MessageCount() const {
    return messages.stored_new + messages.updated + messages.unchanged;
  }
};

// kInvalid when the export cannot be read, or its team is neither in it nor given. Other errors
// are those of the tables: what was stored until then holds, and an import from the start adds
// the rest.
Result<ImportReport> ImportExport(const std::string& path, const ImportOptions& options,
                                  const ImportParts& parts, ImportProgress* progress);

}  // namespace tidemark::archive
