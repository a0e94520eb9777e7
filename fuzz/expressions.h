// What the fuzz targets of expressions share: references and items with a value of every
// type, so that a random text has something to refer to.
//
// For fuzz targets only; each runs in one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "expression/bindings.h"
#include "item/encoding.h"
#include "item/value.h"

namespace tidemark::fuzz {

inline item::Value Int(int64_t value) { return item::Number::FromInt(value); }

inline const expression::Names& SomeNames() {
  static const expression::Names names{{"#a", "a"}, {"#b", "b"}, {"#c", "size"}, {"#d", "x.y"}};
  return names;
}

inline const expression::Values& SomeValues() {
  static const expression::Values values{
      {":a", "text"},
      {":b", Int(1)},
      {":c", item::Binary{"bytes"}},
      {":d", item::StringSet({"x", "y"})},
      {":e", item::NumberSet({item::Number::FromInt(1), item::Number::FromInt(2)})},
      {":f", item::List{"x", Int(1), item::List{}}},
      {":g", item::Map{{"a", "x"}, {"b", item::Map{}}}},
      {":h", true},
      {":i", item::Null{}},
      {":j", "SS"},
      {":k", Int(-7)},
      {":l", ""},
  };
  return values;
}

inline expression::Bindings SomeBindings() {
  return expression::Bindings::Make(SomeNames(), SomeValues(), true).value();
}

inline const std::vector<item::Item>& SomeItems() {
  static const std::vector<item::Item> items{
      {},
      {{"a", "text"}, {"b", Int(1)}, {"c", item::Binary{"by"}}, {"d", item::StringSet({"x"})}},
      {{"a", item::Map{{"a", item::Map{{"b", Int(5)}}}, {"b", item::List{Int(1), "x"}}}},
       {"b", item::List{item::List{Int(1)}, item::Map{{"a", "deep"}}, "x", Int(1)}},
       {"size", Int(3)},
       {"x.y", item::NumberSet({item::Number::FromInt(1)})},
       {"id", "one"}},
  };
  return items;
}

// Whatever the expressions make must be storable.
inline void CheckStorable(const item::Item& item) {
  std::string bytes;
  item::EncodeItem(item, &bytes);
  const Result<item::Item> decoded = item::DecodeItem(bytes);
  CHECK(decoded.has_value() && *decoded == item);
}

inline std::string_view TextOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace tidemark::fuzz
