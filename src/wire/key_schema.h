// The key schema of a table, an index or a stream: [{"AttributeName": "id", "KeyType": "HASH"}].
// It has no types; messages with types have them in AttributeDefinitions. And times, which are
// decimal seconds.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/clock.h"
#include "item/key.h"
#include "wire/fields.h"

namespace tidemark::wire {

enum class KeyRole { kPartition, kSort };
template <>
struct NamesOf<KeyRole> {
  static constexpr EnumName<KeyRole> kRows[] = {
      {KeyRole::kPartition, "HASH"},
      {KeyRole::kSort, "RANGE"},
  };
};

struct KeyElement {
  std::string attribute;
  KeyRole role = KeyRole::kPartition;
};

template <typename F>
void Describe(F& fields, Ref<F, KeyElement> element) {
  fields.Required("AttributeName", element.attribute);
  fields.Required("KeyType", element.role);
}

// kInvalid with DynamoDB's text unless the first is a partition key and the second, if there is
// one, a sort key.
Status CheckElements(const std::vector<KeyElement>& elements);

template <>
struct Codec<item::KeySchema> {
  static void Write(const item::KeySchema& keys, JsonWriter* writer) {
    std::vector<KeyElement> elements = {{keys.partition.name, KeyRole::kPartition}};
    if (keys.sort) elements.push_back({keys.sort->name, KeyRole::kSort});
    Codec<std::vector<KeyElement>>::Write(elements, writer);
  }
  // The types of a new schema stay as they are by default.
  static Status Read(const Json& json, const Place& place, item::KeySchema* keys) {
    std::vector<KeyElement> elements;
    TRY(Codec<std::vector<KeyElement>>::Read(json, place, &elements));
    constexpr size_t kMaxKeyAttributes = 2;
    place.CheckLength(elements.size(), 1, kMaxKeyAttributes);
    if (elements.empty() || elements.size() > kMaxKeyAttributes) return Done{};
    TRY(CheckElements(elements));
    keys->partition.name = elements[0].attribute;
    if (elements.size() > 1) keys->sort = item::KeyAttribute{.name = elements[1].attribute};
    return Done{};
  }
};

// The second as a decimal number, and from one that may have a fraction.
struct Timestamp {
  EpochSeconds at = 0;
  friend bool operator==(const Timestamp&, const Timestamp&) = default;
};
template <>
struct Codec<Timestamp> {
  static void Write(const Timestamp& time, JsonWriter* writer) {
    writer->Double(static_cast<double>(time.at));
  }
  static Status Read(const Json& json, const Place& /*place*/, Timestamp* time) {
    constexpr double kLatest = 1e15;
    const std::optional<double> seconds = json.AsDouble();
    if (!seconds || std::abs(*seconds) > kLatest) return item::NotAScalar(json, "java.util.Date");
    time->at = static_cast<EpochSeconds>(std::floor(*seconds));
    return Done{};
  }
};

template <typename F>
void DescribeTime(F& fields, std::string_view name, Ref<F, EpochSeconds> at) {
  Timestamp time{at};
  fields.Always(name, time);
  if constexpr (std::is_same_v<F, FieldReader>) at = time.at;
}

}  // namespace tidemark::wire
