#include "tables/ensure_table.h"

#include <utility>

#include <fmt/format.h>

namespace tidemark::tables {

Status EnsureTable(Tables& tables, const CreateTableRequest& request,
                   const std::optional<std::string>& ttl_attribute) {
  auto found = tables.DescribeTable(request.table);
  if (!found && found.error().code == ErrorCode::kNotFound) {
    found = tables.CreateTable(request);
    // Another process has created the table between the two calls.
    if (!found && found.error().code == ErrorCode::kInUse) {
      found = tables.DescribeTable(request.table);
    }
  }
  const std::string context = fmt::format("table '{}'", request.table);
  const TableDescription description = TRY(std::move(found).WithContext(context));
  if (description.keys != request.keys) {
    return Invalid(fmt::format(
        "table '{}' exists with other keys than '{}': name another table in the settings",
        request.table, request.keys.partition.name));
  }
  // The table and its time to live are created in two steps. After a crash between them, the next
  // start makes the second step.
  if (ttl_attribute && description.ttl_attribute != ttl_attribute) {
    TRY(tables.SetTimeToLive({.table = request.table, .attribute = *ttl_attribute})
            .WithContext(context));
  }
  return Done{};
}

}  // namespace tidemark::tables
