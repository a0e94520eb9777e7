// The words that DynamoDB does not accept as attribute names in an expression. A caller must use a
// "#reference" for such an attribute.
#pragma once

#include <string_view>

namespace tidemark::expression {

inline constexpr size_t kReservedWordCount = 573;

// Upper and lower case are the same.
bool IsReservedWord(std::string_view name);

}  // namespace tidemark::expression
