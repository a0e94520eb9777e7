#include "item/size.h"

#include "base/json.h"

namespace tidemark::item {

namespace {

constexpr size_t kContainerBytes = 3;  // What a list or map takes before its contents.
constexpr size_t kElementBytes = 1;    // What each of its elements takes beside its own size.

struct Sizer {
  size_t operator()(const String& text) const { return text.size(); }
  size_t operator()(const Number& number) const { return number.SizeBytes(); }
  size_t operator()(const Binary& binary) const { return binary.bytes.size(); }
  size_t operator()(bool) const { return 1; }
  size_t operator()(const Null&) const { return 1; }
  template <typename Member>
  size_t operator()(const SetOf<Member>& set) const {
    size_t size = 0;
    for (const Member& member : set.members()) size += (*this)(member);
    return size;
  }
  size_t operator()(const List& list) const {
    size_t size = kContainerBytes + kElementBytes * list.size();
    for (const Value& element : list) size += SizeBytes(element);
    return size;
  }
  size_t operator()(const Map& map) const {
    return kContainerBytes + kElementBytes * map.size() + SizeBytes(map);
  }
};

// The content of a value, without the object that names its type.
struct JsonSizer {
  size_t operator()(const String& text) const { return JsonTextBytes(text); }
  size_t operator()(const Number& number) const { return 2 + number.TextBytes(); }
  size_t operator()(const Binary& binary) const { return 2 + (binary.bytes.size() + 2) / 3 * 4; }
  size_t operator()(bool value) const { return value ? 4 : 5; }
  size_t operator()(const Null&) const { return 4; }
  // A comma is counted for every element, also for the last one, which has none.
  template <typename Member>
  size_t operator()(const SetOf<Member>& set) const {
    size_t size = 2 + set.size();
    for (const Member& member : set.members()) size += (*this)(member);
    return size;
  }
  size_t operator()(const List& list) const {
    size_t size = 2 + list.size();
    for (const Value& element : list) size += OfValue(element);
    return size;
  }
  size_t operator()(const Map& map) const {
    size_t size = 2 + map.size();
    for (const Attribute& attribute : map) {
      size += JsonTextBytes(attribute.name) + 1 + OfValue(attribute.value);
    }
    return size;
  }
  // {"S":…}
  size_t OfValue(const Value& value) const {
    return 5 + ToString(value.type()).size() + std::visit(*this, value.data());
  }
};

}  // namespace

size_t SizeBytes(const Value& value) { return std::visit(Sizer{}, value.data()); }

size_t SizeBytes(const Item& item) {
  size_t size = 0;
  for (const Attribute& attribute : item)
    size += attribute.name.size() + SizeBytes(attribute.value);
  return size;
}

size_t JsonBytes(const Item& item) { return JsonSizer{}(item); }

}  // namespace tidemark::item
