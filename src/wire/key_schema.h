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

template <>
inline constexpr std::string_view kJavaName<KeyElement> = "KeySchemaElement";
template <typename F>
void Describe(F& fields, Ref<F, KeyElement> element) {
  fields.Required("AttributeName", element.attribute);
  fields.Required("KeyType", element.role);
}

// [KeySchemaElement(attributeName=id, keyType=HASH)]
std::string Shown(const std::vector<KeyElement>& elements);

// kInvalid with DynamoDB's text unless the first is a partition key, and sort keys follow: one, or
// several attributes for each of the two.
Status CheckElements(const std::vector<KeyElement>& elements, bool may_be_several);
// The schema of checked elements, without types.
item::KeySchema SchemaOf(const std::vector<KeyElement>& elements);
// Whether a place is in the definition of a global index, whose key may have several attributes.
bool IsInGlobalIndex(const Place& place);

template <>
struct Codec<item::KeySchema> {
  static void Write(const item::KeySchema& keys, JsonWriter* writer) {
    std::vector<KeyElement> elements;
    for (const item::KeyAttribute* attribute : item::PartitionAttributes(keys)) {
      elements.push_back({attribute->name, KeyRole::kPartition});
    }
    for (const item::KeyAttribute* attribute : item::SortAttributes(keys)) {
      elements.push_back({attribute->name, KeyRole::kSort});
    }
    Codec<std::vector<KeyElement>>::Write(elements, writer);
  }
  // The types of a new schema stay as they are by default.
  static Status Read(const Json& json, const Place& place, item::KeySchema* keys) {
    std::vector<KeyElement> elements;
    TRY(Codec<std::vector<KeyElement>>::Read(json, place, &elements));
    constexpr size_t kMaxSingleAttributes = 2;
    const bool may_be_several = IsInGlobalIndex(place);
    const size_t most = may_be_several ? kMaxElements : kMaxSingleAttributes;
    if (elements.empty() || elements.size() > most) {
      place.CheckLength(elements.size(), 1, most, Shown(elements));
      return Done{};
    }
    TRY(CheckElements(elements, may_be_several));
    *keys = SchemaOf(elements);
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
