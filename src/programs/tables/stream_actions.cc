#include "programs/tables/stream_actions.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "programs/output.h"
#include "programs/tables/source.h"
#include "tables/limits.h"
#include "tables/stream_reader.h"

namespace tidemark::programs {

namespace {

// The position of a tail.
struct Tail {
  tables::StreamPosition position;
  uint64_t left = std::numeric_limits<uint64_t>::max();  // How many records may still be printed.
};

// Prints the records up to the end of the stream. With `skips` it only moves the position.
Status PrintToEnd(tables::StreamReader& reader, bool skips, Tail* tail) {
  while (tail->left > 0) {
    tables::StreamPage page =
        TRY(reader.Read(tail->position, std::min<uint64_t>(tables::kMaxRecordsPage, tail->left)));
    if (page.gap)
      PrintMessage(
          "tidemark: some records are missing: they were older than 24 hours and have been "
          "trimmed");
    tail->position = page.start;
    for (const tables::StreamRecord& record : page.records) {
      tail->position = page.PositionAfter(record);
      if (skips) continue;
      PrintLine(ToJson(record));
      --tail->left;
    }
    if (page.at_end) break;
  }
  // The output may be a pipe to another program, which needs each line at once.
  std::fflush(stdout);
  return Done{};
}

Status LookOnce(const TailOptions& options, bool skips, Tail* tail) {
  const TablesSource tables = TRY(OpenTables(options.source, Use::kRead));
  tables::StreamReader reader(*tables, options.table);
  return PrintToEnd(reader, skips, tail);
}

}  // namespace

Result<ExitCode> TailStream(const TailOptions& options) {
  Tail tail;
  if (options.limit) tail.left = *options.limit;
  TRY(LookOnce(options, options.from_latest, &tail));
  while (options.follow && tail.left > 0) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    Status looked = LookOnce(options, /*skips=*/false, &tail);
    bool is_in_use =
        !looked && looked.error().code == ErrorCode::kUnavailable && !options.source.server;
    if (!is_in_use) TRY(std::move(looked));
  }
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
