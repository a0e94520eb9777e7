// JSON: a text that parses can be read and written, and the written text parses to the same value.
#include "base/json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

namespace {

using tidemark::Json;
using tidemark::JsonDocument;
using tidemark::JsonKind;
using tidemark::JsonWriter;

void Write(Json json, JsonWriter* writer);

void WriteObject(Json json, JsonWriter* writer) {
  writer->BeginObject();
  for (const auto& [name, value] : json.Members()) {
    writer->Key(name);
    Write(value, writer);
  }
  writer->EndObject();
}

void WriteArray(Json json, JsonWriter* writer) {
  writer->BeginArray();
  for (Json element : json.Elements()) Write(element, writer);
  writer->EndArray();
}

void Write(Json json, JsonWriter* writer) {
  switch (json.kind()) {
    case JsonKind::kObject:
      return WriteObject(json, writer);
    case JsonKind::kArray:
      return WriteArray(json, writer);
    case JsonKind::kString:
      return writer->String(*json.AsString());
    case JsonKind::kBool:
      return writer->Bool(*json.AsBool());
    case JsonKind::kNull:
      return writer->Null();
    case JsonKind::kNumber:
      if (auto integer = json.AsInt()) return writer->Int(*integer);
      return writer->Double(*json.AsDouble());
  }
}

bool Same(Json left, Json right);

bool SameMembers(Json left, Json right) {
  auto other = right.Members().begin();
  for (const auto& [name, value] : left.Members()) {
    if (name != (*other).name || !Same(value, (*other).value)) return false;
    ++other;
  }
  return other == right.Members().end();
}

bool SameElements(Json left, Json right) {
  auto other = right.Elements().begin();
  for (Json element : left.Elements()) {
    if (!Same(element, *other)) return false;
    ++other;
  }
  return other == right.Elements().end();
}

bool Same(Json left, Json right) {
  return left.kind() == right.kind() && left.Size() == right.Size() &&
         left.AsString() == right.AsString() && left.AsBool() == right.AsBool() &&
         left.AsInt() == right.AsInt() && left.AsDouble() == right.AsDouble() &&
         SameMembers(left, right) && SameElements(left, right);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto first = JsonDocument::Parse({reinterpret_cast<const char*>(data), size});
  if (!first) return 0;
  std::string text;
  JsonWriter writer(&text);
  Write(first->root(), &writer);
  auto second = JsonDocument::Parse(text);
  CHECK(second.has_value());
  CHECK(Same(first->root(), second->root()));
  return 0;
}
