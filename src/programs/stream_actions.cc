#include "programs/stream_actions.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "programs/output.h"
#include "tables/limits.h"
#include "tables/stream_reader.h"

namespace tidemark::programs {

namespace {

// How far a tail has come.
struct Tail {
  tables::StreamPosition position;
  uint64_t left = std::numeric_limits<uint64_t>::max();  // Records still to be printed.
};

// Prints what there is now; nothing of it when it is to be skipped.
Status PrintToEnd(tables::StreamReader& reader, bool skips, Tail* tail) {
  while (tail->left > 0) {
    tables::StreamPage page =
        TRY(reader.Read(tail->position, std::min<uint64_t>(tables::kMaxRecordsPage, tail->left)));
    if (page.gap) PrintMessage("tidemark: records were trimmed before they were read");
    tail->position = page.start;
    for (const tables::StreamRecord& record : page.records) {
      tail->position = page.PositionAfter(record);
      if (skips) continue;
      PrintLine(ToJson(record));
      --tail->left;
    }
    if (page.at_end) break;
  }
  // Followers are piped into other programs, which want each line when it is there.
  std::fflush(stdout);
  return Done{};
}

Status LookOnce(const TailOptions& options, bool skips, Tail* tail) {
  std::unique_ptr<embedded::EmbeddedTables> tables =
      TRY(OpenDataFolder(options.folder, Use::kRead));
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
    bool is_in_use = !looked && looked.error().code == ErrorCode::kUnavailable;
    if (!is_in_use) TRY(std::move(looked));
  }
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
