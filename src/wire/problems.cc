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
    "ExpressionAttributeValues can only be specified ",
    "ExpressionAttributeValues contains invalid value: ",
    "Can not use both expression and non-expression parameters ",
    "Input collection contains duplicates",
    "One or more parameter values were invalid: An string set ",
    "One or more parameter values were invalid: An number set ",
    "One or more parameter values were invalid: Binary sets ",
    "One or more parameter values were invalid: Input collection ",
    "One or more parameter values were invalid: Null attribute value ",
});

std::string TextOf(const Violation& violation, Layer layer) {
  const bool is_older = layer == Layer::kOlder;
  const bool shows_value = is_older && !violation.value.empty();
  return fmt::format("Value {}at '{}' failed to satisfy constraint: {}",
                     shows_value ? violation.value + " " : "",
                     is_older ? violation.older_path : violation.path, violation.constraint);
}

Error Joined(const std::vector<Violation>& violations, Layer layer) {
  const size_t count = layer == Layer::kOlder ? violations.size() : 1;
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) texts.push_back(TextOf(violations[i], layer));
  return Invalid(fmt::format("{} validation error{} detected: {}", count, count == 1 ? "" : "s",
                             fmt::join(texts, "; ")));
}

}  // namespace

void Problems::Add(Error error) {
  if (IsAboutTypes(error)) return AddBeforeViolations(std::move(error));
  if (!error_) error_ = std::move(error);
}

void Problems::AddBeforeViolations(Error error) {
  if (is_before_violations_) return;
  is_before_violations_ = true;
  error_ = std::move(error);
}

Status Problems::Finish() const {
  if (is_before_violations_) return *error_;
  if (!violations_.empty()) return Joined(violations_, layer_);
  if (error_) return InWordsOf(layer_, *error_);
  return Done{};
}

Error InWordsOf(Layer layer, Error error) {
  if (layer != Layer::kEnveloping || error.code != ErrorCode::kInvalid) return error;
  const bool is_enveloped =
      std::ranges::any_of(
          kEnveloped, [&](std::string_view start) { return error.message.starts_with(start); }) &&
      !error.message.ends_with("The expression can not be empty;");
  if (is_enveloped) error.message.insert(0, kEnvelope);
  return error;
}

}  // namespace tidemark::wire
