// The shorthands of the command line, from text to the types of tables: keys (id:S), indexes
// (by-team:team:S:created:N:keys), stream views, tags (owner=ann), and items, names and values
// as JSON.
//
// Every error begins with the option it is about, and ends with what would be right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"
#include "tables/requests.h"
#include "tables/schema.h"

namespace tidemark::programs {

// An option and the text it was given.
struct Argument {
  std::string_view option;  // "--key"
  std::string_view text;
};

// NAME:TYPE, the type being S, N or B.
Result<item::KeyAttribute> ParseKeyAttribute(const Argument& argument);

// NAME:KEY:TYPE[:SORT:TYPE][:PROJECTION], where PROJECTION is all, keys or include=a,b.
Result<tables::IndexSpec> ParseGlobalIndex(const Argument& argument);

// NAME:SORT:TYPE[:PROJECTION]; the partition key is the table's.
Result<tables::IndexSpec> ParseLocalIndex(const Argument& argument,
                                          const item::KeyAttribute& partition);

// keys, new, old or new-and-old.
Result<tables::StreamView> ParseStreamView(const Argument& argument);
std::string_view ToString(tables::StreamView view);

// NAME=VALUE each.
Result<tables::Tags> ParseTags(std::string_view option, const std::vector<std::string>& texts);

// {"id":{"S":"a"}}
Result<item::Item> ParseItem(const Argument& argument);
// {"#c":"count"}; empty text gives none.
Result<tables::Names> ParseNames(const Argument& argument);
// {":one":{"N":"1"}}; empty text gives none.
Result<tables::Values> ParseValues(const Argument& argument);

}  // namespace tidemark::programs
