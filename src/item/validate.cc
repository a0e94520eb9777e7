#include "item/validate.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "item/limits.h"

namespace tidemark::item {

namespace {

// How many bytes at the front are plain ASCII, found eight at a time.
size_t AsciiPrefix(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080U;
  size_t length = 0;
  for (; length + sizeof(uint64_t) <= text.size(); length += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, text.data() + length, sizeof(word));
    if ((word & kHighBits) != 0) break;
  }
  while (length < text.size() && static_cast<uint8_t>(text[length]) < 0x80) ++length;
  return length;
}

// The sequences a lead byte may begin: how long they are, and which second bytes keep out
// needlessly long forms, surrogates and what lies beyond U+10FFFF.
struct Sequence {
  size_t length = 0;  // 0: no sequence begins so.
  uint8_t second_low = 0x80;
  uint8_t second_high = 0xbf;
};

Sequence SequenceOf(uint8_t lead) {
  if (lead < 0xc2 || lead > 0xf4) return {};
  if (lead < 0xe0) return {.length = 2};
  if (lead == 0xe0) return {.length = 3, .second_low = 0xa0};
  if (lead == 0xed) return {.length = 3, .second_high = 0x9f};
  if (lead < 0xf0) return {.length = 3};
  if (lead == 0xf0) return {.length = 4, .second_low = 0x90};
  if (lead == 0xf4) return {.length = 4, .second_high = 0x8f};
  return {.length = 4};
}

// The length of the sequence of several bytes at the front; 0 when there is no valid one.
size_t TakeSequence(std::string_view text) {
  const Sequence sequence = SequenceOf(static_cast<uint8_t>(text[0]));
  if (sequence.length == 0 || text.size() < sequence.length) return 0;
  const uint8_t second = static_cast<uint8_t>(text[1]);
  if (second < sequence.second_low || second > sequence.second_high) return 0;
  for (size_t i = 2; i < sequence.length; ++i) {
    if ((static_cast<uint8_t>(text[i]) & 0xc0) != 0x80) return 0;
  }
  return sequence.length;
}

bool IsUtf8(std::string_view text) {
  while (true) {
    text.remove_prefix(AsciiPrefix(text));
    if (text.empty()) return true;
    const size_t taken = TakeSequence(text);
    if (taken == 0) return false;
    text.remove_prefix(taken);
  }
}

Status ValidateText(std::string_view text) {
  if (IsUtf8(text)) return Done{};
  return Invalid(
      "One or more parameter values were invalid: a string is not valid UTF-8; "
      "use a binary for other bytes");
}

Status ValidateAttributes(const Map& map, int level);
Status ValidateAt(const Value& value, int level);

class Validator {
 public:
  explicit Validator(int level) : level_(level) {}

  Status operator()(const String& text) const { return ValidateText(text); }
  Status operator()(const Number&) const { return Done{}; }
  Status operator()(const Binary&) const { return Done{}; }
  Status operator()(bool) const { return Done{}; }
  Status operator()(const Null&) const { return Done{}; }
  Status operator()(const StringSet& set) const {
    if (set.empty()) return EmptySet(Type::kStringSet);
    for (const String& member : set.members()) TRY(ValidateText(member));
    return Done{};
  }
  Status operator()(const NumberSet& set) const {
    if (set.empty()) return EmptySet(Type::kNumberSet);
    return Done{};
  }
  Status operator()(const BinarySet& set) const {
    if (set.empty()) return EmptySet(Type::kBinarySet);
    return Done{};
  }
  Status operator()(const List& list) const {
    for (const Value& element : list) TRY(ValidateAt(element, level_ + 1));
    return Done{};
  }
  Status operator()(const Map& map) const { return ValidateAttributes(map, level_ + 1); }

 private:
  int level_;
};

Status ValidateAt(const Value& value, int level) {
  TRY(ValidateLevel(level));
  return std::visit(Validator(level), value.data());
}

Status ValidateAttributes(const Map& map, int level) {
  for (const Attribute& attribute : map) {
    TRY(ValidateName(attribute.name));
    TRY(ValidateText(attribute.name));
    TRY(ValidateAt(attribute.value, level));
  }
  return Done{};
}

}  // namespace

Status ValidateItem(const Item& item) { return ValidateAttributes(item, 1); }

Status ValidateValue(const Value& value) { return ValidateAt(value, 1); }

Status ValidateLevel(int level) {
  if (level <= kMaxNesting) return Done{};
  return Invalid(
      "Nesting Levels have exceeded supported limits: Attributes in the item have nested "
      "levels beyond supported limit");
}

Status ValidateName(std::string_view name) {
  if (name.empty()) {
    return Invalid(
        "One or more parameter values were invalid: an attribute has an empty name; "
        "give it at least one character");
  }
  if (name.size() > kMaxAttributeNameBytes) {
    return Invalid(
        "One or more parameter values were invalid: the attribute name that begins with " +
        std::string(name.substr(0, 32)) + " has " + std::to_string(name.size()) +
        " bytes; at most 65535 are allowed");
  }
  return Done{};
}

Error EmptySet(Type type) {
  std::string message = "One or more parameter values were invalid: ";
  switch (type) {
    case Type::kStringSet:
      message += "An string set  may not be empty";
      break;
    case Type::kNumberSet:
      message += "An number set  may not be empty";
      break;
    default:
      message += "Binary sets should not be empty";
  }
  return Invalid(std::move(message));
}

}  // namespace tidemark::item
