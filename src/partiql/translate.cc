#include "partiql/translate.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemark::partiql {

namespace {

using tables::Names;
using tables::ReturnValues;
using tables::TableDescription;
using tables::Values;

Error NoSuchFunction(std::string_view name) {
  return Invalid(
      fmt::format("Statement wasn't well formed, can't be processed: No such function: {}", name));
}

// How strongly a text of a condition binds: one that binds more weakly than the text around it
// needs parentheses. Others must not have them, because DynamoDB refuses redundant parentheses.
enum class Binding { kOr, kAnd, kStrong };
struct ConditionText {
  std::string text;
  Binding binding = Binding::kStrong;
};

// Writes conditions and paths as DynamoDB's expressions, and collects their names and values.
class Writer {
 public:
  Names TakeNames() { return std::move(names_); }
  Values TakeValues() { return std::move(values_); }

  std::string Name(const std::string& attribute) {
    const auto known = references_.find(attribute);
    if (known != references_.end()) return known->second;
    std::string reference = fmt::format("#{}", names_.size());
    names_[reference] = attribute;
    references_[attribute] = reference;
    return reference;
  }
  std::string Value(const item::Value& value) {
    std::string reference = fmt::format(":{}", values_.size());
    values_[reference] = value;
    return reference;
  }
  std::string Text(const Path& path) {
    std::string text;
    for (const Step& step : path.steps) {
      if (const auto* name = std::get_if<std::string>(&step)) {
        text += (text.empty() ? "" : ".") + Name(*name);
      } else {
        text += fmt::format("[{}]", std::get<uint32_t>(step));
      }
    }
    return text;
  }
  Result<std::string> Text(const Operand& operand) {
    if (const auto* path = std::get_if<Path>(&operand.node)) return Text(*path);
    if (const auto* value = std::get_if<item::Value>(&operand.node)) return Value(*value);
    const Call& call = *std::get<std::unique_ptr<Call>>(operand.node);
    if (call.function != "size") return NoSuchFunction(call.function);
    return Text(call);
  }
  Result<std::string> Text(const Call& call) {
    std::vector<std::string> arguments;
    for (const Operand& argument : call.arguments) arguments.push_back(TRY(Text(argument)));
    return fmt::format("{}({})", call.function, fmt::join(arguments, ","));
  }
  Result<std::string> Text(const Condition& condition, Binding around) {
    ConditionText inner =
        TRY(std::visit([this](const auto& node) { return Write(node); }, condition.node));
    if (inner.binding < around) return "(" + inner.text + ")";
    return std::move(inner.text);
  }

