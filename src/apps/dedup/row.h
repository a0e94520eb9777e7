// A Row is a claim as the table keeps it, and what it means to somebody who wants its key.
//
// The seed's attributes (event_key, processed_at, ttl and the metadata) stand beside those of the
// claim. A row without a status was marked by the seed's own code and is done. What is read here
// is never trusted: an attribute of another type counts as missing.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "apps/dedup/claim.h"
#include "base/clock.h"
#include "item/value.h"

namespace tidemark::dedup {

enum class RowStatus { kClaimed, kDone, kReleased, kFailed };

std::string_view ToString(RowStatus status);

// Results and reasons of failures are kept up to this length.
inline constexpr size_t kMaxTextBytes = 1024;

struct Row {
  std::string key;
  RowStatus status = RowStatus::kDone;
  std::string owner = {};
  int64_t generation = 0;
  EpochSeconds processed_at = 0;  // When it was claimed.
  EpochSeconds completed_at = 0;  // 0: it was not.
  EpochSeconds lease_until = 0;
  std::optional<EpochSeconds> expires = std::nullopt;  // nullopt: never.
  int64_t failures = 0;
  std::string failure = {};  // Why it failed last.
  std::optional<std::string> payload_hash = std::nullopt;
  std::optional<std::string> result = std::nullopt;
  std::string main_key = {};  // Of an alias: the key that it stands for.
  Metadata metadata = {};
};

// Names that the claim uses itself win over metadata; empty names and values are left out.
item::Item EncodeRow(const Row& row);
Row DecodeRow(const item::Item& item);

bool IsExpired(const Row& row, EpochSeconds now);

// What somebody who wants the key brings along.
struct Wish {
  std::string nonce;
  RowStatus status = RowStatus::kClaimed;  // What the row is to become: claimed, or done at once.
  std::optional<std::string> payload_hash = std::nullopt;
  OnLapse on_lapse = OnLapse::kTakeOver;
  EpochSeconds now = 0;
  std::chrono::seconds skew = std::chrono::seconds(0);
};

// Whether the row is what the wish itself wrote, and still stands: the reply was lost.
bool Fulfils(const Row& row, const Wish& wish);
// Why the key of this live row cannot be had; nullopt when it can be taken over.
std::optional<ClaimReply> Objection(const Row& row, const Wish& wish);

}  // namespace tidemark::dedup
