#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "expression/limits.h"
#include "expression/parse.h"
#include "expression/resolve.h"
#include "item/order.h"

namespace tidemark::expression {

namespace {

using item::Type;

// The first pass checks only the form. It checks the whole expression before any reference is
// looked up, because DynamoDB reports errors of form before all others.
class FormCheck {
 public:
  Status Verify(const syntax::Condition& condition) {
    return std::visit([this](const auto& node) { return Verify(node); }, condition.node);
  }

 private:
  Status Verify(const syntax::Operand& operand) {
    if (const auto* path = std::get_if<syntax::Path>(&operand.node)) return VerifyForm(*path);
    if (const auto* call = std::get_if<syntax::Call>(&operand.node))
      return Verify(*call, Role::kOperand);
    return Done{};
  }
  Status Verify(const std::vector<syntax::Operand>& operands) {
    for (const syntax::Operand& operand : operands) TRY(Verify(operand));
    return Done{};
  }
  Status Verify(const syntax::Call& call) { return Verify(call, Role::kCondition); }
  Status Verify(const syntax::Comparison& comparison) {
    TRY(Verify(comparison.left));
    return Verify(comparison.right);
  }
  Status Verify(const syntax::Between& between) {
    TRY(Verify(between.operand));
    TRY(Verify(between.low));
    return Verify(between.high);
  }
  Status Verify(const syntax::In& in) {
    TRY(Verify(in.operand));
    return Verify(in.choices);
  }
  Status Verify(const syntax::Not& negation) { return Verify(*negation.condition); }
  Status Verify(const syntax::And& conjunction) { return Verify(conjunction.conditions); }
  Status Verify(const syntax::Or& disjunction) { return Verify(disjunction.conditions); }
  Status Verify(const std::vector<syntax::Condition>& conditions) {
    for (const syntax::Condition& condition : conditions) TRY(Verify(condition));
    return Done{};
  }
  Status Verify(const syntax::Call& call, Role place);
};

Status FormCheck::Verify(const syntax::Call& call, Role place) {
  const Function function = TRY(FindFunction(call.function));
  if (function.role == Role::kSource) {
    return Invalid(fmt::format(
        "The function is not allowed in a condition expression; function: {}", call.function));
  }
  if (function.role != place) {
    return Invalid(fmt::format(
        "The function is not allowed to be used this way in an expression; function: {}",
        call.function));
  }
  if (call.arguments.size() != function.operands) return WrongOperandCount(call);
  return Verify(call.arguments);
}

bool HasOrder(Type type) {
  return type == Type::kString || type == Type::kNumber || type == Type::kBinary;
}
bool HasPrefix(Type type) { return type == Type::kString || type == Type::kBinary; }
bool HasSize(Type type) {
  return type != Type::kNumber && type != Type::kBool && type != Type::kNull;
}

// The type of an operand that is the same for every item. nullopt for a path.
std::optional<Type> StaticType(const Operand& operand) {
  if (const auto* value = std::get_if<const item::Value*>(&operand)) return (*value)->type();
  if (std::holds_alternative<SizeOf>(operand)) return Type::kNumber;
  return std::nullopt;
}

Status VerifyType(std::string_view function, const Operand& operand, bool (*accepts)(Type)) {
  const std::optional<Type> type = StaticType(operand);
  if (!type || accepts(*type)) return Done{};
  return WrongOperandType(function, item::ToString(*type));
}

Status VerifyDistinct(std::string_view name, const Operand& first, const Operand& other) {
  const auto* path = std::get_if<Path>(&first);
  const auto* other_path = std::get_if<Path>(&other);
  if (path == nullptr || other_path == nullptr || *path != *other_path) return Done{};
  return Invalid(fmt::format(
      "The first operand must be distinct from the remaining operands for this operator or "
      "function; operator: {}, first operand: {}",
      name, ToString(*path)));
}

// The bound as DynamoDB's message shows it. For a binary, DynamoDB prints a Java object.
std::string BoundText(const item::Value& bound) {
  if (const auto* text = bound.As<item::String>())
    return fmt::format("AttributeValue: {{S:{}}}", *text);
  if (const auto* number = bound.As<item::Number>())
    return fmt::format("AttributeValue: {{N:{}}}", number->ToString());
  const size_t size = bound.As<item::Binary>()->bytes.size();
  return fmt::format("AttributeValue: {{B:java.nio.HeapByteBuffer[pos=0 lim={0} cap={0}]}}", size);
}

Error WrongBounds(std::string_view wanted, const item::Value& low, const item::Value& high) {
  return Invalid(fmt::format(
      "The BETWEEN operator requires {}; lower bound operand: {}, upper bound operand: {}", wanted,
      BoundText(low), BoundText(high)));
}

// If both bounds are values of the request, they can be compared before there is an item.
Status VerifyBounds(const Between& between) {
  const auto* low = std::get_if<const item::Value*>(&between.low);
  const auto* high = std::get_if<const item::Value*>(&between.high);
  if (low == nullptr || high == nullptr) return Done{};
  if ((*low)->type() != (*high)->type()) {
    return WrongBounds("same data type for lower and upper bounds", **low, **high);
  }
  if (item::Compare(**low, **high) > 0) {
    return WrongBounds("upper bound to be greater than or equal to lower bound", **low, **high);
  }
  return Done{};
}

Comparator ComparatorOf(std::string_view text) {
  if (text == "=") return Comparator::kEqual;
  if (text == "<>") return Comparator::kNotEqual;
  if (text == "<") return Comparator::kLess;
  if (text == "<=") return Comparator::kLessOrEqual;
  if (text == ">") return Comparator::kGreater;
  return Comparator::kGreaterOrEqual;
}

// The second pass looks up references and checks operands, in the order of the text. The order
// decides which of several errors the caller gets.
class ConditionResolver {
 public:
  ConditionResolver(Bindings* bindings, ConditionTree* tree)
      : references_(bindings, &tree->values), tree_(tree) {}

