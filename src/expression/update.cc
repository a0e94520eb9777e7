#include "expression/update.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "expression/parse.h"
#include "expression/resolve.h"
#include "expression/tree.h"
#include "item/limits.h"
#include "item/size.h"
#include "item/validate.h"

namespace tidemark::expression {

namespace {

using item::List;
using item::Map;
using item::Number;
using item::Value;

using Actions = std::span<const Action>;

Error InvalidPath() {
  return Invalid("The document path provided in the update expression is invalid for update");
}
Error MissingOperand() {
  return Invalid("The provided expression refers to an attribute that does not exist in the item");
}
Error WrongType() {
  return Invalid("An operand in the update expression has an incorrect data type");
}
Error TooLarge() { return Invalid("Item size to update has exceeded the maximum allowed size"); }

// How many levels a value has: 1 for a scalar, 2 for a list of scalars. Does not look deeper than
// `limit`, so the recursion is limited for every value.
int Levels(const Value& value, int limit) {
  if (limit <= 1) return 1;
  int below = 0;
  if (const auto* list = value.As<List>()) {
    for (const Value& element : *list) below = std::max(below, Levels(element, limit - 1));
  } else if (const auto* map = value.As<Map>()) {
    for (const item::Attribute& attribute : *map) {
      below = std::max(below, Levels(attribute.value, limit - 1));
    }
  }
  return below + 1;
}

template <typename Member>
item::SetOf<Member> Union(const item::SetOf<Member>& left, const item::SetOf<Member>& right) {
  std::vector<Member> members;
  members.reserve(left.size() + right.size());
  std::set_union(left.members().begin(), left.members().end(), right.members().begin(),
                 right.members().end(), std::back_inserter(members));
  return item::SetOf<Member>(std::move(members));
}

template <typename Member>
item::SetOf<Member> Without(const item::SetOf<Member>& left, const item::SetOf<Member>& right) {
  std::vector<Member> members;
  members.reserve(left.size());
  std::set_difference(left.members().begin(), left.members().end(), right.members().begin(),
                      right.members().end(), std::back_inserter(members));
  return item::SetOf<Member>(std::move(members));
}

// ADD to a value of the operand's type.
struct Addition {
  const Value& operand;

  Result<Value> operator()(const Number& number) const {
    return Value(TRY(Add(number, *operand.As<Number>())));
  }
  template <typename Member>
  Result<Value> operator()(const item::SetOf<Member>& set) const {
    return Value(Union(set, *operand.As<item::SetOf<Member>>()));
  }
  template <typename Other>
  Result<Value> operator()(const Other&) const {
    return WrongType();
  }
};

// DELETE from a set of the operand's type. nullopt when the set becomes empty: DynamoDB has no
// empty sets, so the attribute is removed.
struct Deletion {
  const Value& operand;

  template <typename Member>
  Result<std::optional<Value>> operator()(const item::SetOf<Member>& set) const {
    item::SetOf<Member> rest = Without(set, *operand.As<item::SetOf<Member>>());
    if (rest.empty()) return std::optional<Value>();
    return std::optional<Value>(std::move(rest));
  }
  template <typename Other>
  Result<std::optional<Value>> operator()(const Other&) const {
    return WrongType();
  }
};

// Removes from the front, and returns, the actions that have the same step at this depth.
Actions TakeGroup(Actions* actions, size_t depth) {
  const Step& step = actions->front().path.steps[depth];
  size_t count = 1;
  while (count < actions->size() && (*actions)[count].path.steps[depth] == step) ++count;
  const Actions group = actions->first(count);
  *actions = actions->subspan(count);
  return group;
}

// Builds the new item and does not change the old one, so every operand and path refers to the item
// before the update. Actions are sorted by path. So a map or list is merged with its actions in
// one pass, even if there are many.
class Application {
 public:
  explicit Application(const item::Item& previous) : previous_(previous) {}

  // The paths of all `actions` have the same first `depth` steps, and these steps lead to `old`.
  Result<Map> ApplyTo(const Map& old, Actions actions, size_t depth);

 private:
  // nullopt when the value is removed.
  using Changed = Result<std::optional<Value>>;

  Result<List> ApplyTo(const List& old, Actions actions, size_t depth);
  Changed ApplyTo(const Value* old, Actions actions, size_t depth);

  Changed Apply(const SetChange& set, const Value* old, const Path& path);
  Changed Apply(const RemoveChange& remove, const Value* old, const Path& path);
  Changed Apply(const AddChange& add, const Value* old, const Path& path);
  Changed Apply(const DeleteChange& remove, const Value* old, const Path& path);

