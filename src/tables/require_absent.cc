#include "tables/require_absent.h"

#include <string>

#include "item/number.h"

namespace tidemark::tables {

void RequireAbsent(std::string_view partition_key, EpochSeconds now, PutRequest* put) {
  put->condition = "attribute_not_exists(#key) OR #ttl <= :now";
  put->names.clear();
  put->names.emplace("#key", partition_key);
  put->names.emplace("#ttl", "ttl");
  put->values.clear();
  put->values.emplace(":now", item::Number::FromInt(now));
}

}  // namespace tidemark::tables
