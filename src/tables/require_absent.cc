#include "tables/require_absent.h"

#include <string>

#include "item/number.h"

namespace tidemark::tables {

void RequireAbsent(std::string_view partition_key, EpochSeconds now, PutRequest* put) {
  put->condition = "attribute_not_exists(#key) OR #ttl <= :now";
  put->names = {{"#key", std::string(partition_key)}, {"#ttl", "ttl"}};
  put->values = {{":now", item::Number::FromInt(now)}};
}

}  // namespace tidemark::tables
