// Parses PartiQL as DynamoDB has it: SELECT, INSERT, UPDATE and DELETE on one table, and EXISTS.
//
//   Statement statement = TRY(Parse("SELECT * FROM t WHERE id = ?", {"a"}));
//
// A pure function. It takes linear time, and its recursion is limited.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"
#include "partiql/statement.h"

namespace tidemark::partiql {

// Longer statements are refused.
inline constexpr size_t kMaxStatementBytes = 8'192;
// How deep parentheses and values may be nested. Ours: it limits the recursion.
inline constexpr int kMaxDepth = 64;

// kInvalid with DynamoDB's text. The number of parameters must be that of the question marks.
Result<Statement> Parse(std::string_view text, std::vector<item::Value> parameters);

}  // namespace tidemark::partiql
