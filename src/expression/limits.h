// The limits of expressions. They are DynamoDB's, except where the comment says that they are ours.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark::expression {

// The length of the text as the caller sends it, with spaces, before references are replaced.
inline constexpr size_t kMaxExpressionBytes = 4'096;
// Counts comparators, AND, OR, NOT, BETWEEN, IN, + and -, and functions.
inline constexpr int kMaxOperators = 300;
// How deep parentheses may be nested. This limit is ours, and it limits the recursion of the
// parser. It refuses nothing that DynamoDB accepts: a pair of parentheses without an operator is
// redundant and refused, so an expression within kMaxOperators does not nest deeper.
inline constexpr int kMaxOpenParentheses = kMaxOperators;
inline constexpr size_t kMaxInChoices = 100;
inline constexpr size_t kMaxPathSteps = 32;
inline constexpr uint64_t kMaxListIndex = 2'147'483'647;
// The length of a key such as "#n" or ":v" in the maps of a request.
inline constexpr size_t kMaxReferenceBytes = 255;
// The length of all attribute names of one expression after references are replaced. This limit is
// ours. A name has up to 64 KB, and a short text can refer to it a thousand times: without a limit
// a small request would need very much memory.
inline constexpr size_t kMaxResolvedNameBytes = 2 * 1024 * 1024;

}  // namespace tidemark::expression
