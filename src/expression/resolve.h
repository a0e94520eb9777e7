// Resolves an expression's syntax into its tree: replaces references by the names and
// values of the request, and checks all that needs no item, such as reserved words,
// functions and their operands, types of values, and paths that overlap.
//
// Each function fails with DynamoDB's text, without the "Invalid …Expression: " before
// it. References are marked as used in the bindings on the way.
#pragma once

#include <memory>
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
Result<std::shared_ptr<const UpdateTree>> ResolveUpdate(const syntax::Update& update,
                                                        Bindings* bindings);
Result<std::vector<Path>> ResolveProjection(const std::vector<syntax::Path>& paths,
                                            Bindings* bindings);

// "Invalid FilterExpression: …": names the parameter that an error is about.
Error InExpression(std::string_view kind, Error error);

// What the three above share.

// Looks references up, and gives values a home in the tree. Both pointers must outlive it.
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

// Refuses two paths of which one holds the other, or which take one place for a list and
// for a map. The paths lie in one array, in the order in which they are written.
Status VerifyDistinct(std::vector<const Path*> paths);

// Where a function may stand.
enum class Role { kCondition, kOperand, kSource };

struct Function {
  std::string_view name;
  size_t operands;
  Role role;
};

// Refuses a name that no function has; names are case-sensitive.
Result<Function> FindFunction(std::string_view name);

// Errors in DynamoDB's words: a function or operator with an operand of a type it does not
// take, with too many or too few operands, without the path it needs.
Error WrongOperandType(std::string_view function, std::string_view type);
Error WrongOperandCount(const syntax::Call& call);
Error PathRequired(std::string_view function);

}  // namespace tidemark::expression
