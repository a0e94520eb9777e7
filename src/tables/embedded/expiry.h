// Decides whether an item is expired, by the rule of base/expiry.h. The sweeper deletes expired
// items (maintenance.h).
#pragma once

#include <optional>

#include "base/clock.h"
#include "item/value.h"
#include "tables/embedded/catalog.h"

namespace tidemark::embedded {

// The second at which the item expires. nullopt when the item does not have the table's attribute
// for it, or when the attribute is not a number of seconds since the epoch.
std::optional<EpochSeconds> TimeToLive(const ExpiryList& expiry, const item::Item& item);

// Whether the sweeper may remove the item. As in DynamoDB, a time to live of more than five years
// ago is taken for a mistake and ignored.
bool IsExpired(const ExpiryList& expiry, const item::Item& item, EpochSeconds now);

}  // namespace tidemark::embedded
