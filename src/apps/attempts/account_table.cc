#include "apps/attempts/account_table.h"

#include <utility>

#include "tables/ensure_table.h"
#include "tables/pages.h"

namespace tidemark::attempts {

namespace {

// Most changes, such as every reservation, change only the head row. A single put costs less than a
// transaction of one action.
bool IsHeadAlone(const AccountChange& change) {
  return change.puts.empty() && change.removals.empty();
}

// kConflict: another transaction holds the row at this moment. For the caller that is the same as
// another version: load again and decide again.
Result<bool> AppliedBy(const Result<tables::WriteReply>& reply) {
  if (reply) return reply->applied;
  if (reply.error().code == ErrorCode::kConflict) return false;
  return reply.error();
}

Result<bool> AppliedBy(const Result<tables::TransactWriteReply>& reply) {
  if (!reply && reply.error().code == ErrorCode::kConflict) return false;
  if (!reply) return reply.error();
  for (const tables::CancellationReason& reason : reply->reasons) {
    if (reason.code == tables::CancellationCode::kValidationError) return Invalid(reason.message);
  }
  return reply->outcome == tables::TransactOutcome::kApplied;
}

}  // namespace

Status AccountTable::Create() {
  return tables::EnsureTable(
      tables_,
      {.table = table_,
       .keys = {.partition = {.name = std::string(kPartitionAttribute)},
                .sort = item::KeyAttribute{.name = std::string(kSortAttribute)}}},
      "ttl");
}

tables::QueryRequest AccountTable::RowsOf(const Subject& subject) const {
  return {.table = table_,
          .partition = item::Attribute{std::string(kPartitionAttribute), subject.text()},
          .consistent = true};
}

Result<std::vector<item::Item>> AccountTable::Load(const Subject& subject) {
  return tables::QueryAll(tables_, RowsOf(subject));
}

Later<std::vector<item::Item>> AccountTable::SubmitLoad(const Subject& subject) {
  return tables::SubmitQueryAll(tables_, RowsOf(subject), std::nullopt);
}

tables::PutRequest AccountTable::PutHead(const AccountChange& change) const {
  tables::PutRequest put{.table = table_, .item = change.head};
  put.names = {{"#version", "version"}};
  if (!change.loaded_version) {
    put.condition = "attribute_not_exists(#version)";
    return put;
  }
  put.condition = "#version = :version";
  put.values = {{":version", *change.loaded_version}};
  return put;
}

tables::TransactWriteRequest AccountTable::Transaction(const AccountChange& change) const {
  tables::TransactWriteRequest request;
  request.actions.emplace_back(PutHead(change));
  for (const item::Item& row : change.puts) {
    request.actions.emplace_back(tables::PutRequest{.table = table_, .item = row});
  }
  for (const std::string& sort_key : change.removals) {
    request.actions.emplace_back(
        tables::DeleteRequest{.table = table_,
                              .key = {{std::string(kPartitionAttribute), change.subject.text()},
                                      {std::string(kSortAttribute), sort_key}}});
  }
  return request;
}

Result<bool> AccountTable::Write(const AccountChange& change) {
  if (IsHeadAlone(change)) return AppliedBy(tables_.Put(PutHead(change)));
  return AppliedBy(tables_.TransactWrite(Transaction(change)));
}

Later<bool> AccountTable::Submit(const AccountChange& change) {
  const auto is_applied = [](const auto& reply) { return AppliedBy(reply); };
  if (IsHeadAlone(change)) {
    return tables_.Submit(tables::Tables::WriteRequest(PutHead(change)), std::nullopt)
        .Then(is_applied);
  }
  return tables_.Submit(Transaction(change), std::nullopt).Then(is_applied);
}

}  // namespace tidemark::attempts
