// A Row is a claim as it is stored: one row for each of its keys. EncodeRow and DecodeRow convert
// it to and from an item of the table; docs/flows/dedup.md has the attributes.
//
// The attributes of the seed (event_key, processed_at, ttl, the metadata) are kept. A row without a
// status was written by the seed's own code and means done. Another program may have written a row,
// so an attribute of another type counts as missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/dedup/claim.h"
#include "base/clock.h"
#include "item/value.h"

namespace tidemark::dedup {

enum class RowStatus { kClaimed, kDone, kReleased, kFailed };

std::string_view ToString(RowStatus status);

// The longest result and reason of a failure that a row keeps.
inline constexpr size_t kMaxTextBytes = 1024;

struct Row {
  std::string key;
  RowStatus status = RowStatus::kDone;
  std::string owner = {};
  int64_t generation = 0;
  EpochSeconds processed_at = 0;  // When it was claimed.
  EpochSeconds completed_at = 0;  // 0: not completed.
  EpochSeconds lease_until = 0;
  std::optional<EpochSeconds> expires = std::nullopt;  // nullopt: never.
  int64_t failures = 0;
  std::string failure = {};  // Why it failed the last time.
  std::optional<std::string> payload_hash = std::nullopt;
  std::optional<std::string> result = std::nullopt;
  std::string main_key = {};  // In the row of an alias: the claim's main key.
  Metadata metadata = {};
};

// Metadata cannot overwrite the attributes of the claim. Empty names and values are left out.
item::Item EncodeRow(const Row& row);
Row DecodeRow(const item::Item& item);

bool IsExpired(const Row& row, EpochSeconds now);

}  // namespace tidemark::dedup
