#include "wire/fields.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

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
  if (place.step == Place::Step::kElement) return fmt::format("{}.{}.member", path, place.element);
  if (place.step == Place::Step::kKey) return fmt::format("{}.{}.member", path, place.name);
  if (!path.empty()) path += '.';
  return path + (layer == Layer::kOlder ? Older(place.name) : std::string(place.name));
}

Violation MakeViolation(const Place& place, std::string value, std::string constraint) {
  return {.path = PathOf(place, Layer::kNewer),
          .older_path = PathOf(place, Layer::kOlder),
          .value = std::move(value),
          .constraint = std::move(constraint)};
}

std::optional<std::string> LengthConstraint(size_t length, size_t least, size_t most) {
  if (length < least) {
    return fmt::format("Member must have length greater than or equal to {}", least);
  }
  if (length > most) return fmt::format("Member must have length less than or equal to {}", most);
  return std::nullopt;
}

// Java shows a list as [a, b] and a map as {a=1, b=2}.
constexpr size_t kMostShown = 4'096;

void ShowInJava(const Json& json, std::string* shown) {
  if (shown->size() > kMostShown) return;
  std::string_view comma = "";
  if (json.IsObject()) {
    shown->push_back('{');
    for (const auto& [name, value] : json.Members()) {
      if (shown->size() > kMostShown) break;
      if (value.IsNull()) continue;
      fmt::format_to(std::back_inserter(*shown), "{}{}=", std::exchange(comma, ", "), name);
      ShowInJava(value, shown);
    }
    shown->push_back('}');
  } else if (json.IsArray()) {
    shown->push_back('[');
    for (const Json element : json.Elements()) {
      if (shown->size() > kMostShown) break;
      shown->append(std::exchange(comma, ", "));
      ShowInJava(element, shown);
    }
    shown->push_back(']');
  } else if (const auto text = json.AsString()) {
    shown->append(text->substr(0, kMostShown));
  } else if (const auto flag = json.AsBool()) {
    shown->append(*flag ? "true" : "false");
  } else if (const auto number = json.AsInt()) {
    shown->append(std::to_string(*number));
  }
}

Error Unserializable(std::string_view what) {
  return Invalid(std::string(item::kSerializationPrefix).append(what));
}

}  // namespace

std::string ShownInJava(const Json& json) {
  std::string shown;
  ShowInJava(json, &shown);
  return shown;
}

Error NotAStructure(const Json& json, const Place& place, std::string_view java_name) {
  if (json.IsArray()) {
    return Unserializable(fmt::format(
        "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.{}", java_name));
  }
  const bool is_member = place.step == Place::Step::kMember;
  return Unserializable(is_member ? "Unexpected field type" : "Unexpected value type in payload");
}

Error NotAMap(const Json& json, std::string_view java_name) {
  if (!json.IsArray()) return Unserializable("Unexpected field type");
  return Unserializable(
      fmt::format("Unrecognized collection type java.util.Map<java.lang.String, {}>", java_name));
}

Error NotAListInAMap(const Json& json) {
  if (json.IsObject()) return Unserializable("Start of structure or map found where not expected");
  return Unserializable(
      "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "
      "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and "
      "java.lang.Class are in module java.base of loader 'bootstrap')");
}

int64_t Floor(double number) {
  constexpr double kLimit = 9.2e18;
  return static_cast<int64_t>(std::floor(std::clamp(number, -kLimit, kLimit)));
}

void Place::Violates(std::string value, std::string constraint, std::string newer_text) const {
  Violation violation = MakeViolation(*this, std::move(value), std::move(constraint));
  violation.newer_text = std::move(newer_text);
  problems->Add(std::move(violation));
}

void Place::ViolatesNewer(std::string value, std::string constraint) const {
  Violation violation = MakeViolation(*this, std::move(value), std::move(constraint));
  violation.is_newer = true;
  problems->Add(std::move(violation));
}

void Place::Missing() const { Violates("null", "Member must not be null"); }

