#include "expression/key_condition.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "expression/resolve.h"
#include "expression/tree.h"

namespace tidemark::expression {

namespace {

constexpr std::string_view kKind = "KeyConditionExpression";

using item::Value;

Error InvalidOperator(std::string_view name) {
  return Invalid(fmt::format("Invalid operator used in KeyConditionExpression: {}", name));
}

Error InvalidCondition(std::string_view reason) {
  return Invalid(fmt::format("Invalid condition in KeyConditionExpression: {}", reason));
}

// A comparison can be turned around (see Mirrored), but BETWEEN and begins_with cannot.
Error KeyMustComeFirst(std::string_view name) {
  return InvalidCondition(
      fmt::format("{} operator must have the key attribute as its first operand", name));
}

// nullopt for <>: its items are not one range of the sorted rows.
std::optional<SortOperator> SortOperatorOf(Comparator comparator) {
  switch (comparator) {
    case Comparator::kEqual:
      return SortOperator::kEqual;
    case Comparator::kLess:
      return SortOperator::kLess;
    case Comparator::kLessOrEqual:
      return SortOperator::kLessOrEqual;
    case Comparator::kGreater:
      return SortOperator::kGreater;
    case Comparator::kGreaterOrEqual:
      return SortOperator::kGreaterOrEqual;
    case Comparator::kNotEqual:
      return std::nullopt;
  }
  return std::nullopt;
}

// ":v < sk" is the same as "sk > :v".
SortOperator Mirrored(SortOperator op) {
  switch (op) {
    case SortOperator::kLess:
      return SortOperator::kGreater;
    case SortOperator::kLessOrEqual:
      return SortOperator::kGreaterOrEqual;
    case SortOperator::kGreater:
      return SortOperator::kLess;
    case SortOperator::kGreaterOrEqual:
      return SortOperator::kLessOrEqual;
    default:
      return op;
  }
}

// The attribute of a condition. Exactly one operand must be a path, and the path must be one name.
Result<std::string> AttributeOf(std::initializer_list<const Operand*> operands) {
  const Path* attribute = nullptr;
  for (const Operand* operand : operands) {
    if (std::holds_alternative<SizeOf>(*operand)) {
      return Invalid("KeyConditionExpressions cannot contain nested operations");
    }
    const auto* path = std::get_if<Path>(operand);
    if (path == nullptr) continue;
    if (attribute != nullptr)
      return InvalidCondition("Multiple attribute names used in one condition");
    if (path->steps.size() > 1) {
      return Invalid("KeyConditionExpressions cannot have conditions on nested attributes");
    }
    attribute = path;
  }
  if (attribute == nullptr) return InvalidCondition("No key attribute specified");
  return attribute->attribute();
}

// For operands that AttributeOf has accepted: each is a path or a value.
bool IsPath(const Operand& operand) { return std::holds_alternative<Path>(operand); }
const Value& ValueOf(const Operand& operand) { return *std::get<const Value*>(operand); }

// Collects the conditions that AND joins, and refuses everything that cannot be a range of the
// sorted rows. These errors do not depend on the key schema.
class TermCollector {
 public:
  Status Collect(const ConditionNode& condition) {
    return std::visit([this](const auto& node) { return Collect(node); }, condition.node);
  }
  std::vector<ParsedKeyCondition::Term> terms;

 private:
  Status Collect(const And& conjunction) {
    for (const ConditionNode& condition : conjunction.conditions) TRY(Collect(condition));
    return Done{};
  }
  Status Collect(const Comparison& comparison);
  Status Collect(const Between& between);
  Status Collect(const BeginsWith& begins_with);
  Status Collect(const In&) { return InvalidOperator("IN"); }
  Status Collect(const Or&) { return InvalidOperator("OR"); }
  Status Collect(const Not&) { return InvalidOperator("NOT"); }
  Status Collect(const Exists&) { return InvalidOperator("attribute_exists"); }
  Status Collect(const NotExists&) { return InvalidOperator("attribute_not_exists"); }
  Status Collect(const HasType&) { return InvalidOperator("attribute_type"); }
  Status Collect(const Contains&) { return InvalidOperator("contains"); }

