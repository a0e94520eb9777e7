// ExpressionAttributeNames and ExpressionAttributeValues: what the expressions of a request may
// use.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tables/requests.h"
#include "wire/fields.h"

namespace tidemark::wire {

inline constexpr char kNames[] = "ExpressionAttributeNames";
inline constexpr char kValues[] = "ExpressionAttributeValues";

// Names and values need an expression that could use them. A projection has no values.
inline void RefuseWithoutExpression(FieldReader& fields,
                                    std::initializer_list<std::string_view> expressions) {
  bool has_expression = false;
  std::vector<std::string> absent;
  for (const std::string_view expression : expressions) {
    has_expression = has_expression || fields.Find(expression);
    absent.emplace_back(expression);
  }
  if (fields.Find(kNames) && !has_expression && !fields.Find("ProjectionExpression")) {
    fields.FailOfParameters(
        Invalid(fmt::format("{} can only be specified when using expressions", kNames)));
  }
  if (fields.Find(kValues) && !has_expression) {
    // The layer that envelops messages does not name the expressions.
    const bool is_short = fields.place().problems->layer() == Layer::kEnveloping;
    const std::string names =
        fmt::format(": {} {} null", fmt::join(absent, " and "), absent.size() > 1 ? "are" : "is");
    fields.FailOfParameters(Invalid(fmt::format("{} can only be specified when using expressions{}",
                                                kValues, is_short ? "" : names)));
  }
}

// Errors name the value.
template <>
struct Codec<tables::Values> {
  static void Write(const tables::Values& values, JsonWriter* writer) {
    writer->BeginObject();
    for (const auto& [name, value] : values) {
      writer->Key(name);
      item::EncodeJson(value, writer);
    }
    writer->EndObject();
  }
  static Status Read(const Json& json, const Place& place, tables::Values* values) {
    if (!json.IsObject()) return NotAMap(json, "com.amazonaws.dynamodb.v20120810.AttributeValue");
    for (const auto& [name, value] : json.Members()) {
      auto decoded = item::DecodeValueJson(value, DialectOf(place));
      if (!decoded) return Named(name, std::move(decoded).error());
      values->insert_or_assign(std::string(name), *std::move(decoded));
    }
    return Done{};
  }

 private:
  static Error Named(std::string_view name, Error error) {
    // Nesting is checked later, and for all values together.
    const bool is_of_one = !error.message.starts_with(item::kSerializationPrefix) &&
                           !error.message.starts_with("Nesting Levels ");
    if (!is_of_one) return error;
    return Invalid(
        fmt::format("{} contains invalid value: {} for key {}", kValues, error.message, name));
  }
};

// `expressions` may use the names and values.
template <typename F, typename Request>
void DescribeBindings(F& fields, Request& request,
                      std::initializer_list<std::string_view> expressions) {
  fields.UnlessEmpty(kNames, request.names);
  if constexpr (requires { request.values; }) fields.UnlessEmpty(kValues, request.values);
  if constexpr (std::is_same_v<F, FieldReader>) RefuseWithoutExpression(fields, expressions);
}

}  // namespace tidemark::wire
