#include "item/size.h"

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

}  // namespace

size_t SizeBytes(const Value& value) { return std::visit(Sizer{}, value.data()); }

size_t SizeBytes(const Item& item) {
  size_t size = 0;
  for (const Attribute& attribute : item)
    size += attribute.name.size() + SizeBytes(attribute.value);
  return size;
}

}  // namespace tidemark::item
