// The rule of expiry: an item with a deadline is live while now < ttl, and expired from the second
// of the deadline on. Every read, increment and conditional insert uses this comparison. Deleting
// expired items is housekeeping and changes no answer.
#pragma once

#include "base/clock.h"

namespace tidemark {

constexpr bool IsLive(EpochSeconds ttl, EpochSeconds now) { return now < ttl; }

}  // namespace tidemark
