#include "apps/archive/status.h"

#include <algorithm>

#include "apps/archive/attributes.h"
#include "base/expiry.h"
#include "tables/follower.h"
#include "tables/stream_reader.h"

namespace tidemark::archive {

namespace {

// docs/formats/consumers.md has the row. Without its table nobody has followed anything yet.
Result<item::Item> ReadRow(tables::Tables& tables, const std::string& consumer) {
  const tables::FollowerOptions defaults;
  auto row = tables.Get({.table = defaults.state_table, .key = {{"consumer", consumer}}});
  if (!row && row.error().code != ErrorCode::kNotFound) return row.error();
  return row && *row ? **row : item::Item();
}

tables::StreamPosition PositionIn(const item::Item& row) {
  return {.stream = TextIn(row, "stream"),
          .label = TextIn(row, "label"),
          .shard = TextIn(row, "shard"),
          .sequence = TextIn(row, "sequence"),
          .drained = IsTrueIn(row, "drained")};
}

}  // namespace

Result<ProcessorStatus> ReadProcessorStatus(tables::Tables& tables, const Clock& clock,
                                            const std::string& table, const std::string& consumer) {
  const item::Item row = TRY(ReadRow(tables, consumer));
  const EpochSeconds now = clock.NowSeconds();
  ProcessorStatus status{.held = IsLive(IntIn(row, "lease_end").value_or(0), now),
                         .last_change_at = IntIn(row, "record_at"),
                         .gaps = IntIn(row, "gaps").value_or(0)};
  if (status.last_change_at == 0) status.last_change_at.reset();
  tables::StreamReader reader(tables, table);
  const tables::StreamPage page = TRY(reader.Read(PositionIn(row), 1));
  if (!page.records.empty()) {
    status.lag_seconds = std::max<int64_t>(0, now - page.records.front().created_at);
  }
  return status;
}

}  // namespace tidemark::archive
