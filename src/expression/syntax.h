// Syntax is an expression as it is written, before its references are looked up. parse.h makes it
// from text, and resolve.h makes from it a tree that can be evaluated (tree.h).
//
// Plain data with views into the text. The text must outlive it.
#pragma once

#include <memory>
#include <string_view>
#include <variant>
#include <vector>

namespace tidemark::expression::syntax {

// A name, or a "#reference" to one.
struct Name {
  std::string_view text;
  bool is_reference() const { return text.front() == '#'; }
};
struct Index {
  std::string_view digits;
};
struct Path {
  std::vector<std::variant<Name, Index>> steps;  // Never empty; the first is a Name.
};

struct ValueReference {
  std::string_view text;  // With its colon.
};

struct Operand;
struct Call {
  std::string_view function;
  std::vector<Operand> arguments;  // Never empty.
};
struct Operand {
  std::variant<Path, ValueReference, Call> node;
};

struct Condition;
struct Comparison {
  std::string_view comparator;
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
struct Not {
  std::unique_ptr<Condition> condition;
};
// "a AND b AND c" is one And with three conditions, so a long chain needs no deep recursion.
struct And {
  std::vector<Condition> conditions;
};
struct Or {
  std::vector<Condition> conditions;
};
struct Condition {
  std::variant<Comparison, Between, In, Call, Not, And, Or> node;
};

struct Arithmetic {
  std::string_view sign;  // "+" or "-".
  Operand left;
  Operand right;
};
struct Set {
  std::variant<Operand, Arithmetic> value;
};
struct Remove {};
struct Add {
  ValueReference value;
};
struct Delete {
  ValueReference value;
};
struct Action {
  Path path;
  std::variant<Set, Remove, Add, Delete> change;
};
struct Update {
  std::vector<Action> actions;
  std::vector<std::string_view> sections;  // "SET", "REMOVE", …: one for each clause, in order.
};

}  // namespace tidemark::expression::syntax
