// Says in an error which table it is about: DynamoDB's texts, which the tables use, do not.
//
//   TRY(InTable(options.table, tables->Put(request)));
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace tidemark::programs {

template <typename T>
Result<T> InTable(const std::string& table, Result<T> result) {
  return std::move(result).WithContext("table '" + table + "'");
}

}  // namespace tidemark::programs
