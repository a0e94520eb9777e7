#include "apps/archive/archive_table.h"

#include "tables/pages.h"

namespace tidemark::archive {

namespace {

constexpr char kPartitionKey[] = "itemId";

}  // namespace

Result<std::optional<item::Item>> ArchiveTable::Get(std::string_view item_id,
                                                    std::string_view timestamp) const {
  return tables_.Get({.table = name_, .key = KeyOf(item_id, timestamp)});
}

Result<std::vector<item::Item>> ArchiveTable::ReadPartition(const std::string& item_id) const {
  return tables::QueryAll(
      tables_,
      {.table = name_, .partition = item::Attribute{kPartitionKey, item_id}, .consistent = true});
}

tables::QueryRequest ArchiveTable::QueryOf(const std::string& item_id) const {
  return {.table = name_,
          .key_condition = "#k = :k",
          .names = {{"#k", kPartitionKey}},
          .values = {{":k", item_id}},
          .consistent = true};
}

Result<std::optional<Message>> ArchiveTable::FindMessage(const Place& place,
                                                         const slack::Timestamp& ts) const {
  const auto row = TRY(Get(MessagesOf(place), ts.text()));
  if (!row) return std::nullopt;
  return TRY(DecodeMessage(*row));
}

Result<std::optional<Channel>> ArchiveTable::FindChannel(const Place& place) const {
  const std::vector<item::Item> rows = TRY(ReadPartition(RowsOfChannel(place)));
  if (rows.empty()) return std::nullopt;
  return TRY(JoinRows(rows));
}

// A count of at most one row: no message is read into memory.
Result<bool> ArchiveTable::HasMessages(const Place& place) const {
  const tables::Page page =
      TRY(tables_.Query({.table = name_,
                         .partition = item::Attribute{kPartitionKey, MessagesOf(place)},
                         .select = tables::Select::kCount,
                         .consistent = true,
                         .limit = 1}));
  return page.count > 0;
}

Result<bool> ArchiveTable::Write(std::vector<tables::TransactAction> actions) const {
  const auto reply = TRY(tables_.TransactWrite({.actions = std::move(actions)}));
  if (reply.outcome == tables::TransactOutcome::kApplied) return true;
  // A conflict with another transaction counts like a failed condition: the caller plans again.
  for (const tables::CancellationReason& reason : reply.reasons) {
    if (reason.code != tables::CancellationCode::kValidationError) continue;
    return Error{ErrorCode::kInternal, "the store refused a row of the archive: " + reason.message};
  }
  return false;
}

}  // namespace tidemark::archive
