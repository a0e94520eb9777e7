// Imports an export of Slack into the archive. Every message is joined with what is there by the
// rules for events. So an import may run before, after or while events arrive, and more than once.
//
//   ImportReport report = TRY(ImportExport("export.zip", options, parts, &progress));
//
// An export shows each message in its last form. The import treats it as an event at the time of
// that form, so a real event about it is never older and wins. Private conversations are left out
// unless asked for, and the archive keeps no later events of them. Rows that cannot be used are
// counted, with some examples. Nothing is fetched from Slack.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
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
#include "slack/ids.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct ImportOptions {
  // "T0123" for the whole export, "acme=T0123" for its folder teams/acme. Without it the team is
  // found out from the export.
  std::vector<std::string> teams = {};
  bool with_private = false;
  ImportMode mode = ImportMode::kStore;
  // More than processors, because most threads wait for the disk. Waiting writes share one sync.
  size_t threads = 8;
  // Asked before each file. True: nothing more is read, what was read is stored, and the report
  // says that it is not all.
  std::function<bool()> is_stopped = [] { return false; };
};

// All outlive the import. With kDryRun all pointers except the clock may be null: then there is no
// archive yet.
struct ImportParts {
  Archive* archive = nullptr;
  tables::Tables* tables = nullptr;
  Ledger* ledger = nullptr;
  State* state = nullptr;
  ChannelIndex* index = nullptr;
  const Clock* clock = nullptr;
};

// How far the import is. May be read from any thread.
struct ImportProgress {
  std::atomic<uint64_t> total_bytes = 0;
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> total_files = 0;
  std::atomic<uint64_t> files = 0;
  std::atomic<uint64_t> messages = 0;
};

struct ImportReport {
  std::vector<std::string> teams;
  uint64_t files = 0;             // One for each day of a conversation.
  uint64_t unreadable_files = 0;  // Not all of their rows could be read.
  uint64_t bytes = 0;
  StoreCounts messages;
  uint64_t left_out = 0;  // Joins and leaves; changes of the channel, which are in its row.
  uint64_t bad = 0;       // Rows that could not be used.
  uint64_t users = 0;
  uint64_t channels = 0;
  uint64_t pins = 0;              // New ones.
  uint64_t private_left_out = 0;  // Conversations.
  uint64_t attachments = 0;       // Files inside the export, which are not imported.
  std::string first_attachment = {};
  bool is_stopped = false;  // Not all files were read.
  uint64_t total_files = 0;
  std::string last_file = {};  // The last one that was read.
  uint64_t problems = 0;
  std::vector<Problem> examples;
  double seconds = 0;

  uint64_t MessageCount() const {
    return messages.stored_new + messages.updated + messages.unchanged;
  }
};

// kInvalid when the export cannot be read, or when its team is neither given nor found in it. Other
// errors come from the tables: what was stored before stays, and running the import again adds the
// rest.
Result<ImportReport> ImportExport(const std::string& path, const ImportOptions& options,
                                  const ImportParts& parts, ImportProgress* progress);

// The team of a workspace of an export: what `given` says (see ImportOptions::teams), or else the
// team of most of its users, or else of most authors of its first messages. kInvalid when none of
// these tells.
Result<slack::TeamId> FindTeam(const ExportWorkspace& workspace,
                               const std::vector<std::string>& given, ExportReader* reader);

}  // namespace tidemark::archive
