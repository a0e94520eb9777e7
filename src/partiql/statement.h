// A PartiQL statement after it was parsed. Plain data. Parameters (?) are replaced by their values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "item/value.h"
#include "tables/requests.h"

namespace tidemark::partiql {

// "a"."b"[0]: names and indexes of lists. It begins with a name.
using Step = std::variant<std::string, uint32_t>;
struct Path {
  std::vector<Step> steps;
  friend bool operator==(const Path&, const Path&) = default;
};

struct Call;
struct Operand {
  std::variant<Path, item::Value, std::unique_ptr<Call>> node;
};
struct Call {
  std::string function;  // In small letters.
  std::vector<Operand> arguments;
};

struct Condition;
struct All {
  std::vector<Condition> conditions;
};
struct Any {
  std::vector<Condition> conditions;
};
struct Not {
  std::unique_ptr<Condition> condition;
};
struct Comparison {
  std::string comparator;  // = <> < <= > >=
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
// IS MISSING, IS NULL.
enum class Kind { kMissing, kNull };
struct Is {
  Path path;
  Kind kind;
};
struct Condition {
  std::variant<All, Any, Not, Comparison, Between, In, Is, Call> node;
};

struct Select {
  std::vector<Path> projection;  // Empty: *
  std::string table;
  std::optional<std::string> index;
  std::optional<Condition> where;
  struct Order {
    Path path;
    bool descending = false;
  };
  std::vector<Order> order;
};

struct Insert {
  std::string table;
  item::Item item;
};

struct Remove {};
struct Sum {
  char sign;
  Operand left;
  Operand right;
};
struct Assignment {
  Path path;
  std::variant<Remove, Operand, Sum> change;
};

struct Update {
  std::string table;
  std::vector<Assignment> assignments;
  std::optional<Condition> where;
  std::optional<tables::ReturnValues> returning;
};

struct Delete {
  std::string table;
  std::optional<Condition> where;
  std::optional<tables::ReturnValues> returning;
};

// EXISTS(SELECT …): a condition of a transaction. It changes nothing.
struct Exists {
  Select select;
};

using Statement = std::variant<Select, Insert, Update, Delete, Exists>;

inline const std::string& TableOf(const Statement& statement) {
  return std::visit(
      [](const auto& one) -> const std::string& {
        if constexpr (requires { one.select; }) {
          return one.select.table;
        } else {
          return one.table;
        }
      },
      statement);
}
// Whether it changes an item.
inline bool Writes(const Statement& statement) {
  return !std::holds_alternative<Select>(statement) && !std::holds_alternative<Exists>(statement);
}

}  // namespace tidemark::partiql
