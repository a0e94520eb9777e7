// A KeyCondition says which items of a partition a query wants: one equality on the
// partition key and at most one condition on the sort key.
//
//   ParsedKeyCondition parsed = TRY(ParseKeyCondition("id = :id AND #at >= :from", &bindings));
//   KeyCondition wanted = TRY(MatchKeySchema(parsed, table.schema));
//
// Plain data and functions without state: any thread may call them. Operands are always
// values of the request, never other attributes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expression/bindings.h"
#include "item/key.h"
#include "item/value.h"

namespace tidemark::expression {

enum class SortOperator {
  kEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kBetween,
  kBeginsWith,
};

struct SortCondition {
  SortOperator op = SortOperator::kEqual;
  item::Value low;   // The operand; for kBetween the lower one.
  item::Value high;  // For kBetween only.
};

struct KeyCondition {
  item::Value partition;
  std::optional<SortCondition> sort;
};

// Parsed, but not yet matched with a key schema: expressions are checked before the
// table is looked up.
struct ParsedKeyCondition {
  struct Term {
    std::string attribute;
    SortCondition condition;
  };
  std::vector<Term> terms;  // At least one, each on another attribute.
};

// Refuses, with DynamoDB's texts, what no key schema could answer: other operators than =,
// <, <=, >, >=, BETWEEN and begins_with, joined by AND; two conditions on one attribute;
// attributes within maps or lists.
Result<ParsedKeyCondition> ParseKeyCondition(std::string_view text, Bindings* bindings);

// Refuses attributes that are not the schema's, operands of the wrong type or empty, and
// anything but an equality on the partition key, with DynamoDB's texts.
Result<KeyCondition> MatchKeySchema(const ParsedKeyCondition& parsed,
                                    const item::KeySchema& schema);

}  // namespace tidemark::expression