 private:
  Result<ConditionText> Write(const All& all) {
    std::vector<std::string> texts;
    for (const Condition& one : all.conditions) texts.push_back(TRY(Text(one, Binding::kAnd)));
    return ConditionText{fmt::format("{}", fmt::join(texts, " AND ")), Binding::kAnd};
  }
  Result<ConditionText> Write(const Any& any) {
    std::vector<std::string> texts;
    for (const Condition& one : any.conditions) texts.push_back(TRY(Text(one, Binding::kOr)));
    return ConditionText{fmt::format("{}", fmt::join(texts, " OR ")), Binding::kOr};
  }
  Result<ConditionText> Write(const Not& negation) {
    return ConditionText{"NOT " + TRY(Text(*negation.condition, Binding::kStrong))};
  }
  // In an expression, <> holds for an attribute that is missing. In PartiQL it does not.
  Result<ConditionText> Write(const Comparison& comparison) {
    const std::string left = TRY(Text(comparison.left));
    const std::string right = TRY(Text(comparison.right));
    std::string text = fmt::format("{} {} {}", left, comparison.comparator, right);
    if (comparison.comparator != "<>") return ConditionText{std::move(text)};
    Binding binding = Binding::kStrong;
    for (const Operand* operand : {&comparison.left, &comparison.right}) {
      const auto* path = std::get_if<Path>(&operand->node);
      if (path == nullptr) continue;
      text = fmt::format("attribute_exists({}) AND {}", Text(*path), text);
      binding = Binding::kAnd;
    }
    return ConditionText{std::move(text), binding};
  }
  Result<ConditionText> Write(const Between& between) {
    const std::string operand = TRY(Text(between.operand));
    const std::string low = TRY(Text(between.low));
    const std::string high = TRY(Text(between.high));
    return ConditionText{fmt::format("{} BETWEEN {} AND {}", operand, low, high)};
  }
  Result<ConditionText> Write(const In& in) {
    const std::string operand = TRY(Text(in.operand));
    std::vector<std::string> choices;
    for (const Operand& choice : in.choices) choices.push_back(TRY(Text(choice)));
    return ConditionText{fmt::format("{} IN ({})", operand, fmt::join(choices, ","))};
  }
  Result<ConditionText> Write(const Is& is) {
    const std::string path = Text(is.path);
    if (is.kind == Kind::kMissing) {
      return ConditionText{fmt::format("attribute_not_exists({})", path)};
    }
    return ConditionText{fmt::format("attribute_type({},{})", path, Value("NULL"))};
  }
  Result<ConditionText> Write(const Call& call) {
    const bool is_condition = call.function == "begins_with" || call.function == "contains" ||
                              call.function == "attribute_type" ||
                              call.function == "attribute_exists" ||
                              call.function == "attribute_not_exists";
    if (!is_condition) return NoSuchFunction(call.function);
    return ConditionText{TRY(Text(call))};
  }

