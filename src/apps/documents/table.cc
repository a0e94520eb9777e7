#include "apps/documents/table.h"

#include "tables/ensure_table.h"

namespace tidemark::documents {

namespace {

tables::IndexSpec IndexOver(std::string_view name, std::string partition) {
  return {.name = std::string(name),
          .keys = {.partition = {std::move(partition), item::Type::kString},
                   .sort = item::KeyAttribute{"created_at", item::Type::kNumber}}};
}

}  // namespace

tables::CreateTableRequest TableDefinition(const std::string& table) {
  return {.table = table,
          .keys = {.partition = {"object_id", item::Type::kString}},
          .indexes = {IndexOver(kTimeRangeIndex, "object_type"),
                      IndexOver(kCustomerTimeIndex, "customer_code"),
                      IndexOver(kStatusTimeIndex, "status")},
          .tags = {{"CostCenter", "ccoe-customer-contact-manager"}}};
}

tidemark::Status EnsureCacheTable(tables::Tables& tables, const std::string& table) {
  return tables::EnsureTable(tables, TableDefinition(table), "ttl");
}

}  // namespace tidemark::documents