void Place::CheckLength(size_t length, size_t least, size_t most, const std::string& shown) const {
  auto constraint = LengthConstraint(length, least, most);
  if (constraint) ViolatesNewer(fmt::format("'{}'", shown), *std::move(constraint));
}

// The newer layer only looks for a text that is too short.
void Place::CheckLength(const std::string& text, size_t least, size_t most) const {
  auto constraint = LengthConstraint(text.size(), least, most);
  if (!constraint) return;
  std::string value = fmt::format("'{}'", text);
  if (text.size() < least)
    ViolatesNewer(std::move(value), *std::move(constraint));
  else
    Violates(std::move(value), *std::move(constraint));
}

void Place::CheckRange(int64_t value, int64_t least, int64_t most) const {
  if (value >= least && value <= most) return;
  ViolatesNewer(fmt::format("'{}'", value),
                value < least
                    ? fmt::format("Member must have value greater than or equal to {}", least)
                    : fmt::format("Member must have value less than or equal to {}", most));
}

std::string TableOfArn(std::string_view text) {
  constexpr std::string_view kMark = ":table/";
  const size_t at = text.find(kMark);
  if (!text.starts_with("arn:") || at == std::string_view::npos) return std::string(text);
  text.remove_prefix(at + kMark.size());
  return std::string(text.substr(0, text.find('/')));
}

bool IsTableName(std::string_view text) {
  return !text.empty() && text.size() <= tables::kMaxTableNameLength &&
         std::ranges::all_of(text, IsNameCharacter);
}

std::optional<Json> FieldReader::Find(std::string_view name) const {
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
  if (!is_given || place_.kind == Kind::kReply) return;
  const Place place = place_.Member(name);
  if (!table.empty() && !is_arn && !std::ranges::all_of(table, IsNameCharacter)) {
    place.Violates(fmt::format("'{}'", table), kNamePattern);
  }
  place.CheckLength(table, 1, is_arn ? kMaxArnLength : tables::kMaxTableNameLength);
}

namespace {

constexpr std::string_view kOwnTables = "arn:aws:dynamodb:us-east-1:000000000000:table/";

// "arn:aws:dynamodb:us-east-1:000000000000:table/name", and nothing behind the name.
bool IsArnOfTable(std::string_view text) {
  const std::string table = TableOfArn(text);
  return text.starts_with("arn:aws:dynamodb:") && text.ends_with(":table/" + table) &&
         table.size() >= tables::kMinTableNameLength;
}

}  // namespace

void FieldWriter::Resource(const std::string& table) {
  const bool is_arn = table.starts_with("arn:");
  Required("ResourceArn", is_arn ? table : std::string(kOwnTables) + table);
}

void FieldReader::Resource(std::string& table) {
  std::optional<std::string> arn;
  Optional("ResourceArn", arn);
  if (!arn) return place_.problems->AddBeforeViolations(Invalid("Invalid TableArn"));
  table = *arn;
  if (!arn->starts_with("arn:")) {
    return place_.problems->AddBeforeViolations(
        Invalid("Invalid TableArn: ARNs must start with 'arn:'"));
  }
  if (IsArnOfTable(*arn)) return;
  Fail(Invalid(fmt::format("Invalid TableArn: Invalid ResourceArn provided as input {}", *arn)));
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

void FieldReader::CheckPattern(std::string_view name, const std::optional<std::string>& text) {
  if (!text || std::ranges::all_of(*text, IsNameCharacter)) return;
  place_.Member(name).Violates(fmt::format("'{}'", *text), kNamePattern);
}

void FieldReader::CheckLength(std::string_view name, const std::optional<std::string>& text,
                              size_t least, size_t most) {
  if (text) place_.Member(name).CheckLength(*text, least, most);
}

void FieldReader::NotOffered(std::string_view name) {
  if (!Find(name)) return;
  Fail(Invalid(fmt::format("the parameter '{}' is not supported here: leave it out", name)));
}

}  // namespace tidemark::wire
