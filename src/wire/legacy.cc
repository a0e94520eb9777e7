#include "wire/legacy.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "item/order.h"
#include "item/value.h"
#include "wire/names.h"

namespace tidemark::wire {

enum class Comparison {
  kEq,
  kNe,
  kLe,
  kLt,
  kGe,
  kGt,
  kNotNull,
  kNull,
  kContains,
  kNotContains,
  kBeginsWith,
  kIn,
  kBetween
};
template <>
struct NamesOf<Comparison> {
  static constexpr EnumName<Comparison> kRows[] = {
      {Comparison::kIn, "IN"},
      {Comparison::kNull, "NULL"},
      {Comparison::kBetween, "BETWEEN"},
      {Comparison::kLt, "LT"},
      {Comparison::kNotContains, "NOT_CONTAINS"},
      {Comparison::kEq, "EQ"},
      {Comparison::kGt, "GT"},
      {Comparison::kNotNull, "NOT_NULL"},
      {Comparison::kNe, "NE"},
      {Comparison::kLe, "LE"},
      {Comparison::kBeginsWith, "BEGINS_WITH"},
      {Comparison::kGe, "GE"},
      {Comparison::kContains, "CONTAINS"},
  };
};

enum class Joining { kAnd, kOr };
template <>
struct NamesOf<Joining> {
  static constexpr EnumName<Joining> kRows[] = {{Joining::kOr, "OR"}, {Joining::kAnd, "AND"}};
};

enum class UpdateAction { kPut, kDelete, kAdd };
template <>
struct NamesOf<UpdateAction> {
  static constexpr EnumName<UpdateAction> kRows[] = {
      {UpdateAction::kAdd, "ADD"},
      {UpdateAction::kPut, "PUT"},
      {UpdateAction::kDelete, "DELETE"},
  };
};

// One condition of Expected, of a filter or of KeyConditions. Only Expected has value and exists.
struct LegacyCondition {
  std::optional<Comparison> comparison;
  std::optional<std::vector<item::Value>> operands;
  std::optional<item::Value> value;
  std::optional<bool> exists;
};
template <>
inline constexpr std::string_view kJavaName<LegacyCondition> = "Condition";
template <typename F>
void Describe(F& fields, Ref<F, LegacyCondition> condition) {
  fields.Optional("ComparisonOperator", condition.comparison);
  fields.Optional("AttributeValueList", condition.operands);
  fields.Optional("Value", condition.value);
  fields.Optional("Exists", condition.exists);
}

// A condition of Expected.
struct Expectation : LegacyCondition {};
template <>
inline constexpr std::string_view kJavaName<Expectation> = "ExpectedAttributeValue";
template <typename F>
void Describe(F& fields, Ref<F, Expectation> expectation) {
  Describe(fields, static_cast<Ref<F, LegacyCondition>>(expectation));
}

struct AttributeUpdate {
  UpdateAction action = UpdateAction::kPut;
  std::optional<item::Value> value;
};
template <>
inline constexpr std::string_view kJavaName<AttributeUpdate> = "AttributeValueUpdate";
template <typename F>
void Describe(F& fields, Ref<F, AttributeUpdate> update) {
  fields.Default("Action", update.action, UpdateAction::kPut);
  fields.Optional("Value", update.value);
}

namespace {

template <typename E>
std::string_view NameOf(E value) {
  for (const EnumName<E>& row : NamesOf<E>::kRows) {
    if (row.value == value) return row.name;
  }
  return "";
}

Error InvalidParameter(std::string_view what) {
  return Invalid(fmt::format("One or more parameter values were invalid: {}", what));
}

struct Arguments {
  size_t least;
  size_t most;
};
Arguments ArgumentsOf(Comparison comparison) {
  switch (comparison) {
    case Comparison::kNull:
    case Comparison::kNotNull:
      return {0, 0};
    case Comparison::kBetween:
      return {2, 2};
    case Comparison::kIn:
      return {1, std::numeric_limits<size_t>::max()};
    default:
      return {1, 1};
  }
}

bool Takes(Comparison comparison, item::Type type) {
  const bool is_scalar =
      type == item::Type::kString || type == item::Type::kNumber || type == item::Type::kBinary;
  switch (comparison) {
    case Comparison::kEq:
    case Comparison::kNe:
      return true;
    case Comparison::kBeginsWith:
      return type == item::Type::kString || type == item::Type::kBinary;
    default:
      return is_scalar;
  }
}

Status CheckOperands(Comparison comparison, const std::vector<item::Value>& operands) {
  const auto [least, most] = ArgumentsOf(comparison);
  if (operands.size() < least || operands.size() > most) {
    return InvalidParameter(
        fmt::format("Invalid number of argument(s) for the {} "
                    "ComparisonOperator",
                    NameOf(comparison)));
  }
  for (const item::Value& operand : operands) {
    if (operand.type() == operands.front().type()) continue;
    return InvalidParameter("AttributeValues inside AttributeValueList must be of same type");
  }
  for (const item::Value& operand : operands) {
    if (Takes(comparison, operand.type())) continue;
    return InvalidParameter(
        fmt::format("ComparisonOperator {} is not valid for {} AttributeValue "
                    "type",
                    NameOf(comparison), item::ToString(operand.type())));
  }
  if (comparison == Comparison::kBetween && item::Compare(operands[0], operands[1]) > 0) {
    return Invalid(
        "The BETWEEN condition was provided a range where the lower bound is greater than the "
        "upper bound");
  }
  return Done{};
}

// Expected may say what a comparison says in two older ways: with Exists, and with Value.
Status Modernise(const std::string& attribute, LegacyCondition* condition) {
  const auto refuse = [&](std::string_view what) {
    return InvalidParameter(fmt::format("{} for Attribute: {}", what, attribute));
  };
  if (condition->value && condition->operands) {
    return refuse("Value and AttributeValueList cannot be used together");
  }
  if (condition->exists && condition->comparison) {
    return refuse("Exists and ComparisonOperator cannot be used together");
  }
  if (condition->operands && !condition->comparison) {
    return refuse("AttributeValueList can only be used with a ComparisonOperator");
  }
  if (condition->exists == false) {
    if (condition->value) return refuse("Value cannot be used when Exists is false");
    condition->comparison = Comparison::kNull;
  } else if (!condition->comparison) {
    if (!condition->value) {
      return refuse(fmt::format("Value must be provided when Exists is {}",
                                condition->exists ? "true" : "null"));
    }
    condition->comparison = Comparison::kEq;
  }
  if (condition->value) {
    condition->operands.emplace({*std::exchange(condition->value, std::nullopt)});
  }
  const bool needs_operand = ArgumentsOf(*condition->comparison).least > 0;
  if (needs_operand && !condition->operands) {
    return refuse(
        fmt::format("Value or AttributeValueList must be used with ComparisonOperator: {}",
                    NameOf(*condition->comparison)));
  }
  return Done{};
}

}  // namespace

bool Legacy::Note(std::string_view member, std::string_view expression, bool has_expression) {
  if (has_expression) expressions_.emplace_back(expression);
  if (!fields_.Find(member)) return false;
  legacy_.emplace_back(member);
  return !has_expression;
}

std::string Legacy::Name(const std::string& attribute) {
  for (size_t i = names_.size();; ++i) {
    std::string name = fmt::format("#{}", i);
    if (names_.emplace(name, attribute).second) return name;
  }
}

std::string Legacy::Value(item::Value value) {
  for (size_t i = values_->size();; ++i) {
    std::string name = fmt::format(":{}", i);
    if (values_->try_emplace(name, std::move(value)).second) return name;
  }
}

void Legacy::Projection(std::optional<std::string>* projection) {
  if (!Note("AttributesToGet", "ProjectionExpression", projection->has_value())) return;
  std::vector<std::string> attributes;
  fields_.Always("AttributesToGet", attributes);
  fields_.CheckCount("AttributesToGet", attributes, 1, kMaxElements);
  std::vector<std::string> names;
  for (const std::string& attribute : attributes) {
    if (std::ranges::count(attributes, attribute) > 1) {
      return fields_.Fail(
          InvalidParameter(fmt::format("Duplicate value in attribute name: {}", attribute)));
    }
    names.push_back(Name(attribute));
  }
  *projection = fmt::format("{}", fmt::join(names, ","));
}

void Legacy::Update(std::optional<std::string>* update) {
  if (!Note("AttributeUpdates", "UpdateExpression", update->has_value())) return;
  std::map<std::string, AttributeUpdate, std::less<>> updates;
  fields_.Always("AttributeUpdates", updates);
  std::map<std::string_view, std::vector<std::string>> clauses;
  for (auto& [attribute, change] : updates) {
    if (!change.value) {
      if (change.action == UpdateAction::kDelete) {
        clauses["REMOVE"].push_back(Name(attribute));
        continue;
      }
      return fields_.Fail(InvalidParameter(
          fmt::format("Only DELETE action is allowed when no attribute value is specified")));
    }
    const item::Type type = change.value->type();
    const bool is_set = type == item::Type::kStringSet || type == item::Type::kNumberSet ||
                        type == item::Type::kBinarySet;
    const bool is_addable = is_set || type == item::Type::kNumber || type == item::Type::kList;
    const bool fits = change.action == UpdateAction::kPut ||
                      (change.action == UpdateAction::kAdd ? is_addable : is_set);
    if (!fits) {
      return fields_.Fail(InvalidParameter(fmt::format(
          "{} is not supported for the type {}",
          change.action == UpdateAction::kAdd ? "ADD action" : "DELETE action with value",
          item::ToString(type))));
    }
    const std::string name = Name(attribute);
    const std::string value = Value(*std::move(change.value));
    if (change.action == UpdateAction::kPut) {
      clauses["SET"].push_back(fmt::format("{}={}", name, value));
    } else if (type == item::Type::kList) {
      clauses["SET"].push_back(fmt::format("{0}=list_append(if_not_exists({0},{1}),{2})", name,
                                           Value(item::List()), value));
    } else {
      clauses[NameOf(change.action)].push_back(fmt::format("{} {}", name, value));
    }
  }
  std::string text;
  for (const auto& [clause, parts] : clauses) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", clause, fmt::join(parts, ","));
  }
  if (!text.empty()) *update = std::move(text);
}

