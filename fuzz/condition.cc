// Conditions: a condition that parses has an answer for every item. Its negation has the opposite
// answer. The answer depends only on the attributes that Attributes() returns.
#include "expression/condition.h"

#include <string>

#include "fuzz/expressions.h"

using namespace tidemark;  // NOLINT: a program of one function

namespace {

item::Item OnlyMentioned(const item::Item& whole, const expression::Condition& condition) {
  item::Item part;
  for (const std::string& name : condition.Attributes()) {
    if (const item::Value* value = whole.Find(name)) part.Set(name, *value);
  }
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(fuzz::TextOf(data, size));
  expression::Bindings bindings = fuzz::SomeBindings();
  const auto parsed = expression::ParseCondition(text, "FilterExpression", &bindings);
  if (!parsed) return 0;
  // Fails only for a text that is already in parentheses or at a limit.
  const auto negated =
      expression::ParseCondition("NOT (" + text + ")", "FilterExpression", &bindings);
  for (const item::Item& item : fuzz::SomeItems()) {
    const bool holds = parsed->Holds(item);
    CHECK(parsed->Holds(OnlyMentioned(item, *parsed)) == holds);
    CHECK(!negated || negated->Holds(item) != holds);
  }
  return 0;
}
