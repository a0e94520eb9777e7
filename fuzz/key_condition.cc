// Key conditions: one that matches a schema has operands of the right types. As a condition it
// holds for exactly the keys that it describes.
#include "expression/key_condition.h"

#include "expression/condition.h"
#include "fuzz/expressions.h"

using namespace tidemark;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::TextOf(data, size);
  expression::Bindings bindings = fuzz::SomeBindings();
  const auto parsed = expression::ParseKeyCondition(text, &bindings);
  if (!parsed) return 0;
  // Key conditions and conditions have the same grammar.
  const auto condition = expression::ParseCondition(text, "FilterExpression", &bindings);
  CHECK(condition.has_value());
  for (const item::Type type : {item::Type::kString, item::Type::kNumber, item::Type::kBinary}) {
    const item::KeySchema schema{{"a", type}, item::KeyAttribute{"b", type}};
    const auto matched = expression::MatchKeySchema(*parsed, schema);
    if (!matched) continue;
    CHECK(matched->partition.type() == type);
    item::Item key{{"a", matched->partition}};
    if (matched->sort) {
      CHECK(matched->sort->low.type() == type);
      key.Set("b", matched->sort->low);
    }
    const bool excludes_its_operand =
        matched->sort && (matched->sort->op == expression::SortOperator::kLess ||
                          matched->sort->op == expression::SortOperator::kGreater);
    CHECK(condition->Holds(key) != excludes_its_operand);
  }
  return 0;
}
