#include "base/random.h"

#include <array>
#include <atomic>
#include <limits>
#include <pthread.h>
#include <sys/random.h>
#include <utility>

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

namespace {

// Changes in the child of a fork, which must not use the bits that its parent has drawn.
std::atomic<uint64_t> process_generation = 1;

// Bits that this thread has drawn and not used. One system call fills it. getrandom returns all
// bytes of a request of at most 256 bytes, once the pool is ready.
class DrawnBits {
 public:
  uint64_t Next() {
    if (left_ == 0 || generation_ != process_generation) Draw();
    // Zeroed, so that what became a secret is not left here.
    return std::exchange(bits_[--left_], 0);
  }

 private:
  void Draw() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] { ++process_generation; });
    CHECK(registered == 0);
    generation_ = process_generation;
    CHECK(getrandom(bits_.data(), sizeof bits_, 0) == sizeof bits_);
    left_ = bits_.size();
  }

  std::array<uint64_t, 32> bits_ = {};
  size_t left_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace

uint64_t SystemRandom::Next() {
  thread_local DrawnBits drawn;
  return drawn.Next();
}

uint64_t SeededRandom::Next() {
  std::lock_guard lock(mutex_);
  return engine_();
}

}  // namespace tidemark
