#include "tables/embedded/expiry.h"

#include "base/expiry.h"
#include "tables/limits.h"

namespace tidemark::embedded {

std::optional<EpochSeconds> TimeToLive(const ExpiryList& expiry, const item::Item& item) {
  const item::Value* value = item.Find(expiry.attribute);
  const item::Number* number = value == nullptr ? nullptr : value->As<item::Number>();
  if (number == nullptr) return std::nullopt;
  // Rounded up: with a time to live of 12.5 the item is still alive at second 12 and expired at 13.
  const std::optional<int64_t> floor = number->Floor();
  if (!floor || *floor < 0 || *floor == INT64_MAX) return std::nullopt;
  return item::Number::FromInt(*floor) == *number ? *floor : *floor + 1;
}

bool IsExpired(const ExpiryList& expiry, const item::Item& item, EpochSeconds now) {
  const std::optional<EpochSeconds> ttl = TimeToLive(expiry, item);
  return ttl && !IsLive(*ttl, now) && *ttl > now - tables::kOldestTimeToLive.count();
}

}  // namespace tidemark::embedded
