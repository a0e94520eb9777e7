// When items expire. Deleting them is the sweeper's work (maintenance.h); whether one is
// expired is decided here, by the one rule of base/expiry.h.
#pragma once

#include <optional>

#include "base/clock.h"
#include "item/value.h"
#include "tables/embedded/catalog.h"

namespace tidemark::embedded {

// The second at which the item expires by its table's attribute; nullopt when it has none,
// or one that is not a number of seconds since the epoch.
std::optional<EpochSeconds> TimeToLive(const ExpiryList& expiry, const item::Item& item);

// Whether the sweeper may remove it. A time to live of more than five years ago is taken for
// a mistake, and does not count.
bool IsExpired(const ExpiryList& expiry, const item::Item& item, EpochSeconds now);

}  // namespace tidemark::embedded
