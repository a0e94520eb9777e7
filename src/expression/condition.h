// A Condition decides about an item: ConditionExpression and FilterExpression.
//
//   Condition condition = TRY(ParseCondition("attribute_not_exists(id) OR #t <= :now",
//                                            "ConditionExpression", &bindings));
//   if (condition.Holds(item)) ...
//
// Parsing checks everything that can be checked without an item, in time linear in the text.
// A Condition keeps nothing of the request, and any thread may use it.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "expression/bindings.h"
#include "item/value.h"

namespace tidemark::expression {

struct ConditionTree;

class Condition {
 public:
  explicit Condition(std::shared_ptr<const ConditionTree> tree);

  // For an absent item, pass an empty one. Never fails: a comparison of values that cannot be
  // compared is false.
  bool Holds(const item::Item& item) const;

  // The top-level attributes that the text uses.
  std::set<std::string> Attributes() const;

 private:
  std::shared_ptr<const ConditionTree> tree_;
};

// `kind` is the parameter's name, which begins every message: "Invalid FilterExpression: …".
Result<Condition> ParseCondition(std::string_view text, std::string_view kind, Bindings* bindings);

}  // namespace tidemark::expression
