// Helpers of the tests of src/expression: the names and values of a request, and short functions
// that write values and parse expressions with them.
//
//   Request request{.names = {{"#n", "name"}}, .values = {{":v", "text"}}};
//   Result<Condition> condition = request.Condition("#n = :v");
//
// For these tests only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "expression/bindings.h"
#include "expression/condition.h"
#include "expression/key_condition.h"
#include "expression/projection.h"
#include "expression/update.h"
#include "item/number.h"
#include "item/value.h"

namespace tidemark::expression {

inline item::Value N(std::string_view text) { return item::Number::Parse(text).value(); }
inline item::Value N(int64_t number) { return item::Number::FromInt(number); }
inline item::Value B(std::string_view bytes) { return item::Binary{std::string(bytes)}; }
inline item::Value L(std::vector<item::Value> elements) { return item::List(std::move(elements)); }
inline item::Value M(item::Map map) { return map; }
inline item::Value SS(std::vector<std::string> members) {
  return item::StringSet(std::move(members));
}
inline item::Value NS(const std::vector<int64_t>& numbers) {
  std::vector<item::Number> members;
  for (const int64_t number : numbers) members.push_back(item::Number::FromInt(number));
  return item::NumberSet(std::move(members));
}
inline item::Value BS(const std::vector<std::string>& texts) {
  std::vector<item::Binary> members;
  for (const std::string& text : texts) members.push_back(item::Binary{text});
  return item::BinarySet(std::move(members));
}

struct Request {
  Names names;
  Values values;

  Bindings MakeBindings() const { return Bindings::Make(names, values, true).value(); }

  Result<expression::Condition> Condition(std::string_view text) const {
    Bindings bindings = MakeBindings();
    return ParseCondition(text, "ConditionExpression", &bindings);
  }
  Result<expression::Update> Update(std::string_view text) const {
    Bindings bindings = MakeBindings();
    return ParseUpdate(text, &bindings);
  }
  Result<std::vector<Path>> Projection(std::string_view text) const {
    Bindings bindings = MakeBindings();
    return ParseProjection(text, &bindings);
  }
  Result<ParsedKeyCondition> KeyCondition(std::string_view text) const {
    Bindings bindings = MakeBindings();
    return ParseKeyCondition(text, &bindings);
  }
};

// The message of the error, or "" on success, so that one table can hold both kinds of cases.
template <typename T>
std::string MessageOf(const Result<T>& result) {
  return result ? std::string() : result.error().message;
}

// One case of a table: a text, and the message that it should give.
struct MessageCase {
  std::string_view text;
  std::string_view message;
};

}  // namespace tidemark::expression
