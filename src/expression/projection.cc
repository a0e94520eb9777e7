#include "expression/projection.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "expression/parse.h"
#include "expression/resolve.h"

namespace tidemark::expression {

namespace {

using item::List;
using item::Map;
using item::Value;

using Paths = std::span<const Path* const>;

std::optional<Value> Project(const Value& value, Paths paths, size_t depth);

// Removes from the front, and returns, the paths that have the same step at this depth.
Paths TakeGroup(Paths* paths, size_t depth) {
  const Step& step = paths->front()->steps[depth];
  size_t count = 1;
  while (count < paths->size() && (*paths)[count]->steps[depth] == step) ++count;
  const Paths group = paths->first(count);
  *paths = paths->subspan(count);
  return group;
}

Map Project(const Map& map, Paths paths, size_t depth) {
  Map projected;
  while (!paths.empty()) {
    const Paths group = TakeGroup(&paths, depth);
    const auto* name = std::get_if<std::string>(&group.front()->steps[depth]);
    const Value* value = name == nullptr ? nullptr : map.Find(*name);
    if (value == nullptr) continue;
    std::optional<Value> part = Project(*value, group, depth + 1);
    if (part) projected.Append(*name, std::move(*part));
  }
  return projected;
}

List Project(const List& list, Paths paths, size_t depth) {
  List projected;
  while (!paths.empty()) {
    const Paths group = TakeGroup(&paths, depth);
    const auto* index = std::get_if<uint32_t>(&group.front()->steps[depth]);
    if (index == nullptr || *index >= list.size()) continue;
    std::optional<Value> part = Project(list[*index], group, depth + 1);
    if (part) projected.push_back(std::move(*part));
  }
  return projected;
}

// nullopt when no path leads to a value: then the map or list around it is left out too.
std::optional<Value> Project(const Value& value, Paths paths, size_t depth) {
  // Paths are sorted, so a path that ends here is before those that are longer.
  if (paths.front()->steps.size() == depth) return value;
  if (const auto* map = value.As<Map>()) {
    Map part = Project(*map, paths, depth);
    if (!part.empty()) return Value(std::move(part));
  } else if (const auto* list = value.As<List>()) {
    List part = Project(*list, paths, depth);
    if (!part.empty()) return Value(std::move(part));
  }
  return std::nullopt;
}

Result<std::vector<Path>> ParsePaths(std::string_view text, Bindings* bindings) {
  const std::vector<syntax::Path> parsed = TRY(ParseProjectionSyntax(text));
  return ResolveProjection(parsed, bindings);
}

}  // namespace

item::Item Project(const item::Item& item, const std::vector<Path>& paths) {
  std::vector<const Path*> sorted;
  sorted.reserve(paths.size());
  for (const Path& path : paths) sorted.push_back(&path);
  std::sort(sorted.begin(), sorted.end(),
            [](const Path* left, const Path* right) { return left->steps < right->steps; });
  return Project(item, sorted, 0);
}

Result<std::vector<Path>> ParseProjection(std::string_view text, Bindings* bindings) {
  auto paths = ParsePaths(text, bindings);
  if (!paths) return InExpression("ProjectionExpression", std::move(paths).error());
  return paths;
}

}  // namespace tidemark::expression
