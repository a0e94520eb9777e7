// Reading and writing the attributes of the archive's rows. An attribute that is missing or has
// another type reads as absent. Empty texts, zeros and false are not written: verify.h treats a
// false in a row as a fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "item/attributes.h"
#include "item/value.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

using item::FindText;
using item::IntIn;
using item::IsTrueIn;
using item::MaybeTextIn;
using item::TextIn;

// nullopt when the text is not a timestamp.
inline std::optional<slack::Timestamp> ParseTimestamp(std::string_view text) {
  auto parsed = slack::Timestamp::Parse(text);
  return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

inline std::optional<slack::Timestamp> TimestampIn(const item::Item& row, std::string_view name) {
  const std::string* text = FindText(row, name);
  return text ? ParseTimestamp(*text) : std::nullopt;
}

// The error for a row that is not what its key promises; `what` is "a message", "a channel".
inline Error NotA(std::string_view what, const item::Item& row) {
  return {ErrorCode::kCorrupt, fmt::format("the row {} / {} of the archive is not {}",
                                           TextIn(row, "itemId"), TextIn(row, "timestamp"), what)};
}

// Builds a row: takes attributes in any order and sorts them once, at the end.
class RowBuilder {
 public:
  // Few rows have more attributes, and a larger block would be slower to allocate.
  RowBuilder() { attributes_.reserve(12); }

  void Set(std::string_view name, item::Value value) {
    attributes_.push_back({std::string(name), std::move(value)});
  }
  void SetText(std::string_view name, std::string_view text) {
    if (!text.empty()) Set(name, std::string(text));
  }
  void SetInt(std::string_view name, int64_t number) {
    if (number != 0) Set(name, item::Number::FromInt(number));
  }
  void SetTrue(std::string_view name, bool flag) {
    if (flag) Set(name, true);
  }
  item::Map Build() { return item::Map::FromAttributes(std::move(attributes_)); }

 private:
  std::vector<item::Attribute> attributes_;
};

}  // namespace tidemark::archive
