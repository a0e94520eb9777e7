// AttributeDefinitions: the types of all attributes that the keys of a table and of its indexes
// use.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/result.h"
#include "item/key.h"
#include "tables/schema.h"
#include "wire/fields.h"
#include "wire/names.h"

namespace tidemark::wire {

// An attribute of a key with its type. A message has all of them in one list, apart from the keys.
template <typename F>
void Describe(F& fields, Ref<F, item::KeyAttribute> attribute) {
  fields.Required("AttributeName", attribute.name);
  fields.Required("AttributeType", attribute.type);
}

template <>
inline constexpr std::string_view kJavaName<item::KeyAttribute> = "AttributeDefinition";

using Definitions = std::vector<item::KeyAttribute>;

inline void Collect(const item::KeySchema& keys, Definitions* definitions) {
  const auto add = [&](const item::KeyAttribute& attribute) {
    const bool is_new = std::ranges::find(*definitions, attribute) == definitions->end();
    if (is_new) definitions->push_back(attribute);
  };
  for (const item::KeyAttribute* attribute : item::AttributesOf(keys)) add(*attribute);
}

inline void Collect(const tables::IndexSpec& index, Definitions* definitions) {
  Collect(index.keys, definitions);
}
inline void Collect(const tables::IndexDescription& index, Definitions* definitions) {
  Collect(index.spec.keys, definitions);
}

inline Definitions CopiesOf(const item::KeySchema& keys) {
  Definitions attributes;
  for (const item::KeyAttribute* one : item::AttributesOf(keys)) attributes.push_back(*one);
  return attributes;
}

inline std::string NamesIn(const Definitions& definitions) {
  std::vector<std::string> names;
  for (const item::KeyAttribute& attribute : definitions) names.push_back(attribute.name);
  return fmt::format("[{}]", fmt::join(names, ", "));
}

inline Error ThroughputOnDemand() {
  return Invalid(
      "One or more parameter values were invalid: Neither ReadCapacityUnits nor "
      "WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
}

// Sets the types of the keys, which the key schema of a message does not have.
class Types {
 public:
  Types(const Definitions& definitions, Kind kind) : definitions_(definitions), kind_(kind) {}

  Status SetIn(item::KeySchema* keys) {
    bool all = SetIn(&keys->partition);
    for (item::KeyAttribute& more : keys->more_partition) all &= SetIn(&more);
    if (keys->sort) all &= SetIn(&*keys->sort);
    for (item::KeyAttribute& more : keys->more_sort) all &= SetIn(&more);
    if (all || kind_ == Kind::kReply) return Done{};
    return Invalid(fmt::format(
        "One or more parameter values were invalid: Some index key attributes are not defined in "
        "AttributeDefinitions. Keys: {}, AttributeDefinitions: {}",
        NamesIn(CopiesOf(*keys)), NamesIn(definitions_)));
  }
  Status CheckEnoughFor(const item::KeySchema& keys) const {
    if (item::AttributesOf(keys).size() <= definitions_.size()) return Done{};
    return Invalid("Invalid KeySchema: Some index key attribute have no definition");
  }
  Status CheckNamesDiffer() const {
    for (auto at = definitions_.begin(); at != definitions_.end(); ++at) {
      const auto same =
          std::ranges::find(std::next(at), definitions_.end(), at->name, &item::KeyAttribute::name);
      if (same == definitions_.end()) continue;
      return Invalid(
          fmt::format("One or more parameter values were invalid: Duplicate AttributeName found in "
                      "AttributeDefinitions: {}",
                      at->name));
    }
    return Done{};
  }
  // A new table must use every attribute that it defines.
  Status CheckAllUsed(const Definitions& used, bool has_indexes) const {
    const bool all_used = std::ranges::all_of(definitions_, [&](const auto& defined) {
      return std::ranges::find(used, defined.name, &item::KeyAttribute::name) != used.end();
    });
    if (all_used) return Done{};
    if (!has_indexes) {
      return Invalid(
          "One or more parameter values were invalid: Number of attributes in KeySchema does not "
          "exactly match number of attributes defined in AttributeDefinitions");
    }
    return Invalid(
        fmt::format("One or more parameter values were invalid: Some AttributeDefinitions are not "
                    "used. AttributeDefinitions: {}, keys used: {}",
                    NamesIn(definitions_), NamesIn(used)));
  }

 private:
  // False: it is not defined.
  bool SetIn(item::KeyAttribute* attribute) {
    const auto defined =
        std::ranges::find(definitions_, attribute->name, &item::KeyAttribute::name);
    if (defined == definitions_.end()) return false;
    attribute->type = defined->type;
    return true;
  }

  const Definitions& definitions_;
  const Kind kind_;
};

}  // namespace tidemark::wire
