// Adds the name of the table to an error, and for a reserved word the option that helps. DynamoDB's
// texts, which the tables use, have neither.
//
//   TRY(InTable(options.table, tables->Put(request)));
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace tidemark::programs {

template <typename T>
Result<T> InTable(const std::string& table, Result<T> result) {
  if (!result && result.error().message.find("reserved keyword: ") != std::string::npos) {
    Error error = std::move(result).error();
    error.message += R"(; write #x in its place and add --names '{"#x":"that word"}')";
    result = std::move(error);
  }
  return std::move(result).WithContext("table '" + table + "'");
}

}  // namespace tidemark::programs
