// Trees are expressions that can be evaluated. Names and values are known, and everything that can
// be checked without an item is checked. resolve.h makes trees from syntax; condition.cc and
// update.cc evaluate them.
//
// Plain data. A tree owns one copy of each value, even if the text uses the value often. Its nodes
// point to these copies, so trees are not copied.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "expression/path.h"
#include "item/value.h"

namespace tidemark::expression {

// The values of a tree. The key is the address of the value in the request. A map never moves its
// elements, so nodes may point to them.
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
// The right side of SET.
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
