// The tags of a table: [{"Key": "team", "Value": "search"}].
#pragma once

#include <string>

#include "tables/schema.h"
#include "wire/fields.h"

namespace tidemark::wire {

template <>
struct Codec<tables::Tags> {
  static void Write(const tables::Tags& tags, JsonWriter* writer) {
    writer->BeginArray();
    for (const auto& [key, value] : tags) {
      writer->BeginObject();
      FieldWriter fields(writer);
      fields.Required("Key", key);
      fields.Required("Value", value);
      writer->EndObject();
    }
    writer->EndArray();
  }
  static Status Read(const Json& json, const Place& place, tables::Tags* tags) {
    if (!json.IsArray()) return item::NotAList(json);
    size_t number = 0;
    for (const Json element : json.Elements()) {
      const Place tag = place.Element(++number);
      if (!element.IsObject()) return NotAStructure(element, tag, "Tag");
      std::string key;
      FieldReader fields(element, tag);
      fields.Required("Key", key);
      fields.Required("Value", (*tags)[key]);
    }
    return Done{};
  }
};

}  // namespace tidemark::wire
