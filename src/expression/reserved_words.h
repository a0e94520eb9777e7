// The words that DynamoDB does not take as attribute names in an expression unless they
// hide behind a "#reference".
#pragma once

#include <string_view>

namespace tidemark::expression {

inline constexpr size_t kReservedWordCount = 573;

// In any case of letters.
bool IsReservedWord(std::string_view name);

}  // namespace tidemark::expression
