#include "apps/dedup/rollout.h"

#include <string>

#include "base/bytes.h"
#include "base/hashing.h"

namespace tidemark::dedup {

bool IsInShare(std::string_view key, uint32_t percent) {
  if (percent >= 100) return true;
  const std::string hash = Sha256(key);
  return Reader(hash).Fixed64() % 100 < percent;
}

}  // namespace tidemark::dedup