std::string Legacy::ConditionText(const std::string& attribute, const LegacyCondition& condition) {
  const Comparison comparison = *condition.comparison;
  const std::string name = Name(attribute);
  std::vector<std::string> values;
  for (const item::Value& operand : condition.operands.value_or(std::vector<item::Value>())) {
    values.push_back(Value(operand));
  }
  const auto compare = [&](std::string_view sign) {
    return fmt::format("{} {} {}", name, sign, values[0]);
  };
  switch (comparison) {
    case Comparison::kEq:
      return compare("=");
    case Comparison::kNe:
      return compare("<>");
    case Comparison::kLe:
      return compare("<=");
    case Comparison::kLt:
      return compare("<");
    case Comparison::kGe:
      return compare(">=");
    case Comparison::kGt:
      return compare(">");
    case Comparison::kNotNull:
      return fmt::format("attribute_exists({})", name);
    case Comparison::kNull:
      return fmt::format("attribute_not_exists({})", name);
    case Comparison::kContains:
      return fmt::format("contains({},{})", name, values[0]);
    case Comparison::kNotContains:
      return fmt::format("NOT contains({},{})", name, values[0]);
    case Comparison::kBeginsWith:
      return fmt::format("begins_with({},{})", name, values[0]);
    case Comparison::kIn:
      return fmt::format("{} IN ({})", name, fmt::join(values, ","));
    case Comparison::kBetween:
      return fmt::format("{} BETWEEN {} AND {}", name, values[0], values[1]);
  }
  return "";
}

