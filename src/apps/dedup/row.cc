#include "apps/dedup/row.h"

#include <algorithm>
#include <array>

#include "base/expiry.h"
#include "item/attributes.h"

namespace tidemark::dedup {

namespace {

using item::IntIn;
using item::MaybeTextIn;
using item::TextIn;

// The attributes of a claim itself: metadata must not overwrite them.
constexpr std::array<std::string_view, 13> kOwnNames = {
    "event_key",    "processed_at", "ttl",          "status",   "owner",
    "generation",   "lease_until",  "completed_at", "failures", "failure",
    "payload_hash", "result",       "main_key"};

bool IsOwnName(std::string_view name) {
  return std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end();
}

void SetText(item::Item* item, std::string_view name, const std::string& text) {
  if (!text.empty()) item->Set(name, text);
}

void SetInt(item::Item* item, std::string_view name, int64_t number) {
  if (number != 0) item->Set(name, item::Number::FromInt(number));
}

// A row without a status, or with one that we do not know, means done: handling an event twice is
// worse than not handling it again.
RowStatus StatusIn(const item::Item& item) {
  const std::optional<std::string> text = MaybeTextIn(item, "status");
  for (RowStatus status : {RowStatus::kClaimed, RowStatus::kReleased, RowStatus::kFailed}) {
    if (text == ToString(status)) return status;
  }
  return RowStatus::kDone;
}

// Every other attribute that is a string is metadata.
Metadata MetadataIn(const item::Item& item) {
  Metadata metadata;
  for (const item::Attribute& attribute : item) {
    const auto* text = attribute.value.As<std::string>();
    if (text && !IsOwnName(attribute.name)) metadata.emplace(attribute.name, *text);
  }
  return metadata;
}

}  // namespace

std::string_view ToString(RowStatus status) {
  switch (status) {
    case RowStatus::kClaimed:
      return "claimed";
    case RowStatus::kDone:
      return "done";
    case RowStatus::kReleased:
      return "released";
    case RowStatus::kFailed:
      return "failed";
  }
  return "done";
}

item::Item EncodeRow(const Row& row) {
  item::Item item;
  for (const auto& [name, value] : row.metadata) {
    if (!name.empty() && !IsOwnName(name)) SetText(&item, name, value);
  }
  item.Set("event_key", row.key);
  item.Set("status", std::string(ToString(row.status)));
  item.Set("processed_at", item::Number::FromInt(row.processed_at));
  SetText(&item, "owner", row.owner);
  SetInt(&item, "generation", row.generation);
  SetInt(&item, "lease_until", row.lease_until);
  SetInt(&item, "completed_at", row.completed_at);
  SetInt(&item, "failures", row.failures);
  SetText(&item, "failure", row.failure);
  SetText(&item, "main_key", row.main_key);
  if (row.expires) item.Set("ttl", item::Number::FromInt(*row.expires));
  if (row.payload_hash) SetText(&item, "payload_hash", *row.payload_hash);
  if (row.result) SetText(&item, "result", *row.result);
  return item;
}

Row DecodeRow(const item::Item& item) {
  return {.key = TextIn(item, "event_key"),
          .status = StatusIn(item),
          .owner = TextIn(item, "owner"),
          .generation = IntIn(item, "generation").value_or(0),
          .processed_at = IntIn(item, "processed_at").value_or(0),
          .completed_at = IntIn(item, "completed_at").value_or(0),
          .lease_until = IntIn(item, "lease_until").value_or(0),
          .expires = IntIn(item, "ttl"),
          .failures = IntIn(item, "failures").value_or(0),
          .failure = TextIn(item, "failure"),
          .payload_hash = MaybeTextIn(item, "payload_hash"),
          .result = MaybeTextIn(item, "result"),
          .main_key = TextIn(item, "main_key"),
          .metadata = MetadataIn(item)};
}

bool IsExpired(const Row& row, EpochSeconds now) {
  return row.expires && !IsLive(*row.expires, now);
}

}  // namespace tidemark::dedup
