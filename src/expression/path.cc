#include "expression/path.h"

#include <fmt/format.h>

namespace tidemark::expression {

namespace {

const item::Value* Find(const item::Value& value, const Step& step) {
  if (const auto* name = std::get_if<std::string>(&step)) {
    const auto* map = value.As<item::Map>();
    return map == nullptr ? nullptr : map->Find(*name);
  }
  const auto* list = value.As<item::List>();
  const uint32_t index = std::get<uint32_t>(step);
  return list == nullptr || index >= list->size() ? nullptr : &(*list)[index];
}

}  // namespace

std::string ToString(const Path& path) {
  std::string text = "[";
  for (const Step& step : path.steps) {
    if (text.size() > 1) text += ", ";
    if (const auto* name = std::get_if<std::string>(&step)) {
      text += *name;
    } else {
      text += fmt::format("[{}]", std::get<uint32_t>(step));
    }
  }
  return text + "]";
}

const item::Value* Find(const item::Item& item, const Path& path) {
  const item::Value* value = item.Find(path.attribute());
  for (size_t i = 1; value != nullptr && i < path.steps.size(); ++i)
    value = Find(*value, path.steps[i]);
  return value;
}

}  // namespace tidemark::expression
