// The Processors do what hangs on the archive's change stream: they fetch files, keep the channel
// index, note where coverage begins, and purge deleted text when the policy says so. Each follows
// the stream with a position of its own, so a slow one holds up no other; each is idempotent.
//
// One thread runs Files' part, since downloads take long, and one all others: StepFiles and
// StepRows. Of several processes one at a time does each part's work. Changes of index rows and
// other rows that come of this work start nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apps/archive/channel_index.h"
#include "apps/archive/coverage.h"
#include "apps/archive/files.h"
#include "apps/archive/reader.h"
#include "apps/archive/state.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"
#include "objects/objects.h"
#include "tables/tables.h"

namespace tidemark::archive {

// The names under which the positions are kept.
inline constexpr std::string_view kFilesConsumer = "archive-files";
inline constexpr std::string_view kRowsConsumer = "archive-rows";

struct ProcessorsOptions {
  std::string table = "SlackArchive";
  DeletedPolicy deleted = {};
};

// All outlive the Processors; logger and metrics may be null.
struct ProcessorsParts {
  tables::Tables* tables = nullptr;
  State* state = nullptr;
  ChannelIndex* index = nullptr;
  Ledger* ledger = nullptr;
  Files* files = nullptr;               // nullptr: files are not fetched.
  objects::Objects* objects = nullptr;  // For purging; nullptr when there are none.
  const Clock* clock = nullptr;
  Random* random = nullptr;
  const Logger* logger = nullptr;
  Metrics* metrics = nullptr;
};

class Processors {
 public:
  Processors(ProcessorsOptions options, ProcessorsParts parts);
  // Gives the leases back, so that another process need not wait for their end.
  ~Processors();

  // Each handles all that waits, and returns. StepRows also purges a page of the table when the
  // policy says so and it is time.
  Status StepFiles();
  Status StepRows();

  // Steps end after the record that they are at, now and ever after. From any thread.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::archive
