// Trees are expressions ready to be evaluated: every name and value is known, and every
// check that needs no item is done. resolve.h makes them from syntax; condition.cc and
// update.cc evaluate them.
//
// Plain data. A tree owns its values once each, however often the text mentions them,
// and its nodes point at them: trees are not copied.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "expression/path.h"
#include "item/value.h"

namespace tidemark::expression {

// The values of a tree, by the address of the request's value they are copied from.
using OwnedValues = std::map<const item::Value*, item::Value>;

struct SizeOf {
  std::variant<Path, const item::Value*> measured;
};
using Operand = std::variant<Path, const item::Value*, SizeOf>;

enum class Comparator { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

struct ConditionNode;
struct Comparison {
  Comparator comparator;
  Operand left;
  Operand right;
};
struct Between {
  Operand operand;
  Operand low;
  Operand high;
};
struct In {
  Operand operand;
  std::vector<Operand> choices;
};
struct Exists {
  Path path;
};
struct NotExists {
  Path path;
};
struct HasType {
  Path path;
  item::Type type;
};
struct BeginsWith {
  Operand operand;
  Operand prefix;
};
struct Contains {
  Operand operand;
  Operand part;
};
struct Not {
  std::unique_ptr<ConditionNode> condition;
};
struct And {
  std::vector<ConditionNode> conditions;
};
struct Or {
  std::vector<ConditionNode> conditions;
};
struct ConditionNode {
  std::variant<Comparison, Between, In, Exists, NotExists, HasType, BeginsWith, Contains, Not, And,
               Or>
      node;
};
struct ConditionTree {
  OwnedValues values;
  std::vector<std::string> attributes;  // That its paths begin with; some several times.
  ConditionNode root;
};

struct Source;
struct IfNotExists {
  Path path;
  std::unique_ptr<Source> otherwise;
};
struct ListAppend {
  std::unique_ptr<Source> front;
  std::unique_ptr<Source> back;
};
struct Sum {
  std::unique_ptr<Source> left;
  std::unique_ptr<Source> right;
};
struct Difference {
  std::unique_ptr<Source> left;
  std::unique_ptr<Source> right;
};
// Where SET takes a value from.
struct Source {
  std::variant<Path, const item::Value*, IfNotExists, ListAppend, Sum, Difference> node;
};

struct SetChange {
  Source source;
};
struct RemoveChange {};
struct AddChange {
  const item::Value* operand;  // A number or a set.
};
struct DeleteChange {
  const item::Value* operand;  // A set.
};
using Change = std::variant<SetChange, RemoveChange, AddChange, DeleteChange>;
struct Action {
  Path path;
  Change change;
};
struct UpdateTree {
  OwnedValues values;
  std::vector<Action> actions;  // Sorted by path; none overlaps another.
};

}  // namespace tidemark::expression
