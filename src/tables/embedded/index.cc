#include "tables/embedded/index.h"

#include <algorithm>

namespace tidemark::embedded {

namespace {

item::Item Projected(const Table& table, const Index& index, const item::Item& item) {
  if (index.spec.projection.kind == tables::ProjectionKind::kAll) return item;
  item::Item projected;
  for (const item::Attribute& attribute : item) {
    if (Carries(table, index, attribute.name)) projected.Append(attribute.name, attribute.value);
  }
  return projected;
}

}  // namespace

bool Carries(const Table& table, const Index& index, std::string_view attribute) {
  const tables::IndexProjection& projection = index.spec.projection;
  if (projection.kind == tables::ProjectionKind::kAll) return true;
  if (item::HasAttribute(table.keys, attribute)) return true;
  if (item::HasAttribute(index.spec.keys, attribute)) return true;
  return projection.kind == tables::ProjectionKind::kInclude &&
         std::find(projection.included.begin(), projection.included.end(), attribute) !=
             projection.included.end();
}

std::optional<IndexRow> IndexRowOf(const Table& table, const Index& index, const item::Key& key,
                                   const item::Item& item) {
  const auto index_key = item::IndexKeyOfItem(item, index.spec.keys, index.spec.name);
  if (!index_key.has_value() || !index_key->has_value()) return std::nullopt;
  return IndexRow{.key = IndexRowKey(index.keyspace, **index_key, key),
                  .item = Projected(table, index, item)};
}

Status CheckIndexKeys(const Table& table, const item::Item& item) {
  for (const Index& index : table.indexes) {
    TRY(item::IndexKeyOfItem(item, index.spec.keys, index.spec.name));
  }
  return Done{};
}

}  // namespace tidemark::embedded
