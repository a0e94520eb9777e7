#include "wire/fields.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::wire {

namespace {

// DynamoDB's messages begin the names of members with a small letter.
std::string Shown(std::string_view member) {
  std::string shown(member);
  const bool is_capital = !shown.empty() && shown[0] >= 'A' && shown[0] <= 'Z';
  if (is_capital) shown[0] = static_cast<char>(shown[0] - 'A' + 'a');
  return shown;
}

Error Constraint(std::string_view value, std::string_view member, std::string_view constraint) {
  return Invalid(
      fmt::format("1 validation error detected: Value {} at '{}' failed to satisfy constraint: "
                  "Member must {}",
                  value, Shown(member), constraint));
}

}  // namespace

Error Missing(std::string_view member) { return Constraint("null", member, "not be null"); }

Error NotInEnumeration(std::string_view member, std::string_view value,
                       const std::string& allowed) {
  return Constraint(fmt::format("'{}'", value), member,
                    fmt::format("satisfy enum value set: [{}]", allowed));
}

Error TooSmall(std::string_view member, int64_t value, int64_t least) {
  return Constraint(fmt::format("'{}'", value), member,
                    fmt::format("have value greater than or equal to {}", least));
}

Error TooLarge(std::string_view member, int64_t value, int64_t most) {
  return Constraint(fmt::format("'{}'", value), member,
                    fmt::format("have value less than or equal to {}", most));
}

Error TooLong(std::string_view member, size_t most) {
  return Invalid(
      fmt::format("1 validation error detected: Value at '{}' failed to satisfy constraint: Member "
                  "must have length less than or equal to {}",
                  Shown(member), most));
}

Error NotOneAction(std::string_view member) {
  return Invalid(fmt::format("each element of {} must contain exactly one action", member));
}

std::string TableOfArn(std::string_view text) {
  constexpr std::string_view kMark = ":table/";
  const size_t at = text.find(kMark);
  if (!text.starts_with("arn:") || at == std::string_view::npos) return std::string(text);
  text.remove_prefix(at + kMark.size());
  return std::string(text.substr(0, text.find('/')));
}

std::optional<Json> FieldReader::Find(std::string_view name) {
  if (!status_) return std::nullopt;
  known_.push_back(name);
  std::optional<Json> found;
  for (const auto& [member, value] : object_.Members()) {
    if (member == name) found = value;
  }
  if (found && found->IsNull()) return std::nullopt;
  return found;
}

void FieldReader::OnlyAs(std::string_view name, std::string_view value, std::string_view advice) {
  const std::optional<Json> found = Find(name);
  if (!found) return;
  const std::optional<std::string_view> text = found->AsString();
  if (!text) return Fail(item::NotAScalar(*found, "java.lang.String"));
  if (*text == value) return;
  Fail(Invalid(fmt::format("the parameter '{}' may only be {} here, and not '{}': {}", name, value,
                           *text, advice)));
}

Status FieldReader::Finish() {
  if (!status_ || unknown_ == Unknown::kIgnored) return status_;
  for (const auto& [member, value] : object_.Members()) {
    const bool is_known = std::ranges::find(known_, member) != known_.end();
    if (!is_known && !value.IsNull()) {
      return Invalid(fmt::format("the parameter '{}' is not supported here: leave it out", member));
    }
  }
  return status_;
}

}  // namespace tidemark::wire
