#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "expression/resolve.h"

namespace tidemark::expression {

namespace {

using item::Type;

Status VerifyOperand(const syntax::Operand& operand);

// A call may contain calls. The parser has limited how deep they are nested.
Status VerifyCall(const syntax::Call& call) {
  const Function function = TRY(FindFunction(call.function));
  if (function.role != Role::kSource) {
    return Invalid(fmt::format("The function is not allowed in an update expression; function: {}",
                               call.function));
  }
  for (const syntax::Operand& argument : call.arguments) TRY(VerifyOperand(argument));
  return Done{};
}

Status VerifyOperand(const syntax::Operand& operand) {
  if (const auto* path = std::get_if<syntax::Path>(&operand.node)) return VerifyForm(*path);
  if (const auto* call = std::get_if<syntax::Call>(&operand.node)) return VerifyCall(*call);
  return Done{};
}

Status VerifyAction(const syntax::Action& action) {
  TRY(VerifyForm(action.path));
  const auto* set = std::get_if<syntax::Set>(&action.change);
  if (set == nullptr) return Done{};
  if (const auto* operand = std::get_if<syntax::Operand>(&set->value))
    return VerifyOperand(*operand);
  const auto& arithmetic = std::get<syntax::Arithmetic>(set->value);
  TRY(VerifyOperand(arithmetic.left));
  return VerifyOperand(arithmetic.right);
}

// The first pass checks only the form, because DynamoDB reports errors of form before all others.
Status VerifyUpdate(const syntax::Update& update) {
  for (const syntax::Action& action : update.actions) TRY(VerifyAction(action));
  std::vector<std::string_view> sections = update.sections;
  std::sort(sections.begin(), sections.end());
  const auto twice = std::adjacent_find(sections.begin(), sections.end());
  if (twice == sections.end()) return Done{};
  return Invalid(
      fmt::format(R"(The "{}" section can only be used once in an update expression;)", *twice));
}

bool IsSet(Type type) {
  return type == Type::kStringSet || type == Type::kNumberSet || type == Type::kBinarySet;
}

// The names of types in the errors of ADD and DELETE, which differ from all others.
std::string_view LongName(Type type) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "STRING",     "NUMBER",     "BINARY",     "BOOLEAN", "NULL",
      "STRING_SET", "NUMBER_SET", "BINARY_SET", "LIST",    "MAP"};
  return kNames[static_cast<size_t>(type)];
}

Error WrongSectionOperand(std::string_view section, Type type) {
  return Invalid(fmt::format(
      "Incorrect operand type for operator or function; operator: {0}, operand type: {1}, "
      "typeSet: ALLOWED_FOR_{0}_OPERAND",
      section, LongName(type)));
}

Status VerifyType(std::string_view function, const Source& operand, Type wanted) {
  const auto* value = std::get_if<const item::Value*>(&operand.node);
  if (value == nullptr || (*value)->type() == wanted) return Done{};
  return WrongOperandType(function, item::ToString((*value)->type()));
}

std::unique_ptr<Source> Boxed(Source source) { return std::make_unique<Source>(std::move(source)); }

// The second pass looks up references and checks operands, in the order of the text.
class UpdateResolver {
 public:
  UpdateResolver(Bindings* bindings, OwnedValues* values) : references_(bindings, values) {}

  Result<Path> Resolve(const syntax::Path& path) { return references_.Resolve(path); }
  Result<Change> ResolveChange(const syntax::Action& action) {
    return std::visit([this](const auto& change) { return Resolve(change); }, action.change);
  }

 private:
  Result<Change> Resolve(const syntax::Set& set);
  Result<Change> Resolve(const syntax::Remove&) { return Change(RemoveChange{}); }
  Result<Change> Resolve(const syntax::Add& add);
  Result<Change> Resolve(const syntax::Delete& remove);
  Result<Source> Resolve(const syntax::Operand& operand);
  Result<Source> Resolve(const syntax::Call& call);
  Result<Source> Resolve(const syntax::Arithmetic& arithmetic);

