// Finds which part of a body a GET asks for in its Range header: one range of bytes. Clients use it
// to resume downloads and to skip in videos.
//
//   const Range range = FindRange(request, total, etag);
//   if (range.kind == Range::Kind::kUnsatisfiable) ... // 416, with ContentRange.
//   if (range.kind == Range::Kind::kPart) ...          // 206, with ContentRange.
//   ... send range.size bytes from range.offset on ...
//
// Several ranges, other units and malformed headers are ignored, as HTTP allows: the whole body is
// sent. May be called from any thread.
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
    kUnsatisfiable,  // 416: it begins after the end. Nothing is sent.
  };
  Kind kind = Kind::kWhole;
  uint64_t offset = 0;
  uint64_t size = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// The range in a body of `total` bytes. `etag` is without quotes. An If-Range with another ETag, or
// with a time, gives the whole body: the client has part of another version.
Range FindRange(const Request& request, uint64_t total, std::string_view etag);

// The value of Content-Range: "bytes 0-99/1000" for a part, "bytes */1000" for an unsatisfiable
// range. Not for the whole body.
std::string ContentRange(const Range& range, uint64_t total);

}  // namespace tidemark::http
