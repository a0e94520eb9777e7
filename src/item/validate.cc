#include "item/validate.h"

#include <string>

#include "base/utf8.h"
#include "item/limits.h"

namespace tidemark::item {

namespace {

// A string that is not UTF-8 could be stored, but JSON could not represent it in a reply.
Status ValidateText(std::string_view text) {
  if (IsUtf8(text)) return Done{};
  return Invalid(
      "One or more parameter values were invalid: a string is not valid UTF-8; "
      "use a binary for other bytes");
}

// These call each other for each level. The recursion ends at kMaxNesting, because ValidateAt
// checks the level before it looks at the contents.
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
  // The wording, with its two spaces, is DynamoDB's.
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
