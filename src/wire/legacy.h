// The parameters that DynamoDB had before expressions. They are translated into expressions while a
// request is read, so that nothing behind this folder knows them.
//
//   Legacy legacy(&fields, &request.names, &request.values);
//   legacy.Update(&request.update);         // AttributeUpdates → "SET #0 = :0"
//   legacy.Condition(&request.condition);   // Expected, ConditionalOperator
//   legacy.Finish();
//
// Call a step after the expressions of the request were read. Errors go to the fields.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tables/requests.h"
#include "wire/fields.h"

namespace tidemark::wire {

struct LegacyCondition;

class Legacy {
 public:
  // All outlive this.
  Legacy(FieldReader* fields, tables::Names* names, tables::Values* values)
      : fields_(*fields), names_(*names), values_(values) {}

  void Projection(std::optional<std::string>* projection);  // AttributesToGet
  void Update(std::optional<std::string>* update);          // AttributeUpdates
  void Condition(std::optional<std::string>* condition);    // Expected
  // QueryFilter or ScanFilter.
  void Filter(std::string_view member, std::optional<std::string>* filter);
  void KeyCondition(std::string* key_condition);  // KeyConditions
  // Refuses a request that has both kinds of parameters.
  void Finish();

 private:
  using Conditions = std::map<std::string, LegacyCondition, std::less<>>;

  // Notes which of the two is given. True: the parameter is to be translated.
  bool Note(std::string_view member, std::string_view expression, bool has_expression);
  void ReadJoining();
  // `member` has the conditions.
  void Translate(std::string_view member, const Conditions& conditions,
                 std::optional<std::string>* expression);
  void NoComparison(std::string_view member, std::string_view attribute);
  std::string ConditionText(const std::string& attribute, const LegacyCondition& condition);
  std::string Name(const std::string& attribute);
  std::string Value(item::Value value);

  FieldReader& fields_;
  tables::Names& names_;
  tables::Values* const values_;
  std::vector<std::string> legacy_;
  std::vector<std::string> expressions_;
  bool joins_by_or_ = false;        // What ConditionalOperator says.
  std::optional<size_t> operands_;  // Of what it joins.
};

}  // namespace tidemark::wire