  References references_;
};

Result<Change> UpdateResolver::Resolve(const syntax::Set& set) {
  Source source = TRY(std::visit([this](const auto& value) { return Resolve(value); }, set.value));
  return Change(SetChange{std::move(source)});
}

Result<Change> UpdateResolver::Resolve(const syntax::Add& add) {
  const item::Value* operand = TRY(references_.Resolve(add.value));
  const Type type = operand->type();
  if (type != Type::kNumber && !IsSet(type)) return WrongSectionOperand("ADD", type);
  return Change(AddChange{operand});
}

Result<Change> UpdateResolver::Resolve(const syntax::Delete& remove) {
  const item::Value* operand = TRY(references_.Resolve(remove.value));
  if (!IsSet(operand->type())) return WrongSectionOperand("DELETE", operand->type());
  return Change(DeleteChange{operand});
}

Result<Source> UpdateResolver::Resolve(const syntax::Operand& operand) {
  if (const auto* path = std::get_if<syntax::Path>(&operand.node))
    return Source{TRY(Resolve(*path))};
  if (const auto* call = std::get_if<syntax::Call>(&operand.node)) return Resolve(*call);
  return Source{TRY(references_.Resolve(std::get<syntax::ValueReference>(operand.node)))};
}

Result<Source> UpdateResolver::Resolve(const syntax::Call& call) {
  // The first pass has refused all functions but if_not_exists and list_append. It does not check
  // the number of operands: errors of form anywhere in the text are reported before this error.
  if (call.arguments.size() != 2) return WrongOperandCount(call);
  Source first = TRY(Resolve(call.arguments[0]));
  Source second = TRY(Resolve(call.arguments[1]));
  if (call.function == "list_append") {
    TRY(VerifyType(call.function, first, Type::kList));
    TRY(VerifyType(call.function, second, Type::kList));
    return Source{ListAppend{Boxed(std::move(first)), Boxed(std::move(second))}};
  }
  auto* path = std::get_if<Path>(&first.node);
  if (path == nullptr) return PathRequired(call.function);
  return Source{IfNotExists{std::move(*path), Boxed(std::move(second))}};
}

Result<Source> UpdateResolver::Resolve(const syntax::Arithmetic& arithmetic) {
  Source left = TRY(Resolve(arithmetic.left));
  Source right = TRY(Resolve(arithmetic.right));
  TRY(VerifyType(arithmetic.sign, left, Type::kNumber));
  TRY(VerifyType(arithmetic.sign, right, Type::kNumber));
  if (arithmetic.sign == "+") return Source{Sum{Boxed(std::move(left)), Boxed(std::move(right))}};
  return Source{Difference{Boxed(std::move(left)), Boxed(std::move(right))}};
}

Status VerifyDistinct(const std::vector<Action>& actions) {
  std::vector<const Path*> paths;
  paths.reserve(actions.size());
  for (const Action& action : actions) paths.push_back(&action.path);
  return VerifyDistinct(std::move(paths));
}

}  // namespace

Result<std::shared_ptr<const UpdateTree>> ResolveUpdate(const syntax::Update& update,
                                                        Bindings* bindings) {
  TRY(VerifyUpdate(update));
  auto tree = std::make_shared<UpdateTree>();
  UpdateResolver resolver(bindings, &tree->values);
  tree->actions.reserve(update.actions.size());
  for (const syntax::Action& action : update.actions) {
    tree->actions.push_back(Action{TRY(resolver.Resolve(action.path)), RemoveChange{}});
  }
  // As in DynamoDB, paths that clash are reported before errors of the operands.
  TRY(VerifyDistinct(tree->actions));
  for (size_t i = 0; i < update.actions.size(); ++i) {
    tree->actions[i].change = TRY(resolver.ResolveChange(update.actions[i]));
  }
  std::sort(
      tree->actions.begin(), tree->actions.end(),
      [](const Action& left, const Action& right) { return left.path.steps < right.path.steps; });
  return tree;
}

}  // namespace tidemark::expression
