#include "expression/resolve.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "expression/limits.h"
#include "expression/reserved_words.h"

namespace tidemark::expression {

namespace {

constexpr std::array<Function, 8> kFunctions = {{
    {"attribute_exists", 1, Role::kCondition},
    {"attribute_not_exists", 1, Role::kCondition},
    {"attribute_type", 2, Role::kCondition},
    {"begins_with", 2, Role::kCondition},
    {"contains", 2, Role::kCondition},
    {"size", 1, Role::kOperand},
    {"if_not_exists", 2, Role::kSource},
    {"list_append", 2, Role::kSource},
}};

Error Clash(std::string_view verb, const Path* left, const Path* right) {
  // Both paths are elements of one array in the order of the text, so the lower address is the path
  // that is written first.
  const auto [one, two] = std::minmax(left, right);
  return Invalid(fmt::format(
      "Two document paths {} with each other; must remove or rewrite one of these paths; "
      "path one: {}, path two: {}",
      verb, ToString(*one), ToString(*two)));
}

// The word of DynamoDB's message for two paths that cannot be used together; "" if they can.
std::string_view ClashVerb(const Path& left, const Path& right) {
  const size_t common = std::min(left.steps.size(), right.steps.size());
  for (size_t i = 0; i < common; ++i) {
    // One path uses this value as a map, and the other uses it as a list.
    if (left.steps[i].index() != right.steps[i].index()) return "conflict";
    if (left.steps[i] != right.steps[i]) return "";
  }
  return "overlap";
}

// UINT64_MAX when the digits do not fit, which is out of range too.
uint64_t IndexOf(const syntax::Index& index) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(index.digits.data(), index.digits.data() + index.digits.size(), value);
  return error == std::errc() ? value : UINT64_MAX;
}

Status VerifyStep(const syntax::Name& name) {
  if (name.is_reference() || !IsReservedWord(name.text)) return Done{};
  return Invalid(
      fmt::format("Attribute name is a reserved keyword; reserved keyword: {}", name.text));
}

Status VerifyStep(const syntax::Index& index) {
  if (IndexOf(index) <= kMaxListIndex) return Done{};
  return Invalid(
      fmt::format("List index is not within the allowable range; index: [{}]", index.digits));
}

}  // namespace

Error InExpression(std::string_view kind, Error error) {
  error.message.insert(0, fmt::format("Invalid {}: ", kind));
  return error;
}

Result<Function> FindFunction(std::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return function;
  }
  return Invalid(fmt::format("Invalid function name; function: {}", name));
}

Error WrongOperandType(std::string_view function, std::string_view type) {
  return Invalid(
      fmt::format("Incorrect operand type for operator or function; operator or function: {}, "
                  "operand type: {}",
                  function, type));
}

Error WrongOperandCount(const syntax::Call& call) {
  return Invalid(fmt::format(
      "Incorrect number of operands for operator or function; operator or function: {}, "
      "number of operands: {}",
      call.function, call.arguments.size()));
}

Error PathRequired(std::string_view function) {
  return Invalid(fmt::format(
      "Operator or function requires a document path; operator or function: {}", function));
}

Status VerifyForm(const syntax::Path& path) {
  for (const auto& step : path.steps) {
    TRY(std::visit([](const auto& part) { return VerifyStep(part); }, step));
  }
  return Done{};
}

Result<std::string> References::Resolve(const syntax::Name& name) {
  std::string_view resolved = name.text;
  if (name.is_reference()) {
    const std::string* supplied = bindings_->UseName(name.text);
    if (supplied == nullptr) {
      return Invalid(
          fmt::format("An expression attribute name used in the document path is not defined; "
                      "attribute name: {}",
                      name.text));
    }
    resolved = *supplied;
  }
  name_bytes_ += resolved.size();
  if (name_bytes_ > kMaxResolvedNameBytes) {
    return Invalid(fmt::format(
        "The attribute names of the expression are too long once references are replaced; "
        "they may have {} bytes together",
        kMaxResolvedNameBytes));
  }
  return std::string(resolved);
}

Result<Path> References::Resolve(const syntax::Path& path) {
  if (path.steps.size() > kMaxPathSteps) {
    return Invalid(fmt::format("The document path has too many nesting levels; nesting levels: {}",
                               path.steps.size()));
  }
  Path resolved;
  resolved.steps.reserve(path.steps.size());
  for (const auto& step : path.steps) {
    if (const auto* name = std::get_if<syntax::Name>(&step)) {
      resolved.steps.emplace_back(TRY(Resolve(*name)));
    } else {
      // The index fits into 32 bits: VerifyForm has refused larger ones.
      resolved.steps.emplace_back(static_cast<uint32_t>(IndexOf(std::get<syntax::Index>(step))));
    }
  }
  return resolved;
}

Result<const item::Value*> References::Resolve(const syntax::ValueReference& reference) {
  const item::Value* supplied = bindings_->UseValue(reference.text);
  if (supplied == nullptr) {
    return Invalid(fmt::format(
        "An expression attribute value used in expression is not defined; attribute value: {}",
        reference.text));
  }
  const item::Value* owned = &values_->try_emplace(supplied, *supplied).first->second;
  return owned;
}

// Sorting makes this fast: only neighbours need to be compared. A path is sorted directly before
// the paths that begin with it. Among paths with the same beginning, names are sorted before
// indexes, so the last path with a name is next to the first one with an index.
// If several pairs clash, the error names the pair whose second path is first in the text.
Status VerifyDistinct(std::vector<const Path*> paths) {
  std::sort(paths.begin(), paths.end(),
            [](const Path* left, const Path* right) { return left->steps < right->steps; });
  std::pair<const Path*, const Path*> clash{};
  for (size_t i = 1; i < paths.size(); ++i) {
    if (ClashVerb(*paths[i - 1], *paths[i]).empty()) continue;
    const auto found = std::minmax(paths[i - 1], paths[i]);
    if (clash.second == nullptr || found.second < clash.second) clash = found;
  }
  if (clash.second == nullptr) return Done{};
  return Clash(ClashVerb(*clash.first, *clash.second), clash.first, clash.second);
}

Result<std::vector<Path>> ResolveProjection(const std::vector<syntax::Path>& paths,
                                            Bindings* bindings) {
  for (const syntax::Path& path : paths) TRY(VerifyForm(path));
  // A projection uses no values, so nothing is copied into a tree.
  References references(bindings, nullptr);
  std::vector<Path> resolved;
  resolved.reserve(paths.size());
  for (const syntax::Path& path : paths) resolved.push_back(TRY(references.Resolve(path)));
  std::vector<const Path*> addresses;
  addresses.reserve(resolved.size());
  for (const Path& path : resolved) addresses.push_back(&path);
  TRY(VerifyDistinct(std::move(addresses)));
  return resolved;
}

}  // namespace tidemark::expression
