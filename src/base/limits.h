// The limits of the base folder.
#pragma once

#include <cstddef>

namespace tidemark {

// Objects and arrays within each other in a JSON text. DynamoDB's items nest 32 deep, two
// levels of JSON each, inside a request: this leaves enough room for them, and protects recursive
// code from a stack overflow.
inline constexpr size_t kMaxJsonDepth = 200;
// A thread keeps the buffers of its JSON parser for the next text while they are this small.
inline constexpr size_t kMaxKeptJsonBufferBytes = 1 << 20;

}  // namespace tidemark
