#include "base/json_body.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemark {

Result<JsonBody> JsonBody::Parse(std::string_view text,
                                 std::initializer_list<std::string_view> known) {
  auto document =
      std::make_shared<const JsonDocument>(TRY(JsonDocument::Parse(text).WithContext("the body")));
  if (!document->root().IsObject()) return Invalid("the body should be a JSON object");
  TRY(CheckFields(document->root(), "", known));
  const Json root = document->root();
  return JsonBody(std::move(document), root, "");
}

Status JsonBody::CheckFields(Json object, const std::string& name,
                             std::initializer_list<std::string_view> known) {
  // JSON allows a name twice, and parsers differ in which value they use. A proxy that checks a
  // request could see another value than we do.
  std::set<std::string_view> seen;
  for (const auto& [field, value] : object.Members()) {
    if (std::ranges::find(known, field) == known.end()) {
      return Invalid(fmt::format("the field '{}{}' is not known here; the fields are: {}", name,
                                 field, fmt::join(known, ", ")));
    }
    if (!seen.insert(field).second) {
      return Invalid(fmt::format("the field '{}{}' is given twice", name, field));
    }
  }
  return Done{};
}

std::optional<Json> JsonBody::Find(std::string_view field) const {
  auto value = object_.Find(field);
  if (value && value->IsNull()) return std::nullopt;
  return value;
}

Result<Json> JsonBody::Require(std::string_view field) const {
  const auto value = Find(field);
  if (!value) return Invalid(fmt::format("the field '{}{}' is missing", name_, field));
  return *value;
}

Error JsonBody::WrongKind(std::string_view field, std::string_view expected, Json found) const {
  return Invalid(fmt::format("the field '{}{}' should be {}, not {}", name_, field, expected,
                             ToString(found.kind())));
}

Result<std::string> JsonBody::Text(std::string_view field) const {
  const Json value = TRY(Require(field));
  const auto text = value.AsString();
  if (!text) return WrongKind(field, "a string", value);
  return std::string(*text);
}

Result<int64_t> JsonBody::Integer(std::string_view field) const {
  const Json value = TRY(Require(field));
  const auto number = value.AsInt();
  if (!number) return WrongKind(field, "a whole number", value);
  return *number;
}

Result<std::vector<std::string>> JsonBody::Texts(std::string_view field) const {
  return TextsIn(field, Nulls::kRefused);
}

Result<std::vector<std::string>> JsonBody::KnownTexts(std::string_view field) const {
  return TextsIn(field, Nulls::kPassedOver);
}

Result<std::vector<std::string>> JsonBody::TextsIn(std::string_view field, Nulls nulls) const {
  const Json value = TRY(Require(field));
  if (!value.IsArray()) return WrongKind(field, "an array of strings", value);
  std::vector<std::string> texts;
  for (Json element : value.Elements()) {
    if (nulls == Nulls::kPassedOver && element.IsNull()) continue;
    const auto text = element.AsString();
    if (!text) return WrongKind(field, "an array of strings", element);
    texts.emplace_back(*text);
  }
  return texts;
}

Result<JsonBody> JsonBody::Object(std::string_view field,
                                  std::initializer_list<std::string_view> known) const {
  const Json value = TRY(Require(field));
  if (!value.IsObject()) return WrongKind(field, "an object", value);
  std::string name = fmt::format("{}{}.", name_, field);
  TRY(CheckFields(value, name, known));
  return JsonBody(document_, value, std::move(name));
}

Result<std::string> JsonBody::TextOr(std::string_view field, std::string_view fallback) const {
  if (!Has(field)) return std::string(fallback);
  return Text(field);
}

Result<int64_t> JsonBody::IntegerOr(std::string_view field, int64_t fallback) const {
  if (!Has(field)) return fallback;
  return Integer(field);
}

Result<bool> JsonBody::BoolOr(std::string_view field, bool fallback) const {
  const auto value = Find(field);
  if (!value) return fallback;
  const auto flag = value->AsBool();
  if (!flag) return WrongKind(field, "true or false", *value);
  return *flag;
}

Result<std::map<std::string, std::string>> JsonBody::TextMap(std::string_view field) const {
  std::map<std::string, std::string> texts;
  const auto object = Find(field);
  if (!object) return texts;
  if (!object->IsObject()) return WrongKind(field, "an object of strings", *object);
  for (const auto& [name, value] : object->Members()) {
    // A null stands for a value that the sender does not know. It is left out.
    if (value.IsNull()) continue;
    const auto text = value.AsString();
    if (!text) return WrongKind(field, "an object of strings", value);
    texts.emplace(name, *text);
  }
  return texts;
}

}  // namespace tidemark
