#include "expression/condition.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "expression/resolve.h"
#include "expression/tree.h"
#include "item/order.h"

namespace tidemark::expression {

namespace {

using item::Value;

// The length in UTF-16 units, which DynamoDB counts. A character has one unit, or two if it has
// four bytes in UTF-8. So this counts the first byte of each character (continuation bytes are
// 10xxxxxx), and once more the first bytes of four (11110xxx).
int64_t Utf16Length(std::string_view text) {
  int64_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xC0) != 0x80;
    units += byte >= 0xF0;
  }
  return units;
}

// What size() returns. nullopt: values of this type have no size, and the operand counts as absent.
struct Measure {
  std::optional<int64_t> operator()(const item::String& text) const { return Utf16Length(text); }
  std::optional<int64_t> operator()(const item::Binary& binary) const {
    return std::ssize(binary.bytes);
  }
  std::optional<int64_t> operator()(const item::Number&) const { return std::nullopt; }
  std::optional<int64_t> operator()(bool) const { return std::nullopt; }
  std::optional<int64_t> operator()(item::Null) const { return std::nullopt; }
  template <typename Members>  // Sets, lists and maps.
  std::optional<int64_t> operator()(const Members& members) const {
    return static_cast<int64_t>(members.size());
  }
};

// memmem takes linear time for all texts. std::string_view::find takes quadratic time for a text
// that almost repeats itself, and a caller could send such a text.
bool HasPart(std::string_view whole, std::string_view part) {
  return memmem(whole.data(), whole.size(), part.data(), part.size()) != nullptr;
}

template <typename Member>
bool HasMember(const item::SetOf<Member>& set, const Value& part) {
  const auto* member = part.As<Member>();
  return member != nullptr && set.Contains(*member);
}

// What contains() tests: a part of a string or binary, a member of a set, or an element of a list.
// A part of a type that cannot be inside is not found; this is not an error.
struct HasPartIn {
  const Value& part;

  bool operator()(const item::String& text) const {
    const auto* wanted = part.As<item::String>();
    return wanted != nullptr && HasPart(text, *wanted);
  }
  bool operator()(const item::Binary& binary) const {
    const auto* wanted = part.As<item::Binary>();
    return wanted != nullptr && HasPart(binary.bytes, wanted->bytes);
  }
  template <typename Member>
  bool operator()(const item::SetOf<Member>& set) const {
    return HasMember(set, part);
  }
  bool operator()(const item::List& list) const {
    return std::find(list.begin(), list.end(), part) != list.end();
  }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

bool HasPrefix(const Value& value, const Value& prefix) {
  const auto* text = value.As<item::String>();
  const auto* text_prefix = prefix.As<item::String>();
  if (text != nullptr && text_prefix != nullptr) return text->starts_with(*text_prefix);
  const auto* binary = value.As<item::Binary>();
  const auto* binary_prefix = prefix.As<item::Binary>();
  return binary != nullptr && binary_prefix != nullptr &&
         binary->bytes.starts_with(binary_prefix->bytes);
}

// Values of different types are not equal, and have no order. A comparison with
// std::partial_ordering::unordered is false, so <, <=, > and >= are false for them.
bool Compares(const Value& left, Comparator comparator, const Value& right) {
  switch (comparator) {
    case Comparator::kEqual:
      return left == right;
    case Comparator::kNotEqual:
      return left != right;
    case Comparator::kLess:
      return item::Compare(left, right) < 0;
    case Comparator::kLessOrEqual:
      return item::Compare(left, right) <= 0;
    case Comparator::kGreater:
      return item::Compare(left, right) > 0;
    case Comparator::kGreaterOrEqual:
      return item::Compare(left, right) >= 0;
  }
  return false;
}

// The value of an operand for one item, or none. Values are not copied; only a size is a new value.
class Evaluated {
 public:
  Evaluated(const Operand& operand, const item::Item& item) {
    if (const auto* path = std::get_if<Path>(&operand)) {
      value_ = Find(item, *path);
    } else if (const auto* value = std::get_if<const Value*>(&operand)) {
      value_ = *value;
    } else {
      EvaluateSize(std::get<SizeOf>(operand), item);
    }
  }
  Evaluated(const Evaluated&) = delete;
  Evaluated& operator=(const Evaluated&) = delete;