  Names names_;
  Values values_;
  std::map<std::string, std::string> references_;
};

// ---- The parts of a condition ----

using Conjuncts = std::vector<const Condition*>;

void Flatten(const Condition& condition, Conjuncts* conjuncts) {
  if (const auto* all = std::get_if<All>(&condition.node)) {
    for (const Condition& one : all->conditions) Flatten(one, conjuncts);
  } else {
    conjuncts->push_back(&condition);
  }
}

Conjuncts ConjunctsOf(const std::optional<Condition>& where) {
  Conjuncts conjuncts;
  if (where) Flatten(*where, &conjuncts);
  return conjuncts;
}

bool IsAttribute(const Operand& operand, const std::string& attribute) {
  const auto* path = std::get_if<Path>(&operand.node);
  return path != nullptr && path->steps.size() == 1 &&
         std::get<std::string>(path->steps[0]) == attribute;
}
bool IsValue(const Operand& operand) { return std::holds_alternative<item::Value>(operand.node); }

// The value to which the condition says that the attribute is equal; nullptr if it says no such
// thing.
const item::Value* EqualTo(const Condition& condition, const std::string& attribute) {
  const auto* comparison = std::get_if<Comparison>(&condition.node);
  if (comparison == nullptr || comparison->comparator != "=") return nullptr;
  if (IsAttribute(comparison->left, attribute))
    return std::get_if<item::Value>(&comparison->right.node);
  if (IsAttribute(comparison->right, attribute))
    return std::get_if<item::Value>(&comparison->left.node);
  return nullptr;
}

// Whether a condition of a query may say this about the sort key.
bool IsForSortKey(const Condition& condition, const std::string& attribute) {
  if (const auto* comparison = std::get_if<Comparison>(&condition.node)) {
    return comparison->comparator != "<>" && IsAttribute(comparison->left, attribute) &&
           IsValue(comparison->right);
  }
  if (const auto* between = std::get_if<Between>(&condition.node)) {
    return IsAttribute(between->operand, attribute) && IsValue(between->low) &&
           IsValue(between->high);
  }
  const auto* call = std::get_if<Call>(&condition.node);
  return call != nullptr && call->function == "begins_with" && call->arguments.size() == 2 &&
         IsAttribute(call->arguments[0], attribute) && IsValue(call->arguments[1]);
}

bool Mentions(const Operand& operand, const std::set<std::string>& attributes) {
  if (const auto* path = std::get_if<Path>(&operand.node)) {
    return attributes.contains(std::get<std::string>(path->steps[0]));
  }
  const auto* call = std::get_if<std::unique_ptr<Call>>(&operand.node);
  return call != nullptr && std::ranges::any_of((*call)->arguments, [&](const Operand& argument) {
           return Mentions(argument, attributes);
         });
}

bool Mentions(const Condition& condition, const std::set<std::string>& attributes) {
  const auto any_operand = [&](const std::vector<Operand>& operands) {
    return std::ranges::any_of(
        operands, [&](const Operand& operand) { return Mentions(operand, attributes); });
  };
  const auto any_condition = [&](const std::vector<Condition>& conditions) {
    return std::ranges::any_of(conditions,
                               [&](const Condition& inner) { return Mentions(inner, attributes); });
  };
  return std::visit(
      [&]<typename Node>(const Node& node) {
        if constexpr (requires { node.conditions; }) {
          return any_condition(node.conditions);
        } else if constexpr (std::is_same_v<Node, Not>) {
          return Mentions(*node.condition, attributes);
        } else if constexpr (std::is_same_v<Node, Comparison>) {
          return Mentions(node.left, attributes) || Mentions(node.right, attributes);
        } else if constexpr (std::is_same_v<Node, Between>) {
          return Mentions(node.operand, attributes) || Mentions(node.low, attributes) ||
                 Mentions(node.high, attributes);
        } else if constexpr (std::is_same_v<Node, In>) {
          return Mentions(node.operand, attributes) || any_operand(node.choices);
        } else if constexpr (std::is_same_v<Node, Is>) {
          return attributes.contains(std::get<std::string>(node.path.steps[0]));
        } else {
          return any_operand(node.arguments);
        }
      },
      condition.node);
}

// The conditions joined by AND. nullopt when there is none.
Result<std::optional<std::string>> Joined(const Conjuncts& conjuncts, Writer* writer) {
  if (conjuncts.empty()) return std::optional<std::string>();
  const Binding around = conjuncts.size() > 1 ? Binding::kAnd : Binding::kOr;
  std::vector<std::string> texts;
  for (const Condition* condition : conjuncts) {
    texts.push_back(TRY(writer->Text(*condition, around)));
  }
  return std::optional(fmt::format("{}", fmt::join(texts, " AND ")));
}

std::vector<std::string> NamesOf(const item::KeySchema& keys) {
  std::vector<std::string> names = {keys.partition.name};
  if (keys.sort) names.push_back(keys.sort->name);
  return names;
}

// Takes the whole key out of the conditions. nullopt if they do not name all of it.
std::optional<item::Item> FindKey(const item::KeySchema& keys, Conjuncts* conjuncts) {
  item::Item key;
  for (const std::string& name : NamesOf(keys)) {
    const auto found = std::ranges::find_if(*conjuncts, [&](const Condition* condition) {
      return EqualTo(*condition, name) != nullptr;
    });
    if (found == conjuncts->end()) return std::nullopt;
    key.Set(name, *EqualTo(**found, name));
    conjuncts->erase(found);
  }
  return key;
}

Result<item::Item> TakeKey(const item::KeySchema& keys, Conjuncts* conjuncts) {
  auto key = FindKey(keys, conjuncts);
  if (key) return *std::move(key);
  return Invalid(std::string(kNoWholeKey));
}

// ---- SELECT ----

Result<const item::KeySchema*> KeysOf(const Select& select, const TableDescription& table) {
  if (!select.index) return &table.keys;
  for (const tables::IndexDescription& index : table.indexes) {
    if (index.spec.name != *select.index) continue;
    const item::KeySchema& keys = index.spec.keys;
    if (keys.more_partition.empty() && keys.more_sort.empty()) return &keys;
    return Invalid(
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
        "multi-attribute RANGE keys.");
  }
  return Invalid("The table does not have the specified index");
}

// What a query needs of the conditions; the others are its filter.
struct KeyConditions {
  const Condition* partition = nullptr;
  const Condition* sort = nullptr;
  Conjuncts others;
};

KeyConditions Split(const Conjuncts& conjuncts, const item::KeySchema& keys) {
  KeyConditions split;
  for (const Condition* condition : conjuncts) {
    const bool is_partition =
        split.partition == nullptr && EqualTo(*condition, keys.partition.name) != nullptr;
    const bool is_sort =
        split.sort == nullptr && keys.sort && IsForSortKey(*condition, keys.sort->name);
    if (is_partition) {
      split.partition = condition;
    } else if (is_sort) {
      split.sort = condition;
    } else {
      split.others.push_back(condition);
    }
  }
  return split;
}

// A filter of a query may not mention keys. A statement that does is a scan.
bool IsQuery(const KeyConditions& split, const item::KeySchema& keys) {
  if (split.partition == nullptr) return false;
  std::set<std::string> names = {keys.partition.name};
  if (keys.sort) names.insert(keys.sort->name);
  return std::ranges::none_of(split.others,
                              [&](const Condition* other) { return Mentions(*other, names); });
}

// Whether the order is descending.
Result<bool> OrderOf(const Select& select, const KeyConditions& split,
                     const item::KeySchema& keys) {
  if (select.order.empty()) return false;
  if (!select.where) {
    return Invalid("Must have WHERE clause in the statement when using ORDER BY clause.");
  }
  if (split.partition == nullptr) {
    return Invalid(
        "Must have at least one non-optional hash key condition in WHERE clause when using ORDER "
        "BY clause.");
  }
  bool is_descending = false;
  for (const Select::Order& order : select.order) {
    const auto& name = std::get<std::string>(order.path.steps[0]);
    const bool is_sort = keys.sort && name == keys.sort->name;
    const bool is_key = order.path.steps.size() == 1 && (is_sort || name == keys.partition.name);
    if (!is_key) {
      return Invalid(
          fmt::format("Attribute {} in ORDER BY clause must be part of the primary key", name));
    }
    if (is_sort) is_descending = order.descending;
  }
  return is_descending;
}

template <typename Request>
void AddProjection(const Select& select, Writer* writer, Request* request) {
  if (select.projection.empty()) return;
  std::set<std::string> names;
  for (const Path& path : select.projection) {
    names.insert(writer->Name(std::get<std::string>(path.steps[0])));
  }
  request->projection = fmt::format("{}", fmt::join(names, ","));
}

template <typename Request>
Reading Finished(const Select& select, Writer* writer, Request request) {
  request.table = select.table;
  request.index = select.index;
  AddProjection(select, writer, &request);
  request.names = writer->TakeNames();
  request.values = writer->TakeValues();
  return request;
}

// ---- UPDATE ----

class Clauses {
 public:
  explicit Clauses(Writer* writer) : writer_(*writer) {}