void Legacy::NoComparison(std::string_view member, std::string_view attribute) {
  fields_.place().Member(member).Key(attribute).Member("ComparisonOperator").Missing();
}

void Legacy::Translate(std::string_view member, const Conditions& conditions,
                       std::optional<std::string>* expression) {
  operands_ = conditions.size();
  std::vector<std::string> texts;
  for (const auto& [attribute, condition] : conditions) {
    if (!condition.comparison) return NoComparison(member, attribute);
    static const std::vector<item::Value> kNone;
    const Status checked =
        CheckOperands(*condition.comparison, condition.operands ? *condition.operands : kNone);
    if (!checked) return fields_.Fail(checked.error());
    texts.push_back(ConditionText(attribute, condition));
  }
  const std::string_view word = joins_by_or_ ? " OR " : " AND ";
  if (!texts.empty()) *expression = fmt::format("{}", fmt::join(texts, word));
}

void Legacy::ReadJoining() {
  std::optional<Joining> joining;
  fields_.Optional("ConditionalOperator", joining);
  joins_by_or_ = joining == Joining::kOr;
}

void Legacy::Condition(std::optional<std::string>* condition) {
  ReadJoining();
  const bool is_translated = Note("Expected", "ConditionExpression", condition->has_value());
  std::map<std::string, Expectation, std::less<>> expected;
  fields_.Always("Expected", expected);
  if (!is_translated) return;
  Conditions conditions(expected.begin(), expected.end());
  for (auto& [attribute, one] : conditions) {
    const Status modernised = Modernise(attribute, &one);
    if (!modernised) return fields_.Fail(modernised.error());
  }
  Translate("Expected", conditions, condition);
}