  explicit operator bool() const { return value_ != nullptr; }
  const Value& operator*() const { return *value_; }

 private:
  void EvaluateSize(const SizeOf& size, const item::Item& item) {
    const auto* path = std::get_if<Path>(&size.measured);
    const Value* measured =
        path == nullptr ? std::get<const Value*>(size.measured) : Find(item, *path);
    if (measured == nullptr) return;
    const std::optional<int64_t> length = std::visit(Measure{}, measured->data());
    if (!length) return;
    size_ = item::Number::FromInt(*length);
    value_ = &size_;
  }

  const Value* value_ = nullptr;
  Value size_;
};

class Evaluation {
 public:
  explicit Evaluation(const item::Item& item) : item_(item) {}

  bool Holds(const ConditionNode& condition) const {
    return std::visit([this](const auto& node) { return Holds(node); }, condition.node);
  }

 private:
  bool Holds(const Comparison& comparison) const {
    const Evaluated left(comparison.left, item_);
    const Evaluated right(comparison.right, item_);
    // As in DynamoDB, an absent value is different from every value.
    if (!left || !right) return comparison.comparator == Comparator::kNotEqual;
    return Compares(*left, comparison.comparator, *right);
  }
  bool Holds(const Between& between) const {
    const Evaluated value(between.operand, item_);
    const Evaluated low(between.low, item_);
    const Evaluated high(between.high, item_);
    return value && low && high && Compares(*low, Comparator::kLessOrEqual, *value) &&
           Compares(*value, Comparator::kLessOrEqual, *high);
  }
  bool Holds(const In& in) const {
    const Evaluated value(in.operand, item_);
    return value && std::any_of(in.choices.begin(), in.choices.end(), [&](const Operand& operand) {
             const Evaluated choice(operand, item_);
             return choice && *value == *choice;
           });
  }
  bool Holds(const Exists& exists) const { return Find(item_, exists.path) != nullptr; }
  bool Holds(const NotExists& not_exists) const { return Find(item_, not_exists.path) == nullptr; }
  bool Holds(const HasType& has_type) const {
    const Value* value = Find(item_, has_type.path);
    return value != nullptr && value->type() == has_type.type;
  }
  bool Holds(const BeginsWith& begins_with) const {
    const Evaluated value(begins_with.operand, item_);
    const Evaluated prefix(begins_with.prefix, item_);
    return value && prefix && HasPrefix(*value, *prefix);
  }
  bool Holds(const Contains& contains) const {
    const Evaluated value(contains.operand, item_);
    const Evaluated part(contains.part, item_);
    return value && part && std::visit(HasPartIn{*part}, (*value).data());
  }
  bool Holds(const Not& negation) const { return !Holds(*negation.condition); }
  bool Holds(const And& conjunction) const {
    return std::all_of(conjunction.conditions.begin(), conjunction.conditions.end(),
                       [this](const ConditionNode& condition) { return Holds(condition); });
  }
  bool Holds(const Or& disjunction) const {
    return std::any_of(disjunction.conditions.begin(), disjunction.conditions.end(),
                       [this](const ConditionNode& condition) { return Holds(condition); });
  }

  const item::Item& item_;
};

}  // namespace

Condition::Condition(std::shared_ptr<const ConditionTree> tree) : tree_(std::move(tree)) {}

bool Condition::Holds(const item::Item& item) const { return Evaluation(item).Holds(tree_->root); }

std::set<std::string> Condition::Attributes() const {
  return {tree_->attributes.begin(), tree_->attributes.end()};
}

Result<Condition> ParseCondition(std::string_view text, std::string_view kind, Bindings* bindings) {
  auto tree = ResolveConditionText(text, bindings);
  if (!tree) return InExpression(kind, std::move(tree).error());
  return Condition(std::move(tree).value());
}

}  // namespace tidemark::expression
