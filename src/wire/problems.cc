#include "wire/problems.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "item/json.h"

namespace tidemark::wire {

namespace {

constexpr std::string_view kEnvelope = "1 validation error detected: ";

bool IsAboutTypes(const Error& error) {
  return error.code == ErrorCode::kInvalid && error.message.starts_with(item::kSerializationPrefix);
}

// What the messages begin with that the newer layer envelops. All begin with a text of ours, so a
// value of the caller cannot look like one.
constexpr auto kEnveloped = std::to_array<std::string_view>({
    "Invalid ConditionExpression: ",
    "Invalid UpdateExpression: ",
    "ReturnValues can only be ",
    "ExpressionAttributeNames can only be specified ",
    "ExpressionAttributeValues can only be specified ",
    "ExpressionAttributeValues contains invalid value: ",
    "Value provided in ExpressionAttribute",
    "Nesting Levels have exceeded supported limits: ",
    "Can not use both expression and non-expression parameters ",
    "Input collection contains duplicates",
    "One or more parameter values were invalid: An string set ",
    "One or more parameter values were invalid: An number set ",
    "One or more parameter values were invalid: Binary sets ",
    "One or more parameter values were invalid: Input collection ",
    "One or more parameter values were invalid: Null attribute value ",
});

std::string OlderText(const Violation& violation) {
  return fmt::format("Value {}at '{}' failed to satisfy constraint: {}",
                     violation.value.empty() ? "" : violation.value + " ", violation.older_path,
                     violation.constraint);
}

Error Joined(const std::vector<Violation>& violations, Layer layer) {
  std::vector<std::string> texts;
  for (const Violation& violation : violations) {
    if (layer == Layer::kOlder) {
      texts.push_back(OlderText(violation));
    } else if (violation.is_newer) {
      return Invalid(fmt::format("{}Value at '{}' failed to satisfy constraint: {}", kEnvelope,
                                 violation.path, violation.constraint));
    } else {
      const bool is_same = violation.newer_text.empty();
      texts.push_back(is_same ? OlderText(violation) : violation.newer_text);
    }
  }
  return Invalid(fmt::format("{} validation error{} detected: {}", texts.size(),
                             texts.size() == 1 ? "" : "s", fmt::join(texts, "; ")));
}

}  // namespace

void Problems::Add(Error error) {
  std::optional<Error>& kept = IsAboutTypes(error) ? of_types_ : error_;
  if (!kept) kept = std::move(error);
}

void Problems::AddBeforeViolations(Error error) {
  if (!before_violations_) before_violations_ = std::move(error);
}

void Problems::AddOfParameters(Error error) {
  if (!of_parameters_) of_parameters_ = std::move(error);
}

Status Problems::Finish() const {
  if (of_types_) return *of_types_;
  if (before_violations_) return *before_violations_;
  if (!violations_.empty()) return Joined(violations_, layer_);
  if (of_parameters_) return InWordsOf(layer_, *of_parameters_);
  if (error_) return InWordsOf(layer_, *error_);
  return Done{};
}

Error InWordsOf(Layer layer, Error error) {
  if (layer != Layer::kEnveloping || error.code != ErrorCode::kInvalid) return error;
  const bool is_enveloped = std::ranges::any_of(
      kEnveloped, [&](std::string_view start) { return error.message.starts_with(start); });
  if (is_enveloped) error.message.insert(0, kEnvelope);
  return error;
}

}  // namespace tidemark::wire
