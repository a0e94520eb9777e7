// Parses the short forms of the command line: keys (id:S), indexes
// (by-team:team:S:created:N:keys), stream views, tags (owner=ann), and items, names and values as
// JSON.
//
// Every error begins with the name of the option, and ends with a correct example.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"
#include "tables/requests.h"
#include "tables/schema.h"

namespace tidemark::programs {

// An option and its value.
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
// The same for a line of a file, whose errors name no option.
Result<item::Item> ParseItemLine(std::string_view text);
// {"#c":"count"}; an empty text is no names.
Result<tables::Names> ParseNames(const Argument& argument);
// {":one":{"N":"1"}}; an empty text is no values.
Result<tables::Values> ParseValues(const Argument& argument);

}  // namespace tidemark::programs
