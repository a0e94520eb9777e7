#include "base/random.h"

#include <limits>
#include <sys/random.h>

#include "base/check.h"

namespace tidemark {

uint64_t Random::Below(uint64_t bound) {
  CHECK(bound > 0);
  // Draws from the incomplete last part of the range are dropped. Otherwise small results would be
  // more likely.
  const uint64_t limit = std::numeric_limits<uint64_t>::max() / bound * bound;
  uint64_t draw = Next();
  while (draw >= limit) draw = Next();
  return draw % bound;
}

std::string Random::Hex(size_t length_bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(length_bytes * 2);
  uint64_t bits = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    if (i % 8 == 0) bits = Next();
    text += kDigits[(bits >> 4) & 15];
    text += kDigits[bits & 15];
    bits >>= 8;
  }
  return text;
}

uint64_t SystemRandom::Next() {
  uint64_t bits = 0;
  // getrandom returns all bytes of a request of at most 256 bytes, once the pool is ready.
  CHECK(getrandom(&bits, sizeof bits, 0) == sizeof bits);
  return bits;
}

uint64_t SeededRandom::Next() {
  std::lock_guard lock(mutex_);
  return engine_();
}

}  // namespace tidemark
