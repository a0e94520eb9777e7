// Bindings are the names and values that a request supplies for its expressions:
// ExpressionAttributeNames ("#n" → "name") and ExpressionAttributeValues (":v" → value). They
// remember which were used, because DynamoDB refuses a request with unused ones.
//
// A request makes one Bindings, parses all its expressions with it, and asks AllUsed
// at the end. Not for use by two threads at once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"

namespace tidemark::expression {

using Names = std::map<std::string, std::string, std::less<>>;   // "#n" → attribute name
using Values = std::map<std::string, item::Value, std::less<>>;  // ":v" → value

class Bindings {
 public:
  // Both must outlive this. Refuses keys that are not "#" or ":" followed by letters, digits and
  // underscores. Refuses names or values when the request has no expression.
  static Result<Bindings> Make(const Names& names, const Values& values, bool has_expression);

  // The attribute name behind "#n", and the value behind ":v"; nullptr when not supplied.
  const std::string* UseName(std::string_view reference);
  const item::Value* UseValue(std::string_view reference);

  // Fails if a name or value was not used by any expression. The error lists the unused ones.
  Status AllUsed() const;

 private:
  Bindings(const Names* names, const Values* values) : names_(names), values_(values) {}

  const Names* names_;
  const Values* values_;
  std::vector<const void*> used_;  // Addresses of names and values, one for each use.
};

}  // namespace tidemark::expression
