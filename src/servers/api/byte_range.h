// The part of a file that a Range header asks for.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::api {

struct ByteRange {
  enum class Kind {
    kWhole,          // No range that is understood, or several: the whole is an answer to all.
    kPart,           // `size` bytes, at least one, from `first` on.
    kUnsatisfiable,  // It begins where the file has ended.
  };
  Kind kind = Kind::kWhole;
  uint64_t first = 0;
  uint64_t size = 0;
};

// "bytes=0-99", "bytes=100-" or "bytes=-10" of a file of this size.
ByteRange ParseByteRange(std::string_view header, uint64_t size);

}  // namespace tidemark::api
