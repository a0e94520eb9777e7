// Parses the text of an expression into its syntax. It is a recursive descent over tokens, takes
// time linear in the text, and its depth is limited.
//
// Each function refuses an expression that is empty or too long, an unexpected token, redundant
// parentheses, and too many operators. Errors are DynamoDB's texts without the
// "Invalid …Expression: " at their beginning. The syntax contains views into the text.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expression/syntax.h"

namespace tidemark::expression {

Result<syntax::Condition> ParseConditionSyntax(std::string_view text);
Result<syntax::Update> ParseUpdateSyntax(std::string_view text);
Result<std::vector<syntax::Path>> ParseProjectionSyntax(std::string_view text);

// The same, but the result owns a copy of the text. Callers send the same few conditions and
// updates again and again, so each thread keeps the last ones and does not parse them again.
Result<std::shared_ptr<const syntax::Condition>> RecallConditionSyntax(std::string_view text);
Result<std::shared_ptr<const syntax::Update>> RecallUpdateSyntax(std::string_view text);

}  // namespace tidemark::expression
