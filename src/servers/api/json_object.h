// Makes the text of a JSON object. `fill` writes the members.
//
//   return ObjectOf([&](JsonWriter* writer) { writer->Key("id"); writer->String(id); });
#pragma once

#include <string>

#include "base/json.h"

namespace tidemark::api {

template <typename Fill>
std::string ObjectOf(const Fill& fill) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  fill(&writer);
  writer.EndObject();
  return text;
}

}  // namespace tidemark::api
