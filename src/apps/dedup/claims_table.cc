// The table of the claims as a whole: made, checked, listed.
#include <utility>

#include <fmt/format.h>

#include "apps/dedup/claims.h"
#include "apps/dedup/content.h"
#include "tables/ensure_table.h"

namespace tidemark::dedup {

namespace {

item::KeySchema Keys() { return {.partition = {"event_key", item::Type::kString}}; }

Status VerifyKeys(const tables::TableDescription& table) {
  if (table.keys == Keys()) return Done{};
  return Invalid(
      fmt::format("table {} is keyed by {} and not by the text event_key alone: name "
                  "another in dedup.table (DEDUP_TABLE_NAME)",
                  table.name, table.keys.partition.name));
}

}  // namespace

Status Claims::CreateTable() {
  return tables::EnsureTable(
      tables_,
      {.table = options_.table, .keys = Keys(), .tags = {{"Application", "slack-classify-bot"}}},
      "ttl");
}

Status Claims::CheckTable() {
  const Result<tables::TableDescription> table = tables_.DescribeTable(options_.table);
  if (table) return VerifyKeys(*table);
  if (table.error().code != ErrorCode::kNotFound) return table.error();
  return Error{ErrorCode::kNotFound,
               fmt::format("the table of processed events, {}, is missing: make it, or name "
                           "another in dedup.table (DEDUP_TABLE_NAME)",
                           options_.table)};
}

Result<Claims::HistoryPage> Claims::ListHistory(const std::optional<std::string>& after,
                                                uint32_t limit) {
  tables::ScanRequest scan{.table = options_.table, .limit = limit};
  if (after) scan.start_after = item::Item{{"event_key", *after}};
  const tables::Page page = TRY(tables_.Scan(scan));
  HistoryPage history;
  const EpochSeconds now = clock_.NowSeconds();
  for (const item::Item& item : page.items) {
    Row row = DecodeRow(item);
    if (!IsExpired(row, now) && !IsContentKey(row.key)) history.rows.push_back(std::move(row));
  }
  if (page.last) history.last = DecodeRow(*page.last).key;
  return history;
}

}  // namespace tidemark::dedup
