// Which part of a body a GET asks for by its Range header: one range of bytes, as downloads are
// resumed and films are skipped through with.
//
//   const Range range = FindRange(request, total, etag);
//   if (range.kind == Range::Kind::kUnsatisfiable) ... // 416, with ContentRange.
//   if (range.kind == Range::Kind::kPart) ...          // 206, with ContentRange.
//   ... send range.size bytes from range.offset on ...
//
// Several ranges, other units, and what is not well formed are ignored, as HTTP allows: the whole
// is sent. May be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"

namespace tidemark::http {

struct Range {
  enum class Kind {
    kWhole,          // 200.
    kPart,           // 206.
    kUnsatisfiable,  // 416: it begins behind the end. Nothing is sent.
  };
  Kind kind = Kind::kWhole;
  uint64_t offset = 0;
  uint64_t size = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// Of a body of `total` bytes. `etag` is without quotes; an If-Range that names another, or a time,
// asks for the whole, since the part would be one of something else.
Range FindRange(const Request& request, uint64_t total, std::string_view etag);

// The value of Content-Range: "bytes 0-99/1000", or "bytes */1000" of an unsatisfiable one. Not of
// the whole.
std::string ContentRange(const Range& range, uint64_t total);

}  // namespace tidemark::http
