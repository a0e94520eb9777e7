#include "wire/fields.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "tables/limits.h"

namespace tidemark::wire {

namespace {

constexpr size_t kMaxArnLength = 1'024;
constexpr char kNamePattern[] = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";

bool IsNameCharacter(char c) {
  return IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'z') || c == '_' || c == '.' || c == '-';
}

// Older messages begin the names of members with a small letter.
std::string Older(std::string_view member) {
  std::string shown(member);
  if (!shown.empty()) shown[0] = Lower(shown[0]);
  return shown;
}

std::string PathOf(const Place& place, Layer layer) {
  if (place.around == nullptr) return "";
  std::string path = PathOf(*place.around, layer);
  if (place.kind == Place::Kind::kElement) return fmt::format("{}.{}.member", path, place.element);
  if (place.kind == Place::Kind::kKey) return fmt::format("{}.{}.member", path, place.name);
  if (!path.empty()) path += '.';
  return path + (layer == Layer::kOlder ? Older(place.name) : std::string(place.name));
}

}  // namespace

void Place::Violates(std::string value, std::string constraint) const {
  problems->Add(Violation{.path = PathOf(*this, Layer::kNewer),
                          .older_path = PathOf(*this, Layer::kOlder),
                          .value = std::move(value),
                          .constraint = std::move(constraint)});
}

void Place::Missing() const { Violates("null", "Member must not be null"); }

namespace {

std::optional<std::string> LengthConstraint(size_t length, size_t least, size_t most) {
  if (length < least) {
    return fmt::format("Member must have length greater than or equal to {}", least);
  }
  if (length > most) return fmt::format("Member must have length less than or equal to {}", most);
  return std::nullopt;
}

}  // namespace

void Place::CheckLength(size_t length, size_t least, size_t most) const {
  auto constraint = LengthConstraint(length, least, most);
  // Only the empty list is shown: AWS shows others as its own program prints them.
  if (constraint) Violates(length == 0 ? "'[]'" : "", *std::move(constraint));
}

void Place::CheckLength(const std::string& text, size_t least, size_t most) const {
  auto constraint = LengthConstraint(text.size(), least, most);
  if (constraint) Violates(fmt::format("'{}'", text), *std::move(constraint));
}

void Place::CheckRange(int64_t value, int64_t least, int64_t most) const {
  if (value >= least && value <= most) return;
  Violates(fmt::format("'{}'", value),
           value < least ? fmt::format("Member must have value greater than or equal to {}", least)
                         : fmt::format("Member must have value less than or equal to {}", most));
}

std::string TableOfArn(std::string_view text) {
  constexpr std::string_view kMark = ":table/";
  const size_t at = text.find(kMark);
  if (!text.starts_with("arn:") || at == std::string_view::npos) return std::string(text);
  text.remove_prefix(at + kMark.size());
  return std::string(text.substr(0, text.find('/')));
}

std::optional<Json> FieldReader::Find(std::string_view name) {
  known_.push_back(name);
  std::optional<Json> found;
  for (const auto& [member, value] : object_.Members()) {
    if (member == name) found = value;
  }
  if (found && found->IsNull()) return std::nullopt;
  return found;
}

void FieldReader::Table(std::string_view name, std::string& table) {
  const bool is_given = Find(name).has_value();
  Required(name, table);
  const bool is_arn = table.starts_with("arn:");
  table = TableOfArn(table);
  if (!is_given || place_.unknown == Unknown::kIgnored) return;
  const Place place = place_.Member(name);
  if (!table.empty() && !is_arn && !std::ranges::all_of(table, IsNameCharacter)) {
    place.Violates(fmt::format("'{}'", table), kNamePattern);
  }
  place.CheckLength(table, 1, is_arn ? kMaxArnLength : tables::kMaxTableNameLength);
}

void FieldReader::NewTable(std::string_view name, std::string& table) {
  Required(name, table);
  const Place place = place_.Member(name);
  if (table.empty() || !std::ranges::all_of(table, IsNameCharacter)) {
    place.Violates(fmt::format("'{}'", table), kNamePattern);
  }
  place.CheckLength(table, tables::kMinTableNameLength, tables::kMaxTableNameLength);
}

void FieldReader::DefinedTable(std::string_view name, std::string& table) {
  if (!Find(name)) {
    return place_.problems->AddBeforeViolations(Invalid(
        fmt::format("The parameter '{}' is required but was not present in the request", name)));
  }
  Required(name, table);
  table = TableOfArn(table);
  const bool fits =
      table.size() >= tables::kMinTableNameLength && table.size() <= tables::kMaxTableNameLength;
  if (!fits) {
    return Fail(
        Invalid(fmt::format("{} must be at least {} characters long and at most {} characters long",
                            name, tables::kMinTableNameLength, tables::kMaxTableNameLength)));
  }
  if (!std::ranges::all_of(table, IsNameCharacter)) {
    place_.Member(name).Violates(fmt::format("'{}'", table), kNamePattern);
  }
}

void FieldReader::CheckLength(std::string_view name, const std::optional<std::string>& text,
                              size_t least, size_t most) {
  if (text) place_.Member(name).CheckLength(*text, least, most);
}

void FieldReader::Finish() {
  if (place_.unknown == Unknown::kIgnored) return;
  for (const auto& [member, value] : object_.Members()) {
    const bool is_known = std::ranges::find(known_, member) != known_.end();
    if (!is_known && !value.IsNull()) {
      return Fail(
          Invalid(fmt::format("the parameter '{}' is not supported here: leave it out", member)));
    }
  }
}

}  // namespace tidemark::wire
