#include "apps/archive/partition.h"

#include <iterator>
#include <utility>

namespace tidemark::archive {

tables::QueryRequest PartitionQuery(const std::string& table, const std::string& item_id) {
  return {.table = table,
          .key_condition = "#k = :k",
          .names = {{"#k", "itemId"}},
          .values = {{":k", item_id}},
          .consistent = true};
}

Result<std::vector<item::Item>> QueryAll(tables::Tables& tables, tables::QueryRequest request) {
  std::vector<item::Item> rows;
  do {
    tables::Page page = TRY(tables.Query(request));
    std::move(page.items.begin(), page.items.end(), std::back_inserter(rows));
    request.start_after = std::move(page.last);
  } while (request.start_after);
  return rows;
}

}  // namespace tidemark::archive
