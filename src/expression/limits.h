// The limits of expressions, as DynamoDB has them unless said otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark::expression {

// Of the text as it is sent: spaces count, references are not replaced.
inline constexpr size_t kMaxExpressionBytes = 4'096;
// Comparators, AND, OR, NOT, BETWEEN, IN, + and -, and functions.
inline constexpr int kMaxOperators = 300;
// Parentheses within each other. Ours: each needs an operator not to be redundant, so
// nothing that keeps to the other limits comes near, and the parser's stack is bounded.
inline constexpr int kMaxOpenParentheses = kMaxOperators;
inline constexpr size_t kMaxInChoices = 100;
inline constexpr size_t kMaxPathSteps = 32;
inline constexpr uint64_t kMaxListIndex = 2'147'483'647;
// Of "#n" and ":v" as keys of the request's maps.
inline constexpr size_t kMaxReferenceBytes = 255;
// Of all attribute names of one expression once references are replaced. Ours: a short
// text that repeats one long name would otherwise grow to many times its request.
inline constexpr size_t kMaxResolvedNameBytes = 2 * 1024 * 1024;

}  // namespace tidemark::expression
