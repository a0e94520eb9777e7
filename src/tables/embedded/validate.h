// Checks of requests that need neither the table nor a parsed expression.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "tables/requests.h"

namespace tidemark::embedded {

// A name in a request about an existing table: 1 to 255 of letters, digits, '_', '-' and '.'.
Status ValidateTableName(const std::string& table);
// A region is part of an ARN, so it may have only small letters, digits and dashes.
Status ValidateRegion(const std::string& region);
Status ValidateValues(const tables::Values& values);
// Checks the whole definition of a new table. The errors have DynamoDB's texts.
Status ValidateCreateTable(const tables::CreateTableRequest& request);
// An index to be added to a table with these keys.
Status ValidateIndex(const tables::IndexSpec& index, const item::KeySchema& table_keys);
Status ValidateThroughput(const std::optional<tables::Throughput>& throughput);
Status ValidateTags(const tables::Tags& tags);
Status ValidateLimit(std::optional<uint32_t> limit);

}  // namespace tidemark::embedded
