// Syntax is an expression as written: names not yet looked up, values not yet known.
// parse.h makes it from text; resolve.h turns it into what can be evaluated (tree.h).
//
// Plain data that keeps views into the text, which must outlive it.
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
// Chains are kept flat: "a AND b AND c" is one And of three.
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
  std::vector<std::string_view> sections;  // "SET", "REMOVE", …: one a clause, as they stand.
};

}  // namespace tidemark::expression::syntax
