#include "item/encoding.h"

#include <algorithm>
#include <utility>

namespace tidemark::item {

namespace {

// The tags are stored, so they never change (docs/formats/items.md).
constexpr uint8_t kVersion = 1;

enum class Tag : uint8_t {
  kString = 1,
  kNumber,
  kBinary,
  kFalse,
  kTrue,
  kNull,
  kStringSet,
  kNumberSet,
  kBinarySet,
  kList,
  kMap,
};

// Reading is recursive, so damaged bytes must not nest without limit. Requests may store 32 levels
// (item/limits.h). This limit is twice as high, so everything that a request stored can be read
// again.
constexpr int kMaxStoredNesting = 64;

// A container reserves memory for at most this many elements. Damaged bytes may claim millions, and
// with more than this it grows only as the elements are really read.
constexpr size_t kMaxReserve = 1'024;

void AppendTag(Tag tag, std::string* out) { out->push_back(static_cast<char>(tag)); }

void AppendValue(const Value& value, std::string* out);

void AppendAttributes(const Map& map, std::string* out) {
  AppendVarint(map.size(), out);
  for (const Attribute& attribute : map) {
    AppendText(attribute.name, out);
    AppendValue(attribute.value, out);
  }
}

class ValueAppender {
 public:
  explicit ValueAppender(std::string* out) : out_(out) {}

  void operator()(const String& text) const { AppendTagged(Tag::kString, text); }
  void operator()(const Number& number) const { AppendTagged(Tag::kNumber, number); }
  void operator()(const Binary& binary) const { AppendTagged(Tag::kBinary, binary); }
  void operator()(bool value) const { AppendTag(value ? Tag::kTrue : Tag::kFalse, out_); }
  void operator()(const Null&) const { AppendTag(Tag::kNull, out_); }
  void operator()(const StringSet& set) const { AppendSet(Tag::kStringSet, set); }
  void operator()(const NumberSet& set) const { AppendSet(Tag::kNumberSet, set); }
  void operator()(const BinarySet& set) const { AppendSet(Tag::kBinarySet, set); }
  void operator()(const List& list) const {
    AppendTag(Tag::kList, out_);
    AppendVarint(list.size(), out_);
    for (const Value& element : list) AppendValue(element, out_);
  }
  void operator()(const Map& map) const {
    AppendTag(Tag::kMap, out_);
    AppendAttributes(map, out_);
  }

 private:
  void AppendBare(const String& text) const { AppendText(text, out_); }
  void AppendBare(const Number& number) const { number.EncodeCompact(out_); }
  void AppendBare(const Binary& binary) const { AppendText(binary.bytes, out_); }

  template <typename Scalar>
  void AppendTagged(Tag tag, const Scalar& scalar) const {
    AppendTag(tag, out_);
    AppendBare(scalar);
  }

  template <typename Member>
  void AppendSet(Tag tag, const SetOf<Member>& set) const {
    AppendTag(tag, out_);
    AppendVarint(set.size(), out_);
    for (const Member& member : set.members()) AppendBare(member);
  }

  std::string* out_;
};

void AppendValue(const Value& value, std::string* out) {
  std::visit(ValueAppender(out), value.data());
}

// Fails the reader on a count of elements that the bytes left cannot hold.
size_t ReadCount(size_t min_element_bytes, Reader* reader) {
  const uint64_t count = reader->Varint();
  // Divides and does not multiply: a product with a damaged count could overflow.
  if (count <= reader->rest().size() / min_element_bytes) return count;
  reader->Fail();
  return 0;
}

void ReadBare(Reader* reader, String* text) { *text = reader->Text(); }
void ReadBare(Reader* reader, Number* number) { *number = Number::DecodeCompact(reader); }
void ReadBare(Reader* reader, Binary* binary) { binary->bytes = reader->Text(); }

template <typename Member>
void ReadSet(Reader* reader, SetOf<Member>* set) {
  const size_t count = ReadCount(1, reader);
  set->Reserve(std::min(count, kMaxReserve));
  for (size_t i = 0; i < count && reader->ok(); ++i) {
    Member member;
    ReadBare(reader, &member);
    if (!set->Append(std::move(member))) reader->Fail();
  }
}

// Reads a value directly into its place, because moving it there would take longer than reading it.
void ReadValue(int level, Reader* reader, Value* value);

void ReadList(int level, Reader* reader, List* list) {
  const size_t count = ReadCount(1, reader);
  list->reserve(std::min(count, kMaxReserve));
  for (size_t i = 0; i < count && reader->ok(); ++i)
    ReadValue(level, reader, &list->emplace_back());
}

void ReadAttributes(int level, Reader* reader, Map* map) {
  // An attribute has at least two bytes: the length of its name, and the type of its value.
  const size_t count = ReadCount(2, reader);
  map->Reserve(std::min(count, kMaxReserve));
  for (size_t i = 0; i < count && reader->ok(); ++i) {
    Value* value = map->Append(reader->Text());
    // The name does not sort after the one before. Such bytes are not canonical: two encodings of
    // one item would differ.
    if (value == nullptr) return reader->Fail();
    ReadValue(level, reader, value);
  }
}

void ReadValue(int level, Reader* reader, Value* value) {
  if (level > kMaxStoredNesting) return reader->Fail();
  Value::Data& data = value->data();
  switch (static_cast<Tag>(reader->Byte())) {
    case Tag::kString:
      data.emplace<String>(reader->Text());
      return;
    case Tag::kNumber:
      data.emplace<Number>(Number::DecodeCompact(reader));
      return;
    case Tag::kBinary:
      data.emplace<Binary>(Binary{std::string(reader->Text())});
      return;
    case Tag::kFalse:
      data = false;
      return;
    case Tag::kTrue:
      data = true;
      return;
    case Tag::kNull:
      data = Null{};
      return;
    case Tag::kStringSet:
      return ReadSet(reader, &data.emplace<StringSet>());
    case Tag::kNumberSet:
      return ReadSet(reader, &data.emplace<NumberSet>());
    case Tag::kBinarySet:
      return ReadSet(reader, &data.emplace<BinarySet>());
    case Tag::kList:
      return ReadList(level + 1, reader, &data.emplace<List>());
    case Tag::kMap:
      return ReadAttributes(level + 1, reader, &data.emplace<Map>());
  }
  reader->Fail();
}

}  // namespace

void EncodeItem(const Item& item, std::string* out) {
  out->push_back(static_cast<char>(kVersion));
  AppendAttributes(item, out);
}

Result<Item> DecodeItem(std::string_view bytes) {
  Reader reader(bytes);
  Item item = DecodeItem(&reader);
  // A failed reader is never at its end, so this also catches every error inside.
  if (!reader.AtEnd()) {
    return Error{ErrorCode::kCorrupt, "a stored item of " + std::to_string(bytes.size()) +
                                          " bytes does not decode: restore it from a backup"};
  }
  return item;
}

Item DecodeItem(Reader* reader) {
  if (reader->Byte() != kVersion) reader->Fail();
  Item item;
  ReadAttributes(1, reader, &item);
  if (!reader->ok()) return Item();
  return item;
}

}  // namespace tidemark::item