  Status Add(const Assignment& assignment) {
    const std::string path = writer_.Text(assignment.path);
    if (std::holds_alternative<Remove>(assignment.change)) {
      removes_.push_back(path);
    } else if (const auto* sum = std::get_if<Sum>(&assignment.change)) {
      const std::string left = TRY(writer_.Text(sum->left));
      const std::string right = TRY(writer_.Text(sum->right));
      sets_.push_back(fmt::format("{} = {} {} {}", path, left, sum->sign, right));
    } else {
      return Set(path, std::get<Operand>(assignment.change));
    }
    return Done{};
  }
  std::string Text() const {
    const std::pair<std::string_view, const std::vector<std::string>*> clauses[] = {
        {"SET", &sets_}, {"REMOVE", &removes_}, {"ADD", &adds_}, {"DELETE", &deletes_}};
    std::string text;
    for (const auto& [word, parts] : clauses) {
      if (parts->empty()) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : " ", word, fmt::join(*parts, ","));
    }
    return text;
  }

 private:
  Status Set(const std::string& path, const Operand& operand) {
    const auto* boxed = std::get_if<std::unique_ptr<Call>>(&operand.node);
    if (boxed == nullptr) {
      sets_.push_back(fmt::format("{} = {}", path, TRY(writer_.Text(operand))));
      return Done{};
    }
    const Call& call = **boxed;
    if (call.function == "list_append" || call.function == "if_not_exists") {
      sets_.push_back(fmt::format("{} = {}", path, TRY(writer_.Text(call))));
      return Done{};
    }
    const bool is_add = call.function == "set_add";
    if (!is_add && call.function != "set_delete") return NoSuchFunction(call.function);
    if (call.arguments.size() != 2 || TRY(writer_.Text(call.arguments[0])) != path) {
      return Invalid(fmt::format(
          "Statement wasn't well formed, can't be processed: {} needs the attribute that is set, "
          "and a set",
          call.function));
    }
    (is_add ? adds_ : deletes_)
        .push_back(fmt::format("{} {}", path, TRY(writer_.Text(call.arguments[1]))));
    return Done{};
  }

