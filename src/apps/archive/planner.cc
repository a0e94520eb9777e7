#include "apps/archive/planner.h"

#include <utility>

#include "apps/archive/attributes.h"
#include "apps/archive/partition.h"
#include "apps/archive/row_update.h"
#include "item/limits.h"
#include "item/size.h"

namespace tidemark::archive {

namespace {

// For what the file processor adds to a row.
constexpr size_t kRoomBytes = 8 << 10;

}  // namespace

Result<std::optional<item::Item>> Archive::Planner::Get(std::string_view item_id,
                                                        std::string_view timestamp) {
  return tables_.Get({.table = options_.table, .key = KeyOf(item_id, timestamp)});
}

Result<Archive::Planner::Rows> Archive::Planner::ChannelRows(const Place& place) {
  return QueryAll(tables_, PartitionQuery(options_.table, RowsOfChannel(place)));
}

Result<bool> Archive::Planner::HasMessages(const Place& place) {
  tables::QueryRequest request = PartitionQuery(options_.table, MessagesOf(place));
  request.projection = "#k";
  request.limit = 1;
  const tables::Page page = TRY(tables_.Query(request));
  return page.count > 0;
}

// A channel without a row that says so was public if something of it was kept: nothing is kept of
// others.
Result<bool> Archive::Planner::WasPublic(const Place& place, const Rows& rows) {
  if (!rows.empty()) {
    const Channel channel = TRY(JoinRows(rows));
    if (channel.EverPublic()) return true;
    if (channel.visibility.value) return false;
  }
  return HasMessages(place);
}

Result<bool> Archive::Planner::MayKeep(const Place& place, Scope scope) {
  if (scope != Scope::kAsk) return scope == Scope::kPublic;
  const Rows rows = TRY(ChannelRows(place));
  return WasPublic(place, rows);
}

void Archive::Planner::NoteSize(const item::Item& row) {
  const size_t bytes = item::SizeBytes(row);
  if (bytes <= options_.warn_bytes) return;
  if (large_rows_) large_rows_->Add();
  if (!logger_) return;
  logger_->Log(LogLevel::kWarning, "large row in the archive",
               {{"item_id", TextIn(row, "itemId")},
                {"timestamp", TextIn(row, "timestamp")},
                {"bytes", bytes}});
}

template <typename T>
std::optional<item::Item> Archive::Planner::EncodeToFit(T* state, std::string* raw_event) {
  item::Item row = Encode(*state);
  if (item::SizeBytes(row) <= item::kMaxItemBytes - kRoomBytes) return row;
  if (raw_event && !raw_event->empty()) {
    raw_event->clear();
    state->raw_event_dropped = true;
    row = Encode(*state);
  }
  if (item::SizeBytes(row) <= item::kMaxItemBytes) return row;
  if (logger_) {
    logger_->Log(LogLevel::kError, "row too large for the archive: not stored",
                 {{"item_id", TextIn(row, "itemId")}, {"timestamp", TextIn(row, "timestamp")}});
  }
  return std::nullopt;
}

template std::optional<item::Item> Archive::Planner::EncodeToFit(Message*, std::string*);
template std::optional<item::Item> Archive::Planner::EncodeToFit(Channel*, std::string*);

tables::PutRequest Archive::Planner::PutNew(item::Item row) const {
  return {.table = options_.table,
          .item = std::move(row),
          .condition = "attribute_not_exists(#id)",
          .names = {{"#id", "itemId"}}};
}

void Archive::Planner::AddRow(const item::Item* row, item::Item next, Plan* plan) {
  plan->outcome = Outcome::kStored;
  NoteSize(next);
  if (row) {
    plan->actions.emplace_back(UpdateRow(options_.table, *row, next));
  } else {
    plan->actions.emplace_back(PutNew(std::move(next)));
  }
}

Status Archive::Planner::AddOnce(item::Item row, Plan* plan) {
  if (TRY(Get(TextIn(row, "itemId"), TextIn(row, "timestamp")))) return Done{};
  plan->outcome = Outcome::kStored;
  plan->actions.emplace_back(PutNew(std::move(row)));
  return Done{};
}

Result<Plan> Archive::Planner::PlanNewest(item::Item row) {
  const auto known = TRY(Get(TextIn(row, "itemId"), TextIn(row, "timestamp")));
  if (!known) {
    Plan plan{.outcome = Outcome::kStored};
    plan.actions.emplace_back(PutNew(std::move(row)));
    return plan;
  }
  if (TextIn(*known, "event_ts") >= TextIn(row, "event_ts")) return Plan{};
  tables::PutRequest put{.table = options_.table,
                         .item = std::move(row),
                         .condition = "#event_ts = :event_ts",
                         .names = {{"#event_ts", "event_ts"}},
                         .values = {{":event_ts", TextIn(*known, "event_ts")}}};
  Plan plan{.outcome = Outcome::kStored};
  plan.actions.emplace_back(std::move(put));
  return plan;
}

}  // namespace tidemark::archive
