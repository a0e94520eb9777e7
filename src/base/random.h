// The source of randomness, injected like the clock. Nonces come from SystemRandom. Tests use
// SeededRandom and print its seed, so that a run can be repeated.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <string>

namespace tidemark {

class Random {
 public:
  virtual ~Random() = default;

  // 64 uniformly distributed bits. May be called from any thread.
  virtual uint64_t Next() = 0;

  // Uniform in [0, bound); bound is at least 1. Without modulo bias.
  uint64_t Below(uint64_t bound);
  // `length_bytes` random bytes in lower-case hexadecimal: twice as many characters.
  std::string Hex(size_t length_bytes);
};

// The kernel's cryptographic generator.
class SystemRandom final : public Random {
 public:
  uint64_t Next() override;
};

// Gives the same sequence for the same seed. Must not be used for secrets.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : engine_(seed) {}
  uint64_t Next() override;

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;
};

}  // namespace tidemark
