// The Processors follow the change stream of the archive's table and do everything that Slack need
// not wait for: fetch files, keep the channel index, note where coverage begins, and purge deleted
// text when the policy says so.
//
// There are two consumers of the stream, each with a position of its own, so that slow downloads do
// not hold up the rest: StepFiles and StepRows. Call each from one thread. Of several processes one
// at a time holds the lease of a consumer and does its work. Every step is idempotent: after a
// crash some records are handled twice. The rows that this work writes cause no further work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/archive/channel_index.h"
#include "apps/archive/coverage.h"
#include "apps/archive/files.h"
#include "apps/archive/reader.h"
#include "apps/archive/state.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/runtime.h"
#include "objects/objects.h"
#include "tables/tables.h"

namespace tidemark::archive {

// The names of the consumers, under which their positions are stored.
inline constexpr std::string_view kFilesConsumer = "archive-files";
inline constexpr std::string_view kRowsConsumer = "archive-rows";

struct ProcessorsOptions {
  std::string table = "SlackArchive";
  DeletedPolicy deleted = {};
};

// All outlive the Processors.
struct ProcessorsParts {
  tables::Tables* tables = nullptr;
  State* state = nullptr;
  ChannelIndex* index = nullptr;
  Ledger* ledger = nullptr;
  Files* files = nullptr;               // nullptr: files are not fetched.
  objects::Objects* objects = nullptr;  // For purging; nullptr when there are none.
  Runtime runtime;
};

class Processors {
 public:
  Processors(ProcessorsOptions options, ProcessorsParts parts);
  // Gives the leases back, so that another process can start at once.
  ~Processors();

  // Each handles all waiting records and returns. StepRows also purges one page of the table when
  // the policy says so and a sweep is due.
  Status StepFiles();
  Status StepRows();

  // Ends running steps after the record they are at, and makes later steps do nothing. May be
  // called from any thread.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

struct ProcessorStatus {
  bool held = false;        // A process holds its lease.
  int64_t lag_seconds = 0;  // The age of the oldest change that it has not handled.
  // The time of the last change that it handled; nullopt: none yet.
  std::optional<EpochSeconds> last_change_at = std::nullopt;
  int64_t gaps = 0;  // How often changes may have been trimmed before it read them.
};

// How far a consumer is, read from the position that it stores: any process can ask, not only the
// one that does the work. A consumer that never ran is at the beginning of the stream. Writes
// nothing.
Result<ProcessorStatus> ReadProcessorStatus(tables::Tables& tables, const Clock& clock,
                                            const std::string& table, const std::string& consumer);

}  // namespace tidemark::archive
