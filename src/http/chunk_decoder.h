// Decodes the body of a request that is sent in chunks (RFC 9112, section 7.1). It is strict: a
// size has only hexadecimal digits, lines end in CRLF, and extensions and trailers have no control
// bytes. Extensions and trailers are dropped.
//
// Beast's decoder is not used, for three reasons. It does not limit extensions and trailers. It
// accepts a bare LF inside a quoted extension, where other parsers end the line. And one of its
// assertions fails when "0\r\n\r" arrives in a piece of its own. One owner; never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::http {

class ChunkDecoder {
 public:
  struct Bounds {
    size_t max_body_bytes = 0;
    // The limit for all extensions and trailers of a body together.
    size_t max_extra_bytes = 0;
  };
  enum class Verdict { kMore, kDone, kMalformed, kBodyTooLarge, kExtraTooLarge };

  explicit ChunkDecoder(Bounds bounds) : bounds_(bounds) {}

  // Takes bytes from the front of `bytes` and appends the decoded ones to `body`. No other code may
  // append to `body`. The bytes that are left at the end belong to the next request.
  Verdict Decode(std::string_view* bytes, std::string* body);

 private:
  enum class State {
    kFirstDigit,
    kDigits,
    kExtension,
    kSizeLineFeed,
    kData,
    kDataReturn,
    kDataLineFeed,
    kTrailerStart,
    kTrailer,
    kTrailerLineFeed,
    kEndLineFeed,
    kDone,
  };

  Verdict Step(char c, size_t body_bytes);
  Verdict Expect(char c, char expected, State next);
  Verdict Digit(char c, size_t body_bytes);
  Verdict AfterSize(char c);
  Verdict Text(char c, State at_return);
  Verdict TrailerStart(char c);

  const Bounds bounds_;
  State state_ = State::kFirstDigit;
  uint64_t size_ = 0;  // Of the chunk; then what is left of it.
  size_t digits_ = 0;
  size_t extra_bytes_ = 0;
};

}  // namespace tidemark::http
