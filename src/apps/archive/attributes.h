// Reading and writing the attributes of the archive's rows. What is missing or of another type
// reads as absent, and what is empty or false is not written: a row holds no false.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "item/attributes.h"
#include "item/value.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

using item::FindText;
using item::IntIn;
using item::IsTrueIn;
using item::MaybeTextIn;
using item::TextIn;

// nullopt also when the text is no timestamp.
inline std::optional<slack::Timestamp> ParseTimestamp(std::string_view text) {
  auto parsed = slack::Timestamp::Parse(text);
  return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

inline std::optional<slack::Timestamp> TimestampIn(const item::Item& row, std::string_view name) {
  const std::string* text = FindText(row, name);
  return text ? ParseTimestamp(*text) : std::nullopt;
}

// Gathers attributes in any order and sorts them once.
class RowBuilder {
 public:
  // Few rows have more, and for a larger block the allocator takes the long way.
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
