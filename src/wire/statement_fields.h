// The members that every request with PartiQL statements has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "item/value.h"
#include "partiql/parse.h"
#include "tables/requests.h"
#include "wire/fields.h"
#include "wire/names.h"

namespace tidemark::wire {

struct StatementText {
  std::string statement;
  std::optional<std::vector<item::Value>> parameters;
};

inline void DescribeStatement(FieldReader& fields, StatementText& text,
                              tables::OnConditionFailure& on_failure) {
  fields.Required("Statement", text.statement);
  if (fields.Find("Statement")) {
    fields.CheckLength("Statement", std::optional(text.statement), 1, partiql::kMaxStatementBytes);
  }
  fields.Optional("Parameters", text.parameters);
  if (text.parameters) fields.CheckCount("Parameters", *text.parameters, 1, kMaxElements);
  fields.Default("ReturnValuesOnConditionCheckFailure", on_failure,
                 tables::OnConditionFailure::kNone);
}

}  // namespace tidemark::wire
