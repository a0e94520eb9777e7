// The definition of the cache's table: one key, three indexes over times of creation, time to
// live, a tag for its costs.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::documents {

inline constexpr std::string_view kTimeRangeIndex = "TimeRangeIndex";        // object_type
inline constexpr std::string_view kCustomerTimeIndex = "CustomerTimeIndex";  // customer_code
inline constexpr std::string_view kStatusTimeIndex = "StatusTimeIndex";      // status

tables::CreateTableRequest TableDefinition(const std::string& table);
// Makes it unless it is there; then nothing changes. kInvalid when it is another one's.
tidemark::Status EnsureCacheTable(tables::Tables& tables, const std::string& table);

}  // namespace tidemark::documents
