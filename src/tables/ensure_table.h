// Creates a table at start-up unless it exists.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::tables {

// Creates the table with its time to live. A table that exists already, or that another process
// creates at the same time, is not changed. kInvalid when it has other keys: then another program
// uses this name.
Status EnsureTable(Tables& tables, const CreateTableRequest& request,
                   const std::optional<std::string>& ttl_attribute);

}  // namespace tidemark::tables
