// Makes a table at start-up unless it is there.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::tables {

// Makes the table with its time to live. One that is there already, or that another process makes
// at the same time, is left as it is; kInvalid when it is keyed in another way, since what it holds
// is then somebody else's.
Status EnsureTable(Tables& tables, const CreateTableRequest& request,
                   const std::optional<std::string>& ttl_attribute);

}  // namespace tidemark::tables