void Legacy::Filter(std::string_view member, std::optional<std::string>* filter) {
  ReadJoining();
  const bool is_translated = Note(member, "FilterExpression", filter->has_value());
  Conditions conditions;
  fields_.Always(member, conditions);
  if (!is_translated) return;
  Translate(member, conditions, filter);
}

void Legacy::KeyCondition(std::string* key_condition) {
  const bool has_conditions = fields_.Find("KeyConditions").has_value();
  const bool has_expression = fields_.Find("KeyConditionExpression").has_value();
  if (!has_conditions && !has_expression) {
    return fields_.Fail(
        Invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in "
                "the request."));
  }
  if (!Note("KeyConditions", "KeyConditionExpression", has_expression)) return;
  // As in DynamoDB: these may stand beside the other expressions.
  legacy_.pop_back();
  Conditions conditions;
  fields_.Always("KeyConditions", conditions);
  std::vector<std::string> texts;
  for (const auto& [attribute, condition] : conditions) {
    if (!condition.comparison) return NoComparison("KeyConditions", attribute);
    const Comparison comparison = *condition.comparison;
    const bool is_for_keys =
        comparison != Comparison::kNe && comparison != Comparison::kIn &&
        comparison != Comparison::kNull && comparison != Comparison::kNotNull &&
        comparison != Comparison::kContains && comparison != Comparison::kNotContains;
    if (!is_for_keys) {
      return fields_.Fail(
          Invalid("Attempted conditional constraint is not an indexable operation"));
    }
    static const std::vector<item::Value> kNone;
    const Status checked =
        CheckOperands(comparison, condition.operands ? *condition.operands : kNone);
    if (!checked) return fields_.Fail(checked.error());
    texts.push_back(ConditionText(attribute, condition));
  }
  if (texts.empty() || texts.size() > 2) {
    return fields_.Fail(Invalid("Conditions can be of length 1 or 2 only"));
  }
  *key_condition = fmt::format("{}", fmt::join(texts, " AND "));
}

void Legacy::Finish() {
  const bool joins = fields_.Find("ConditionalOperator").has_value();
  if (joins) legacy_.emplace_back("ConditionalOperator");
  if (!legacy_.empty() && !expressions_.empty()) {
    return fields_.FailOfParameters(Invalid(fmt::format(
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {{{}}} Expression parameters: {{{}}}",
        fmt::join(legacy_, ", "), fmt::join(expressions_, ", "))));
  }
  if (joins && !operands_) {
    return fields_.Fail(Invalid("ConditionalOperator cannot be used without Filter or Expected"));
  }
  if (joins && *operands_ < 2) {
    return fields_.Fail(
        Invalid("ConditionalOperator can only be used when Filter or Expected has two or more "
                "elements"));
  }
}

}  // namespace tidemark::wire
