#include "apps/dedup/outage.h"

#include <utility>

namespace tidemark::dedup {

// By either clock: the monotonic one stands still while the machine sleeps, the other may be
// set back.
bool Outage::InEffect() const {
  const bool passed =
      clock_.Monotonic() - start_ >= period_ || clock_.Now() - wall_start_ >= period_;
  return away_ && !passed;
}

bool Outage::Begin() {
  if (InEffect()) return false;
  away_ = true;
  wall_start_ = clock_.Now();
  start_ = clock_.Monotonic();
  return true;
}

bool Outage::End() { return std::exchange(away_, false); }

}  // namespace tidemark::dedup