  Writer& writer_;
  std::vector<std::string> sets_;
  std::vector<std::string> removes_;
  std::vector<std::string> adds_;
  std::vector<std::string> deletes_;
};

std::string_view NameOf(ReturnValues returning) {
  switch (returning) {
    case ReturnValues::kAllNew:
      return "ALL NEW";
    case ReturnValues::kUpdatedOld:
      return "MODIFIED OLD";
    case ReturnValues::kUpdatedNew:
      return "MODIFIED NEW";
    default:
      return "ALL OLD";
  }
}

const item::Value* FindAt(const item::Item& item, const Path& path) {
  const item::Value* value = item.Find(std::get<std::string>(path.steps[0]));
  for (size_t i = 1; i < path.steps.size() && value != nullptr; ++i) {
    if (const auto* name = std::get_if<std::string>(&path.steps[i])) {
      const auto* map = value->As<item::Map>();
      value = map == nullptr ? nullptr : map->Find(*name);
    } else {
      const auto* list = value->As<item::List>();
      const uint32_t index = std::get<uint32_t>(path.steps[i]);
      value = list == nullptr || index >= list->size() ? nullptr : &(*list)[index];
    }
  }
  return value;
}

// The last name of the path with the indexes after it.
std::string LastName(const Path& path) {
  std::string last;
  for (const Step& step : path.steps) {
    if (const auto* name = std::get_if<std::string>(&step)) {
      last = *name;
    } else {
      last += fmt::format("[{}]", std::get<uint32_t>(step));
    }
  }
  return last;
}

}  // namespace

Result<Reading> Translate(const Select& select, const TableDescription& table) {
  const item::KeySchema& keys = *TRY(KeysOf(select, table));
  const KeyConditions split = Split(ConjunctsOf(select.where), keys);
  const bool is_descending = TRY(OrderOf(select, split, keys));
  Writer writer;
  if (!IsQuery(split, keys)) {
    tables::ScanRequest scan;
    scan.filter = TRY(Joined(ConjunctsOf(select.where), &writer));
    return Finished(select, &writer, std::move(scan));
  }
  tables::QueryRequest query{.forward = !is_descending};
  query.key_condition = TRY(writer.Text(*split.partition, Binding::kAnd));
  if (split.sort != nullptr) {
    query.key_condition += " AND " + TRY(writer.Text(*split.sort, Binding::kAnd));
  }
  query.filter = TRY(Joined(split.others, &writer));
  return Finished(select, &writer, std::move(query));
}

tables::PutRequest Translate(const Insert& insert, const TableDescription& table) {
  return {.table = insert.table,
          .item = insert.item,
          .condition = "attribute_not_exists(#0)",
          .names = {{"#0", table.keys.partition.name}}};
}

