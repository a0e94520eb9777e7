// The Processors do what hangs on the archive's change stream: they fetch files, keep the channel
// index, note where coverage begins, and purge deleted text when the policy says so. Each follows
// the stream with a position of its own, so a slow one holds up no other; each is idempotent.
//
// One thread runs Files' part, since downloads take long, and one all others: StepFiles and
// StepRows.
#pragma once

#include <memory>
#include <optional>

#include "apps/archive/channel_index.h"
#include "apps/archive/coverage.h"
#include "apps/archive/files.h"
#include "apps/archive/reader.h"
#include "apps/archive/state.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"
#include "tables/follower.h"
#include "tables/tables.h"

namespace tidemark::archive {

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
  const Clock* clock = nullptr;
  Random* random = nullptr;
  const Logger* logger = nullptr;
  Metrics* metrics = nullptr;
};

class Processors {
 public:
  Processors(ProcessorsOptions options, ProcessorsParts parts);
  ~Processors();

  // Each handles all that waits, and returns.
  Status StepFiles();
  Status StepRows();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::archive
