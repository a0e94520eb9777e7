// Decodes the body of a request that is sent in chunks (RFC 9112, section 7.1), strictly: sizes
// are hexadecimal digits and nothing else, lines end in CRLF, extensions and trailers hold no
// control bytes and are dropped.
//
// Beast has a decoder too. It is not used: it has no bound for extensions and trailers, takes a
// bare LF inside a quoted extension, where others end the line, and an assertion in it can be
// reached by sending "0\r\n\r" apart from the rest. One owner; never throws.
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
    // Of extensions and trailers, all together.
    size_t max_extra_bytes = 0;
  };
  enum class Verdict { kMore, kDone, kMalformed, kBodyTooLarge, kExtraTooLarge };

  explicit ChunkDecoder(Bounds bounds) : bounds_(bounds) {}

  // Takes bytes off the front of `bytes` and appends the body's to `body`, to which nobody else
  // appends. What is left in `bytes` when it is done belongs to the next request.
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
