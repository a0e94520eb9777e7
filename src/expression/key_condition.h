// A KeyCondition says which items of a partition a query reads: one equality on the partition key
// and at most one condition on the sort key. Of a key with several attributes, all of the partition
// key must have an equality, and those of the sort key from the first on; only the last of these
// may have another condition.
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
  // Of the last attribute of the sort key that has a condition. Those before it are equal to
  // `leading_sort`.
  std::optional<SortCondition> sort;
  std::vector<item::Value> more_partition = {};  // As in item::Key.
  std::vector<item::Value> leading_sort = {};
};

// A condition that is parsed, but not yet matched with a key schema. DynamoDB reports errors of the
// expression before it looks up the table, so these are two steps.
struct ParsedKeyCondition {
  struct Term {
    std::string attribute;
    SortCondition condition;
  };
  std::vector<Term> terms;  // At least one, each on another attribute.
};

// Accepts =, <, <=, >, >=, BETWEEN and begins_with, joined by AND. Refuses, with DynamoDB's texts,
// all other operators, two conditions on one attribute, and attributes inside maps or lists.
Result<ParsedKeyCondition> ParseKeyCondition(std::string_view text, Bindings* bindings);

// The condition for a whole partition, attribute = value, without parsing a text.
ParsedKeyCondition WholePartition(const item::Attribute& partition);

// Refuses, with DynamoDB's texts, attributes that are not in the schema, operands that are empty or
// of the wrong type, a partition key without an equality, and a gap in the sort key.
Result<KeyCondition> MatchKeySchema(const ParsedKeyCondition& parsed,
                                    const item::KeySchema& schema);

}  // namespace tidemark::expression