Result<tables::UpdateRequest> Translate(const Update& update, const TableDescription& table) {
  Conjuncts conjuncts = ConjunctsOf(update.where);
  tables::UpdateRequest request{.table = update.table};
  request.key = TRY(TakeKey(table.keys, &conjuncts));
  Writer writer;
  Clauses clauses(&writer);
  for (const Assignment& assignment : update.assignments) TRY(clauses.Add(assignment));
  request.update = clauses.Text();
  request.condition = fmt::format("attribute_exists({})", writer.Name(table.keys.partition.name));
  for (const Condition* condition : conjuncts) {
    *request.condition += " AND " + TRY(writer.Text(*condition, Binding::kAnd));
  }
  request.names = writer.TakeNames();
  request.values = writer.TakeValues();
  request.return_values = update.returning.value_or(ReturnValues::kNone);
  return request;
}

Result<tables::DeleteRequest> Translate(const Delete& gone, const TableDescription& table) {
  if (gone.returning && *gone.returning != ReturnValues::kAllOld) {
    return Invalid(
        fmt::format("Invalid returning clause: RETURNING {} *. Only RETURNING ALL OLD * is allowed "
                    "in DELETE statements.",
                    NameOf(*gone.returning)));
  }
  Conjuncts conjuncts = ConjunctsOf(gone.where);
  tables::DeleteRequest request{.table = gone.table};
  request.key = TRY(TakeKey(table.keys, &conjuncts));
  Writer writer;
  if (!conjuncts.empty()) {
    request.condition =
        fmt::format("attribute_not_exists({})", writer.Name(table.keys.partition.name));
    *request.condition += " OR " + *TRY(Joined(conjuncts, &writer));
  }
  request.names = writer.TakeNames();
  request.values = writer.TakeValues();
  request.return_values = gone.returning.value_or(ReturnValues::kNone);
  return request;
}

Result<tables::ConditionCheck> Translate(const Exists& exists, const TableDescription& table) {
  const Select& select = exists.select;
  if (select.index) return Invalid("Operations on indices are not supported in transactions");
  Conjuncts conjuncts = ConjunctsOf(select.where);
  auto key = FindKey(table.keys, &conjuncts);
  if (!key || conjuncts.empty()) {
    return Invalid("EXISTS() must contain a single item read with additional condition");
  }
  tables::ConditionCheck check{.table = select.table, .key = *std::move(key)};
  Writer writer;
  check.condition = *TRY(Joined(conjuncts, &writer));
  check.names = writer.TakeNames();
  check.values = writer.TakeValues();
  return check;
}

std::optional<tables::GetRequest> TranslateToGet(const Select& select,
                                                 const TableDescription& table) {
  Conjuncts conjuncts = ConjunctsOf(select.where);
  auto key = FindKey(table.keys, &conjuncts);
  if (select.index || !key || !conjuncts.empty()) return std::nullopt;
  tables::GetRequest get{.table = select.table, .key = *std::move(key)};
  Writer writer;
  AddProjection(select, &writer, &get);
  get.names = writer.TakeNames();
  return get;
}

std::optional<item::Item> KeyOf(const Statement& statement, const TableDescription& table) {
  if (const auto* insert = std::get_if<Insert>(&statement)) {
    item::Item key;
    for (const std::string& name : NamesOf(table.keys)) {
      const item::Value* value = insert->item.Find(name);
      if (value == nullptr) return std::nullopt;
      key.Set(name, *value);
    }
    return key;
  }
  return std::visit(
      [&](const auto& one) -> std::optional<item::Item> {
        const std::optional<Condition>* where = nullptr;
        if constexpr (requires { one.select; }) {
          where = &one.select.where;
        } else if constexpr (requires { one.where; }) {
          where = &one.where;
        }
        Conjuncts conjuncts;
        if (where != nullptr) conjuncts = ConjunctsOf(*where);
        return FindKey(table.keys, &conjuncts);
      },
      statement);
}

item::Item Projected(const Select& select, item::Item item) {
  if (select.projection.empty()) return item;
  item::Item projected;
  for (const Path& path : select.projection) {
    const item::Value* value = FindAt(item, path);
    if (value != nullptr) projected.Set(LastName(path), *value);
  }
  return projected;
}

}  // namespace tidemark::partiql
