#include "item/value.h"

#include <array>

namespace tidemark::item {

namespace {

constexpr std::array<std::string_view, 10> kTypeNames = {"S",  "N",  "B",  "BOOL", "NULL",
                                                         "SS", "NS", "BS", "L",    "M"};

// Names are ordered by unsigned bytes, as in the stored format.
template <typename Attributes>
auto LowerBound(Attributes& attributes, std::string_view name) {
  return std::lower_bound(
      attributes.begin(), attributes.end(), name,
      [](const Attribute& left, std::string_view right) { return left.name.compare(right) < 0; });
}

template <typename Attributes>
auto* FindIn(Attributes& attributes, std::string_view name) {
  auto place = LowerBound(attributes, name);
  const bool found = place != attributes.end() && place->name == name;
  return found ? &place->value : nullptr;
}

}  // namespace

std::string_view ToString(Type type) { return kTypeNames[static_cast<size_t>(type)]; }

std::optional<Type> ParseType(std::string_view text) {
  auto place = std::find(kTypeNames.begin(), kTypeNames.end(), text);
  if (place == kTypeNames.end()) return std::nullopt;
  return static_cast<Type>(place - kTypeNames.begin());
}

Map::Map(std::initializer_list<Attribute> attributes)
    : Map(FromAttributes(std::vector<Attribute>(attributes))) {}

const Value* Map::Find(std::string_view name) const { return FindIn(attributes_, name); }
Value* Map::Find(std::string_view name) { return FindIn(attributes_, name); }

void Map::Set(std::string_view name, Value value) {
  auto place = LowerBound(attributes_, name);
  if (place != attributes_.end() && place->name == name) {
    place->value = std::move(value);
  } else {
    attributes_.insert(place, Attribute{std::string(name), std::move(value)});
  }
}

bool Map::Erase(std::string_view name) {
  auto place = LowerBound(attributes_, name);
  if (place == attributes_.end() || place->name != name) return false;
  attributes_.erase(place);
  return true;
}

bool Map::Append(std::string name, Value value) {
  if (!attributes_.empty() && attributes_.back().name >= name) return false;
  attributes_.push_back(Attribute{std::move(name), std::move(value)});
  return true;
}

Value* Map::Append(std::string_view name) {
  if (!attributes_.empty() && attributes_.back().name >= name) return nullptr;
  return &attributes_.emplace_back(Attribute{std::string(name), Value()}).value;
}

Map Map::FromAttributes(std::vector<Attribute> attributes) {
  const auto before = [](const Attribute& left, const Attribute& right) {
    return left.name < right.name;
  };
  const auto not_before = [&](const Attribute& left, const Attribute& right) {
    return !before(left, right);
  };
  Map map;
  // Input that is sorted and has each name once, such as our own writers give, needs no work.
  if (std::adjacent_find(attributes.begin(), attributes.end(), not_before) == attributes.end()) {
    map.attributes_ = std::move(attributes);
    return map;
  }
  // An attribute is large and a pointer is small, so this sorts pointers and moves each attribute
  // once. The sort is stable: of several attributes with one name, the last stays last.
  std::vector<Attribute*> order;
  order.reserve(attributes.size());
  for (Attribute& attribute : attributes) order.push_back(&attribute);
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* left, const auto* right) { return before(*left, *right); });
  map.attributes_.reserve(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_last_of_name = i + 1 == order.size() || before(*order[i], *order[i + 1]);
    if (is_last_of_name) map.attributes_.push_back(std::move(*order[i]));
  }
  return map;
}

void Map::Reserve(size_t count) { attributes_.reserve(count); }

bool operator==(const Map& left, const Map& right) { return left.attributes_ == right.attributes_; }

}  // namespace tidemark::item
