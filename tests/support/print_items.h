// GoogleTest uses these functions to print items, values and errors when an expectation fails. Only
// tests include this file.
#pragma once

#include <ostream>

#include "base/result.h"
#include "item/json.h"
#include "item/value.h"

namespace tidemark {

inline void PrintTo(ErrorCode code, std::ostream* out) { *out << ToString(code); }
inline void PrintTo(const Error& error, std::ostream* out) {
  *out << ToString(error.code) << ": " << error.message;
}
template <typename T>
void PrintTo(const Result<T>& result, std::ostream* out) {
  if (result) {
    *out << "a success";
  } else {
    PrintTo(result.error(), out);
  }
}

}  // namespace tidemark

namespace tidemark::item {

inline void PrintTo(const Map& item, std::ostream* out) { *out << ToJson(item); }
inline void PrintTo(const Value& value, std::ostream* out) { *out << ToJson(value); }

}  // namespace tidemark::item
