#include "servers/dynamodb/rights.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tidemark::dynamodb {

namespace {

bool IsOwn(const OwnTables& own, const std::string& table) {
  return table.starts_with("tidemark-") || own.contains(table);
}

// The operations that change items. All others that change something define tables.
bool WritesItems(std::string_view operation) {
  constexpr auto kItemWrites = std::to_array<std::string_view>(
      {"BatchExecuteStatement", "BatchWriteItem", "DeleteItem", "ExecuteStatement",
       "ExecuteTransaction", "PutItem", "TransactWriteItems", "UpdateItem"});
  return std::ranges::find(kItemWrites, operation) != kItemWrites.end();
}

std::optional<Denial> DenialOfUse(const Rights& rights, const std::string& table) {
  if (table == kKeysTable) return Denial{table, "nobody may use the table of access keys here"};
  const bool is_for_all = rights.tables.empty();
  if (is_for_all || rights.tables.contains(table) || rights.own_writes.contains(table)) {
    return std::nullopt;
  }
  return Denial{table, "the access key was made for other tables"};
}

std::optional<Denial> DenialOfChange(const Rights& rights, const OwnTables& own,
                                     std::string_view operation, const std::string& table) {
  if (rights.read_only) return Denial{table, "the access key was made with --read-only"};
  if (!IsOwn(own, table)) return std::nullopt;
  if (rights.own_writes.contains(table)) {
    if (WritesItems(operation)) return std::nullopt;
    return Denial{table, "the table belongs to Tidemark: --write is for its items only"};
  }
  return Denial{table,
                fmt::format("the table belongs to Tidemark and can only be read here, except with "
                            "an access key that was made with --write {}",
                            table)};
}

}  // namespace

bool DefinesTables(std::string_view operation, const wire::Call& call) {
  return !call.changed_tables.empty() && !WritesItems(operation);
}

std::optional<Denial> FindDenial(const Rights& rights, const OwnTables& own,
                                 std::string_view operation, const wire::Call& call) {
  // A list of all tables.
  if (call.tables.empty() && !rights.tables.empty()) {
    return Denial{"*", "the access key was made for some tables only"};
  }
  for (const std::string& table : call.tables) {
    if (auto denial = DenialOfUse(rights, table)) return denial;
  }
  if (rights.read_only && call.stores_token) {
    return Denial{call.tables.empty() ? "*" : call.tables.front(),
                  "the access key was made with --read-only, and a ClientRequestToken is stored"};
  }
  for (const std::string& table : call.changed_tables) {
    if (auto denial = DenialOfChange(rights, own, operation, table)) return denial;
  }
  return std::nullopt;
}

}  // namespace tidemark::dynamodb