  Result<ConditionNode> Resolve(const syntax::Condition& condition) {
    return std::visit([this](const auto& node) { return Resolve(node); }, condition.node);
  }

 private:
  Result<Operand> Resolve(const syntax::Operand& operand);
  Result<std::vector<ConditionNode>> Resolve(const std::vector<syntax::Condition>& conditions);
  Result<ConditionNode> Resolve(const syntax::Comparison& comparison);
  Result<ConditionNode> Resolve(const syntax::Between& between);
  Result<ConditionNode> Resolve(const syntax::In& in);
  Result<ConditionNode> Resolve(const syntax::Call& call);
  Result<ConditionNode> Resolve(const syntax::Not& negation);
  Result<ConditionNode> Resolve(const syntax::And& conjunction);
  Result<ConditionNode> Resolve(const syntax::Or& disjunction);
  Result<Operand> ResolveSize(const syntax::Operand& measured);
  Result<ConditionNode> ResolveType(Path path, const Operand& type);

  References references_;
  ConditionTree* tree_;
};

Result<Operand> ConditionResolver::Resolve(const syntax::Operand& operand) {
  if (const auto* path = std::get_if<syntax::Path>(&operand.node)) {
    Path resolved = TRY(references_.Resolve(*path));
    tree_->attributes.push_back(resolved.attribute());
    return Operand(std::move(resolved));
  }
  if (const auto* reference = std::get_if<syntax::ValueReference>(&operand.node)) {
    return Operand(TRY(references_.Resolve(*reference)));
  }
  // The first pass has refused every function but size as an operand.
  return ResolveSize(std::get<syntax::Call>(operand.node).arguments.front());
}

Result<Operand> ConditionResolver::ResolveSize(const syntax::Operand& measured) {
  Operand operand = TRY(Resolve(measured));
  TRY(VerifyType("size", operand, HasSize));
  if (const auto* value = std::get_if<const item::Value*>(&operand)) return Operand(SizeOf{*value});
  return Operand(SizeOf{std::get<Path>(std::move(operand))});
}

Result<ConditionNode> ConditionResolver::Resolve(const syntax::Comparison& comparison) {
  Operand left = TRY(Resolve(comparison.left));
  Operand right = TRY(Resolve(comparison.right));
  TRY(VerifyDistinct(comparison.comparator, left, right));
  const Comparator comparator = ComparatorOf(comparison.comparator);
  // Values of every type can be equal. Only strings, numbers and binaries have an order.
  if (comparator != Comparator::kEqual && comparator != Comparator::kNotEqual) {
    TRY(VerifyType(comparison.comparator, left, HasOrder));
    TRY(VerifyType(comparison.comparator, right, HasOrder));
  }
  return ConditionNode{Comparison{comparator, std::move(left), std::move(right)}};
}

Result<ConditionNode> ConditionResolver::Resolve(const syntax::Between& between) {
  Between resolved;
  resolved.operand = TRY(Resolve(between.operand));
  resolved.low = TRY(Resolve(between.low));
  resolved.high = TRY(Resolve(between.high));
  for (const Operand* bound : {&resolved.low, &resolved.high}) {
    TRY(VerifyDistinct("BETWEEN", resolved.operand, *bound));
  }
  for (const Operand* operand : {&resolved.operand, &resolved.low, &resolved.high}) {
    TRY(VerifyType("BETWEEN", *operand, HasOrder));
  }
  TRY(VerifyBounds(resolved));
  return ConditionNode{std::move(resolved)};
}

Result<ConditionNode> ConditionResolver::Resolve(const syntax::In& in) {
  In resolved;
  resolved.operand = TRY(Resolve(in.operand));
  resolved.choices.reserve(in.choices.size());
  for (const syntax::Operand& choice : in.choices) resolved.choices.push_back(TRY(Resolve(choice)));
  if (resolved.choices.size() > kMaxInChoices) {
    return Invalid(
        fmt::format("The IN operator is provided with too many operands; number of operands: {}",
                    resolved.choices.size()));
  }
  for (const Operand& choice : resolved.choices)
    TRY(VerifyDistinct("IN", resolved.operand, choice));
  return ConditionNode{std::move(resolved)};
}

Result<ConditionNode> ConditionResolver::Resolve(const syntax::Call& call) {
  Operand first = TRY(Resolve(call.arguments[0]));
  const std::string_view name = call.function;
  if (name == "begins_with" || name == "contains") {
    Operand second = TRY(Resolve(call.arguments[1]));
    TRY(VerifyDistinct(name, first, second));
    if (name == "contains") return ConditionNode{Contains{std::move(first), std::move(second)}};
    TRY(VerifyType(name, first, HasPrefix));
    TRY(VerifyType(name, second, HasPrefix));
    return ConditionNode{BeginsWith{std::move(first), std::move(second)}};
  }
  // All operands are looked up before any is checked: DynamoDB reports an undefined reference
  // before an operand of the wrong kind.
  std::optional<Operand> type;
  if (name == "attribute_type") type = TRY(Resolve(call.arguments[1]));
  auto* path = std::get_if<Path>(&first);
  if (path == nullptr) return PathRequired(name);
  if (type) return ResolveType(std::move(*path), *type);
  if (name == "attribute_exists") return ConditionNode{Exists{std::move(*path)}};
  return ConditionNode{NotExists{std::move(*path)}};
}

Result<ConditionNode> ConditionResolver::ResolveType(Path path, const Operand& type) {
  TRY(VerifyDistinct("attribute_type", path, type));
  // The type must be a value of the request. For a path, whose type is not known yet, DynamoDB's
  // message lists all types.
  const auto* value = std::get_if<const item::Value*>(&type);
  const auto* name = value == nullptr ? nullptr : (*value)->As<item::String>();
  if (name == nullptr) {
    const std::optional<Type> known = StaticType(type);
    return WrongOperandType("attribute_type",
                            known ? item::ToString(*known) : "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}");
  }
  const std::optional<Type> parsed = item::ParseType(*name);
  if (!parsed) {
    return Invalid(
        fmt::format("Invalid attribute type name found; type: {}, valid types: "
                    "{{B,NULL,SS,BOOL,L,BS,N,NS,S,M}}",
                    *name));
  }
  return ConditionNode{HasType{std::move(path), *parsed}};
}

Result<ConditionNode> ConditionResolver::Resolve(const syntax::Not& negation) {
  ConditionNode negated = TRY(Resolve(*negation.condition));
  return ConditionNode{Not{std::make_unique<ConditionNode>(std::move(negated))}};
}

Result<ConditionNode> ConditionResolver::Resolve(const syntax::And& conjunction) {
  return ConditionNode{And{TRY(Resolve(conjunction.conditions))}};
}

Result<ConditionNode> ConditionResolver::Resolve(const syntax::Or& disjunction) {
  return ConditionNode{Or{TRY(Resolve(disjunction.conditions))}};
}

Result<std::vector<ConditionNode>> ConditionResolver::Resolve(
    const std::vector<syntax::Condition>& conditions) {
  std::vector<ConditionNode> resolved;
  resolved.reserve(conditions.size());
  for (const syntax::Condition& condition : conditions) resolved.push_back(TRY(Resolve(condition)));
  return resolved;
}

}  // namespace

Result<std::shared_ptr<const ConditionTree>> ResolveCondition(const syntax::Condition& condition,
                                                              Bindings* bindings) {
  TRY(FormCheck().Verify(condition));
  auto tree = std::make_shared<ConditionTree>();
  tree->root = TRY(ConditionResolver(bindings, tree.get()).Resolve(condition));
  return tree;
}

Result<std::shared_ptr<const ConditionTree>> ResolveConditionText(std::string_view text,
                                                                  Bindings* bindings) {
  const auto parsed = TRY(RecallConditionSyntax(text));
  return ResolveCondition(*parsed, bindings);
}

}  // namespace tidemark::expression
