// A projection keeps the parts of an item that its paths name. The elements that are kept of a list
// form a list without gaps, in their original order.
//
//   std::vector<Path> paths = TRY(ParseProjection("id, #m.tags[0]", &bindings));
//   Item part = Project(item, paths);
//
// Functions without state: any thread may call them.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "expression/bindings.h"
#include "expression/path.h"
#include "item/value.h"

namespace tidemark::expression {

// Paths that lead to no value are ignored, so the result may be empty. Of two paths that overlap,
// the shorter one is used.
item::Item Project(const item::Item& item, const std::vector<Path>& paths);

// A comma-separated list of paths; fails, with DynamoDB's text, when two overlap.
Result<std::vector<Path>> ParseProjection(std::string_view text, Bindings* bindings);

}  // namespace tidemark::expression
