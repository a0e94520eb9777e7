// Resolves the syntax of an expression into its tree. This replaces references by the names and
// values of the request. It also checks everything that can be checked without an item: reserved
// words, functions and their operands, types of values, and paths that overlap.
//
// Errors are DynamoDB's texts without the "Invalid …Expression: " at their beginning. The bindings
// remember which references were used.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expression/bindings.h"
#include "expression/path.h"
#include "expression/syntax.h"
#include "expression/tree.h"

namespace tidemark::expression {

Result<std::shared_ptr<const ConditionTree>> ResolveCondition(const syntax::Condition& condition,
                                                              Bindings* bindings);
// The same for the text of a condition. Its syntax is parsed once and remembered.
Result<std::shared_ptr<const ConditionTree>> ResolveConditionText(std::string_view text,
                                                                  Bindings* bindings);
Result<std::shared_ptr<const UpdateTree>> ResolveUpdate(const syntax::Update& update,
                                                        Bindings* bindings);
Result<std::vector<Path>> ResolveProjection(const std::vector<syntax::Path>& paths,
                                            Bindings* bindings);

// "Invalid FilterExpression: …": names the parameter that an error is about.
Error InExpression(std::string_view kind, Error error);

// The rest of this file is for the three functions above.

// Looks up references, and copies each value that is used into the tree. Both pointers must outlive
// this object.
class References {
 public:
  References(Bindings* bindings, OwnedValues* values) : bindings_(bindings), values_(values) {}

  Result<Path> Resolve(const syntax::Path& path);
  Result<const item::Value*> Resolve(const syntax::ValueReference& reference);

 private:
  Result<std::string> Resolve(const syntax::Name& name);

  Bindings* bindings_;
  OwnedValues* values_;
  size_t name_bytes_ = 0;
};

// Refuses reserved words and indexes out of range.
Status VerifyForm(const syntax::Path& path);

// Refuses two paths that overlap (one is the beginning of the other: a and a.b) or conflict (they
// use the same value as a list and as a map: a[0] and a.b). The pointers must point into one array
// in the order of the text, because the error names the path that is written first as path one.
Status VerifyDistinct(std::vector<const Path*> paths);

// How a function may be used: as a condition, as an operand of a condition, or in SET.
enum class Role { kCondition, kOperand, kSource };

struct Function {
  std::string_view name;
  size_t operands;
  Role role;
};

// Refuses a name that is not a function. Names are case-sensitive.
Result<Function> FindFunction(std::string_view name);

// DynamoDB's errors for a function or operator with an operand of a wrong type, with too many or
// too few operands, and with a value where it needs a path.
Error WrongOperandType(std::string_view function, std::string_view type);
Error WrongOperandCount(const syntax::Call& call);
Error PathRequired(std::string_view function);

}  // namespace tidemark::expression
