// The seed of a randomised test: TIDEMARK_SEED from the environment, or else a new random one. It
// is printed, so that a failed run can be repeated with TIDEMARK_SEED.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "base/random.h"

namespace tidemark::testing {

inline uint64_t ChooseSeed() {
  const char* wanted = std::getenv("TIDEMARK_SEED");
  const uint64_t seed =
      wanted ? std::strtoull(wanted, nullptr, 10) : SystemRandom().Next() % 1'000'000'000;
  std::cout << "TIDEMARK_SEED=" << seed << std::endl;
  return seed;
}

}  // namespace tidemark::testing
