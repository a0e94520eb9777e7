// Parses the text of an expression into its syntax: a recursive descent over tokens,
// linear in the text and bounded in depth.
//
// Each function fails with DynamoDB's text, without the "Invalid …Expression: " before
// it: for an expression that is empty or too long, a token that cannot stand where it
// does, parentheses around parentheses, and too many operators. What it returns keeps
// views into the text.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expression/syntax.h"

namespace tidemark::expression {

Result<syntax::Condition> ParseConditionSyntax(std::string_view text);
// The same with a text of its own. Callers send the same few again and again: the last ones of each
// thread are kept, and not parsed anew.
Result<std::shared_ptr<const syntax::Condition>> RecallConditionSyntax(std::string_view text);
Result<syntax::Update> ParseUpdateSyntax(std::string_view text);
Result<std::vector<syntax::Path>> ParseProjectionSyntax(std::string_view text);

}  // namespace tidemark::expression