  Status Add(std::string attribute, SortCondition condition);
};

Status TermCollector::Collect(const Comparison& comparison) {
  const std::optional<SortOperator> op = SortOperatorOf(comparison.comparator);
  if (!op) return InvalidOperator("<>");
  std::string attribute = TRY(AttributeOf({&comparison.left, &comparison.right}));
  if (IsPath(comparison.left))
    return Add(std::move(attribute), {*op, ValueOf(comparison.right), {}});
  return Add(std::move(attribute), {Mirrored(*op), ValueOf(comparison.left), {}});
}

Status TermCollector::Collect(const Between& between) {
  if (!IsPath(between.operand)) return KeyMustComeFirst("BETWEEN");
  std::string attribute = TRY(AttributeOf({&between.operand, &between.low, &between.high}));
  return Add(std::move(attribute),
             {SortOperator::kBetween, ValueOf(between.low), ValueOf(between.high)});
}

Status TermCollector::Collect(const BeginsWith& begins_with) {
  if (!IsPath(begins_with.operand)) return KeyMustComeFirst("begins_with");
  std::string attribute = TRY(AttributeOf({&begins_with.operand, &begins_with.prefix}));
  return Add(std::move(attribute), {SortOperator::kBeginsWith, ValueOf(begins_with.prefix), {}});
}

Status TermCollector::Add(std::string attribute, SortCondition condition) {
  for (const ParsedKeyCondition::Term& term : terms) {
    if (term.attribute != attribute) continue;
    return Invalid("KeyConditionExpressions must only contain one condition per key");
  }
  terms.push_back({std::move(attribute), std::move(condition)});
  return Done{};
}

const SortCondition* FindTerm(const ParsedKeyCondition& parsed, const std::string& attribute) {
  for (const ParsedKeyCondition::Term& term : parsed.terms) {
    if (term.attribute == attribute) return &term.condition;
  }
  return nullptr;
}

Error MissingElement(const std::string& attribute) {
  return Invalid(fmt::format("Query condition missed key schema element: {}", attribute));
}

Status VerifyValue(const Value& value, const item::KeyAttribute& attribute) {
  if (value.type() != attribute.type) {
    return Invalid(
        "One or more parameter values were invalid: Condition parameter type does not match schema "
        "type");
  }
  const auto* text = value.As<item::String>();
  const auto* binary = value.As<item::Binary>();
  const bool empty =
      (text != nullptr && text->empty()) || (binary != nullptr && binary->bytes.empty());
  if (!empty) return Done{};
  return Invalid(fmt::format(
      "One or more parameter values are not valid. The AttributeValue for a key attribute "
      "cannot contain an empty {} value. Key: {}",
      text != nullptr ? "string" : "binary", attribute.name));
}

Status VerifyValues(const SortCondition& condition, const item::KeyAttribute& attribute) {
  TRY(VerifyValue(condition.low, attribute));
  if (condition.op == SortOperator::kBetween) TRY(VerifyValue(condition.high, attribute));
  return Done{};
}

Result<Value> MatchPartition(const ParsedKeyCondition& parsed,
                             const item::KeyAttribute& attribute) {
  const SortCondition* condition = FindTerm(parsed, attribute.name);
  if (condition == nullptr) return MissingElement(attribute.name);
  TRY(VerifyValues(*condition, attribute));
  if (condition->op != SortOperator::kEqual) return Invalid("Query key condition not supported");
  return condition->low;
}

// `left` conditions are not about the partition key.
Status MatchSort(const ParsedKeyCondition& parsed,
                 const std::vector<const item::KeyAttribute*>& sorts, size_t left,
                 KeyCondition* matched) {
  size_t found = 0;
  const item::KeyAttribute* gap = nullptr;  // The first that has no equality.
  for (const item::KeyAttribute* attribute : sorts) {
    const SortCondition* condition = FindTerm(parsed, attribute->name);
    if (condition != nullptr && gap != nullptr) {
      return Invalid(fmt::format(
          "RANGE key attributes {} must have equality conditions specified in the query because a "
          "condition is present on key attribute {}",
          gap->name, attribute->name));
    }
    const bool is_equal = condition != nullptr && condition->op == SortOperator::kEqual;
    if (!is_equal && gap == nullptr) gap = attribute;
    if (condition == nullptr) continue;
    TRY(VerifyValues(*condition, *attribute));
    if (matched->sort) matched->leading_sort.push_back(std::move(matched->sort->low));
    matched->sort = *condition;
    ++found;
  }
  // Another condition is about an attribute that is not part of the key.
  if (found < left) return MissingElement(gap == nullptr ? sorts[0]->name : gap->name);
  return Done{};
}

}  // namespace

Result<ParsedKeyCondition> ParseKeyCondition(std::string_view text, Bindings* bindings) {
  auto tree = ResolveConditionText(text, bindings);
  if (!tree) return InExpression(kKind, std::move(tree).error());
  TermCollector collector;
  TRY(collector.Collect((*tree)->root));
  return ParsedKeyCondition{std::move(collector.terms)};
}

ParsedKeyCondition WholePartition(const item::Attribute& partition) {
  return {{{partition.name, {.op = SortOperator::kEqual, .low = partition.value, .high = {}}}}};
}

Result<KeyCondition> MatchKeySchema(const ParsedKeyCondition& parsed,
                                    const item::KeySchema& schema) {
  // The order of these checks decides which of several errors the caller gets.
  const std::vector<const item::KeyAttribute*> sorts = item::SortAttributes(schema);
  const size_t attributes = 1 + schema.more_partition.size() + sorts.size();
  if (parsed.terms.size() > attributes) {
    return Invalid(fmt::format(
        "The number of query conditions ({}) exceeds the number of key attributes defined in "
        "the schema ({})",
        parsed.terms.size(), attributes));
  }
  KeyCondition matched{.partition = TRY(MatchPartition(parsed, schema.partition))};
  for (const item::KeyAttribute& more : schema.more_partition) {
    matched.more_partition.push_back(TRY(MatchPartition(parsed, more)));
  }
  const size_t left = parsed.terms.size() - 1 - schema.more_partition.size();
  if (left == 0) return matched;
  TRY(MatchSort(parsed, sorts, left, &matched));
  return matched;
}

}  // namespace tidemark::expression
