// The limits of items, as DynamoDB has them.
#pragma once

#include <cstddef>

namespace tidemark::item {

inline constexpr size_t kMaxItemBytes = 409'600;
inline constexpr size_t kMaxPartitionKeyBytes = 2'048;
inline constexpr size_t kMaxSortKeyBytes = 1'024;
inline constexpr size_t kMaxAttributeNameBytes = 65'535;
inline constexpr size_t kMaxKeyAttributeNameBytes = 255;
// Levels of values: an attribute's value is on the first, what its list or map contains on
// the second. So 31 lists and maps may stand around a string.
inline constexpr int kMaxNesting = 32;
inline constexpr int kMaxNumberDigits = 38;

}  // namespace tidemark::item