  // Returns a pointer to the value, which is not copied. Only a new value, such as a sum, is put
  // into `space`.
  Result<const Value*> Evaluate(const Source& source, Value* space) const;
  Result<Number> EvaluateNumber(const Source& source) const;
  // Adds the lists that `source` joins, in their order.
  Status CollectLists(const Source& source, std::vector<const List*>* lists) const;
  Result<List> EvaluateAppend(const Source& source) const;

  Status Charge(const Value& value);

  const item::Item& previous_;
  size_t written_bytes_ = 0;
};

Result<Map> Application::ApplyTo(const Map& old, Actions actions, size_t depth) {
  Map changed;
  changed.Reserve(old.size() + actions.size());
  auto rest = old.begin();
  while (!actions.empty()) {
    const Actions group = TakeGroup(&actions, depth);
    const auto* name = std::get_if<std::string>(&group.front().path.steps[depth]);
    if (name == nullptr) return InvalidPath();
    for (; rest != old.end() && rest->name < *name; ++rest) changed.Append(rest->name, rest->value);
    const Value* value = rest != old.end() && rest->name == *name ? &(rest++)->value : nullptr;
    std::optional<Value> next = TRY(ApplyTo(value, group, depth + 1));
    if (next) changed.Append(*name, std::move(*next));
  }
  for (; rest != old.end(); ++rest) changed.Append(rest->name, rest->value);
  return changed;
}

// Values for indexes behind the end are appended, in the order of their indexes.
Result<List> Application::ApplyTo(const List& old, Actions actions, size_t depth) {
  List changed;
  changed.reserve(old.size() + actions.size());
  size_t rest = 0;
  while (!actions.empty()) {
    const Actions group = TakeGroup(&actions, depth);
    const auto* index = std::get_if<uint32_t>(&group.front().path.steps[depth]);
    if (index == nullptr) return InvalidPath();
    for (; rest < old.size() && rest < *index; ++rest) changed.push_back(old[rest]);
    const Value* value = rest < old.size() ? &old[rest++] : nullptr;
    std::optional<Value> next = TRY(ApplyTo(value, group, depth + 1));
    if (next) changed.push_back(std::move(*next));
  }
  changed.insert(changed.end(), old.begin() + static_cast<std::ptrdiff_t>(rest), old.end());
  return changed;
}

Application::Changed Application::ApplyTo(const Value* old, Actions actions, size_t depth) {
  const Path& path = actions.front().path;
  if (path.steps.size() == depth) {
    return std::visit([&](const auto& change) { return Apply(change, old, path); },
                      actions.front().change);
  }
  // The parent of the path does not exist. DynamoDB refuses this for all actions, even for REMOVE.
  if (old == nullptr) return InvalidPath();
  if (const auto* map = old->As<Map>())
    return std::optional<Value>(TRY(ApplyTo(*map, actions, depth)));
  if (const auto* list = old->As<List>())
    return std::optional<Value>(TRY(ApplyTo(*list, actions, depth)));
  return InvalidPath();
}

Application::Changed Application::Apply(const SetChange& set, const Value*, const Path& path) {
  Value space;
  const Value* value = TRY(Evaluate(set.source, &space));
  TRY(Charge(*value));
  // The value is below its parents, so their levels count too. The limit is one more than allowed:
  // then a value that is too deep is seen as too deep, and no deeper level is visited.
  const int parents = static_cast<int>(path.steps.size()) - 1;
  TRY(item::ValidateLevel(parents + Levels(*value, item::kMaxNesting + 1)));
  if (value == &space) return std::optional<Value>(std::move(space));
  return std::optional<Value>(*value);
}

Application::Changed Application::Apply(const RemoveChange&, const Value*, const Path&) {
  return std::optional<Value>();
}

Application::Changed Application::Apply(const AddChange& add, const Value* old, const Path&) {
  // ADD creates an absent attribute: a number is added to zero, and a set to an empty set.
  if (old == nullptr) {
    TRY(Charge(*add.operand));
    return std::optional<Value>(*add.operand);
  }
  if (old->type() != add.operand->type()) return WrongType();
  Value sum = TRY(std::visit(Addition{*add.operand}, old->data()));
  TRY(Charge(sum));
  return std::optional<Value>(std::move(sum));
}

Application::Changed Application::Apply(const DeleteChange& remove, const Value* old, const Path&) {
  if (old == nullptr) return std::optional<Value>();
  if (old->type() != remove.operand->type()) return WrongType();
  return std::visit(Deletion{*remove.operand}, old->data());
}

Result<const Value*> Application::Evaluate(const Source& source, Value* space) const {
  if (const auto* value = std::get_if<const Value*>(&source.node)) return *value;
  if (const auto* path = std::get_if<Path>(&source.node)) {
    const Value* found = Find(previous_, *path);
    if (found == nullptr) return MissingOperand();
    return found;
  }
  if (const auto* choice = std::get_if<IfNotExists>(&source.node)) {
    const Value* found = Find(previous_, choice->path);
    if (found == nullptr) return Evaluate(*choice->otherwise, space);
    return found;
  }
  if (const auto* sum = std::get_if<Sum>(&source.node)) {
    const Number left = TRY(EvaluateNumber(*sum->left));
    const Number right = TRY(EvaluateNumber(*sum->right));
    *space = TRY(Add(left, right));
  } else if (const auto* difference = std::get_if<Difference>(&source.node)) {
    const Number left = TRY(EvaluateNumber(*difference->left));
    const Number right = TRY(EvaluateNumber(*difference->right));
    *space = TRY(Subtract(left, right));
  } else {
    *space = TRY(EvaluateAppend(source));
  }
  return space;
}

Result<Number> Application::EvaluateNumber(const Source& source) const {
  Value space;
  const Value* value = TRY(Evaluate(source, &space));
  const auto* number = value->As<Number>();
  if (number == nullptr) return WrongType();
  return *number;
}

Status Application::CollectLists(const Source& source, std::vector<const List*>* lists) const {
  if (const auto* append = std::get_if<ListAppend>(&source.node)) {
    TRY(CollectLists(*append->front, lists));
    return CollectLists(*append->back, lists);
  }
  const auto* choice = std::get_if<IfNotExists>(&source.node);
  if (choice != nullptr && Find(previous_, choice->path) == nullptr)
    return CollectLists(*choice->otherwise, lists);
  // Only a number can be put into `space`, because a new list comes from ListAppend, and that case
  // is handled above. So the pointer to the list stays valid after this function.
  Value space;
  const Value* value = TRY(Evaluate(source, &space));
  const auto* list = value->As<List>();
  if (list == nullptr) return WrongType();
  lists->push_back(list);
  return Done{};
}

// Collects pointers to the lists first and copies the elements once. Stops when the result is
// larger than an item may be: a short text with list_append inside list_append could otherwise
// build a list of gigabytes.
Result<List> Application::EvaluateAppend(const Source& source) const {
  std::vector<const List*> lists;
  TRY(CollectLists(source, &lists));
  List appended;
  size_t size_bytes = 0;
  for (const List* list : lists) {
    for (const Value& element : *list) {
      size_bytes += item::SizeBytes(element);
      if (size_bytes > item::kMaxItemBytes) return TooLarge();
      appended.push_back(element);
    }
  }
  return appended;
}

// Counts the bytes that the update writes. Paths do not overlap, so all of them are in the new
// item, and more than an item may have is an error. Checking it here limits the work: a short text
// can copy a large value many times.
Status Application::Charge(const Value& value) {
  written_bytes_ += item::SizeBytes(value);
  if (written_bytes_ > item::kMaxItemBytes) return TooLarge();
  return Done{};
}

Result<std::shared_ptr<const UpdateTree>> ParseUpdateTree(std::string_view text,
                                                          Bindings* bindings) {
  const std::shared_ptr<const syntax::Update> parsed = TRY(RecallUpdateSyntax(text));
  return ResolveUpdate(*parsed, bindings);
}

}  // namespace

Update::Update(std::shared_ptr<const UpdateTree> tree) : tree_(std::move(tree)) {}

Result<item::Item> Update::Apply(const item::Item& previous) const {
  return Application(previous).ApplyTo(previous, tree_->actions, 0);
}

std::vector<Path> Update::Paths() const {
  std::vector<Path> paths;
  paths.reserve(tree_->actions.size());
  for (const Action& action : tree_->actions) paths.push_back(action.path);
  return paths;
}

bool Update::Creates() const {
  return std::any_of(tree_->actions.begin(), tree_->actions.end(), [](const Action& action) {
    return std::holds_alternative<SetChange>(action.change) ||
           std::holds_alternative<AddChange>(action.change);
  });
}

Result<Update> ParseUpdate(std::string_view text, Bindings* bindings) {
  auto tree = ParseUpdateTree(text, bindings);
  if (!tree) return InExpression("UpdateExpression", std::move(tree).error());
  return Update(std::move(tree).value());
}

}  // namespace tidemark::expression
