// The limits of items, as DynamoDB has them.
#pragma once

#include <cstddef>

namespace tidemark::item {

inline constexpr size_t kMaxItemBytes = 409'600;
inline constexpr size_t kMaxPartitionKeyBytes = 2'048;
inline constexpr size_t kMaxSortKeyBytes = 1'024;
inline constexpr size_t kMaxAttributeNameBytes = 65'535;
inline constexpr size_t kMaxKeyAttributeNameBytes = 255;
// How deep values may be nested. The value of an attribute is level 1, the elements of its list or
// map are level 2. So the innermost string may be inside at most 31 lists and maps.
inline constexpr int kMaxNesting = 32;
inline constexpr int kMaxNumberDigits = 38;

}  // namespace tidemark::item
