#include "item/order.h"

#include "base/check.h"

namespace tidemark::item {

namespace {

// A zero byte needs a mark, because the text of a key may contain zeros and is followed by other
// parts of the key. The end mark is the smaller one, so that "a" sorts before "a\0".
constexpr char kZero = '\0';
constexpr char kEscapedZero = '\xff';  // After a zero: the zero is part of the text.
constexpr char kEnd = '\0';            // After a zero: the text ends.

void AppendEscaped(std::string_view bytes, std::string* out) {
  for (size_t zero; (zero = bytes.find(kZero)) != bytes.npos; bytes.remove_prefix(zero + 1)) {
    out->append(bytes.substr(0, zero + 1)).push_back(kEscapedZero);
  }
  out->append(bytes);
}

void AppendEnd(std::string* out) {
  out->push_back(kZero);
  out->push_back(kEnd);
}

std::string ReadEscaped(Reader* reader) {
  std::string bytes;
  while (true) {
    const size_t zero = reader->rest().find(kZero);
    if (zero == std::string_view::npos) break;
    bytes.append(reader->Take(zero));
    const std::string_view mark = reader->Take(2);
    if (mark.size() != 2) break;
    if (mark[1] == kEnd) return bytes;
    if (mark[1] != kEscapedZero) break;
    bytes.push_back(kZero);
  }
  reader->Fail();
  return {};
}

// The bytes of a string or binary; nullptr for other types.
const std::string* BytesOf(const Value& value) {
  if (const String* text = value.As<String>()) return text;
  if (const Binary* binary = value.As<Binary>()) return &binary->bytes;
  return nullptr;
}

}  // namespace

std::partial_ordering Compare(const Value& left, const Value& right) {
  if (left.type() != right.type()) return std::partial_ordering::unordered;
  if (const Number* number = left.As<Number>()) return *number <=> *right.As<Number>();
  // std::string compares as unsigned bytes.
  if (const std::string* bytes = BytesOf(left)) return *bytes <=> *BytesOf(right);
  return std::partial_ordering::unordered;
}

void EncodeOrdered(const Value& value, std::string* out) {
  if (const Number* number = value.As<Number>()) {
    number->EncodeOrdered(out);
    return;
  }
  EncodeOrderedPrefix(value, out);
  AppendEnd(out);
}

Value DecodeOrdered(Type type, Reader* reader) {
  switch (type) {
    case Type::kNumber:
      return Number::DecodeOrdered(reader);
    case Type::kString:
      return ReadEscaped(reader);
    case Type::kBinary:
      return Binary{ReadEscaped(reader)};
    default:
      reader->Fail();
      return Value();
  }
}

void EncodeOrderedPrefix(const Value& prefix, std::string* out) {
  const std::string* bytes = BytesOf(prefix);
  CHECK(bytes != nullptr);
  AppendEscaped(*bytes, out);
}

}  // namespace tidemark::item
