#include "programs/arguments.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "item/json.h"

namespace tidemark::programs {

namespace {

using tables::StreamView;

constexpr std::pair<std::string_view, StreamView> kStreamViews[] = {
    {"keys", StreamView::kKeysOnly},
    {"new", StreamView::kNewImage},
    {"old", StreamView::kOldImage},
    {"new-and-old", StreamView::kNewAndOldImages},
};

constexpr std::string_view kGlobalIndexForm =
    "NAME:KEY:TYPE[:SORT:TYPE][:all|keys|include=ATTRIBUTE,…] with types S, N or B, such as "
    "by-team:team:S:created:N:keys";
constexpr std::string_view kLocalIndexForm =
    "NAME:SORT:TYPE[:all|keys|include=ATTRIBUTE,…] with type S, N or B, such as by-size:size:N";

Error Wrong(const Argument& argument, std::string_view expected) {
  return Invalid(fmt::format("{}: '{}' is not {}", argument.option, argument.text, expected));
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<item::Type> ParseKeyType(std::string_view text) {
  std::optional<item::Type> type = item::ParseType(text);
  bool is_key_type =
      type == item::Type::kString || type == item::Type::kNumber || type == item::Type::kBinary;
  return is_key_type ? type : std::nullopt;
}

std::optional<item::KeyAttribute> MakeKeyAttribute(std::string_view name, std::string_view type) {
  std::optional<item::Type> parsed = ParseKeyType(type);
  if (name.empty() || !parsed) return std::nullopt;
  return item::KeyAttribute{.name = std::string(name), .type = *parsed};
}

std::optional<tables::IndexProjection> ParseProjection(std::string_view text) {
  constexpr std::string_view kInclude = "include=";
  if (text == "all") return tables::IndexProjection{.kind = tables::ProjectionKind::kAll};
  if (text == "keys") return tables::IndexProjection{.kind = tables::ProjectionKind::kKeysOnly};
  if (!text.starts_with(kInclude)) return std::nullopt;
  std::vector<std::string> included = Split(text.substr(kInclude.size()), ',');
  if (std::ranges::any_of(included, &std::string::empty)) return std::nullopt;
  return tables::IndexProjection{.kind = tables::ProjectionKind::kInclude,
                                 .included = std::move(included)};
}

// Takes NAME:TYPE from the front; nullopt, and nothing is taken, when it is not there.
std::optional<item::KeyAttribute> TakeKeyAttribute(std::span<const std::string>* parts) {
  if (parts->size() < 2) return std::nullopt;
  std::optional<item::KeyAttribute> attribute = MakeKeyAttribute((*parts)[0], (*parts)[1]);
  if (attribute) *parts = parts->subspan(2);
  return attribute;
}

// What is left is nothing, or one projection.
std::optional<tables::IndexProjection> TakeProjection(std::span<const std::string> parts) {
  if (parts.empty()) return tables::IndexProjection{};
  return parts.size() == 1 ? ParseProjection(parts[0]) : std::nullopt;
}

// DynamoDB's texts do not say how a value is written. Most people begin with plain JSON.
template <typename T>
Result<T> WithExample(Result<T> result, std::string_view example) {
  if (result) return result;
  Error error = std::move(result).error();
  error.message += fmt::format("; each value is written with its type, as in {}", example);
  return error;
}

Result<JsonDocument> ParseObject(const Argument& argument, std::string_view example) {
  Result<JsonDocument> document = JsonDocument::Parse(argument.text).WithContext(argument.option);
  if (document && !document->root().IsObject()) {
    return Wrong(argument, fmt::format("a JSON object such as {}", example));
  }
  return document;
}

}  // namespace

Result<item::KeyAttribute> ParseKeyAttribute(const Argument& argument) {
  size_t colon = argument.text.rfind(':');
  std::optional<item::KeyAttribute> attribute;
  if (colon != std::string_view::npos) {
    attribute = MakeKeyAttribute(argument.text.substr(0, colon), argument.text.substr(colon + 1));
  }
  if (!attribute) return Wrong(argument, "NAME:TYPE with type S, N or B, such as id:S");
  return *std::move(attribute);
}

Result<tables::IndexSpec> ParseGlobalIndex(const Argument& argument) {
  std::vector<std::string> parts = Split(argument.text, ':');
  std::span<const std::string> rest = std::span(parts).subspan(1);
  std::optional<item::KeyAttribute> partition = TakeKeyAttribute(&rest);
  std::optional<item::KeyAttribute> sort = TakeKeyAttribute(&rest);
  std::optional<tables::IndexProjection> projection = TakeProjection(rest);
  if (parts[0].empty() || !partition || !projection) return Wrong(argument, kGlobalIndexForm);
  return tables::IndexSpec{.name = parts[0],
                           .kind = tables::IndexKind::kGlobal,
                           .keys = {.partition = *partition, .sort = std::move(sort)},
                           .projection = *std::move(projection)};
}

Result<tables::IndexSpec> ParseLocalIndex(const Argument& argument,
                                          const item::KeyAttribute& partition) {
  std::vector<std::string> parts = Split(argument.text, ':');
  std::span<const std::string> rest = std::span(parts).subspan(1);
  std::optional<item::KeyAttribute> sort = TakeKeyAttribute(&rest);
  std::optional<tables::IndexProjection> projection = TakeProjection(rest);
  if (parts[0].empty() || !sort || !projection) return Wrong(argument, kLocalIndexForm);
  return tables::IndexSpec{.name = parts[0],
                           .kind = tables::IndexKind::kLocal,
                           .keys = {.partition = partition, .sort = std::move(sort)},
                           .projection = *std::move(projection)};
}

Result<StreamView> ParseStreamView(const Argument& argument) {
  for (const auto& [name, view] : kStreamViews) {
    if (name == argument.text) return view;
  }
  return Wrong(argument, "keys, new, old or new-and-old");
}

std::string_view ToString(StreamView view) {
  return std::ranges::find(kStreamViews, view, [](const auto& row) { return row.second; })->first;
}

Result<tables::Tags> ParseTags(std::string_view option, const std::vector<std::string>& texts) {
  tables::Tags tags;
  for (const std::string& text : texts) {
    size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Wrong({option, text}, "NAME=VALUE, such as team=search");
    }
    tags[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return tags;
}

Result<item::Item> ParseItem(const Argument& argument) {
  return ParseItemLine(argument.text).WithContext(argument.option);
}

Result<item::Item> ParseItemLine(std::string_view text) {
  return WithExample(item::ParseItemJson(text), R"({"id":{"S":"a"},"count":{"N":"1"}})");
}

Result<tables::Names> ParseNames(const Argument& argument) {
  constexpr std::string_view kExample = R"({"#c":"count"})";
  tables::Names names;
  if (argument.text.empty()) return names;
  JsonDocument document = TRY(ParseObject(argument, kExample));
  for (const auto& [name, value] : document.root().Members()) {
    std::optional<std::string_view> attribute = value.AsString();
    if (!attribute) {
      return Invalid(fmt::format("{}: {} is {}, not the name of an attribute as in {}",
                                 argument.option, name, ToString(value.kind()), kExample));
    }
    names.insert_or_assign(std::string(name), std::string(*attribute));
  }
  return names;
}

Result<tables::Values> ParseValues(const Argument& argument) {
  tables::Values values;
  if (argument.text.empty()) return values;
  JsonDocument document = TRY(ParseObject(argument, R"({":one":{"N":"1"}})"));
  for (const auto& [name, value] : document.root().Members()) {
    item::Value decoded = TRY(WithExample(item::DecodeValueJson(value), R"({":one":{"N":"1"}})")
                                  .WithContext(fmt::format("{}: {}", argument.option, name)));
    values.insert_or_assign(std::string(name), std::move(decoded));
  }
  return values;
}

}  // namespace tidemark::programs
