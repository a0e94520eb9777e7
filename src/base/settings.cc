#include "base/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "base/check.h"
#include "base/json.h"

namespace tidemark {

namespace {

constexpr std::string_view kDefaultSource = "default";

std::string Quoted(std::string_view text) {
  std::string quoted;
  JsonWriter(&quoted).String(text);
  return quoted;
}

std::string Expected(const Setting& setting) {
  switch (setting.kind) {
    case SettingKind::kText:
    case SettingKind::kSecret:
      return "a text";
    case SettingKind::kInteger:
      return "a whole number";
    case SettingKind::kDecimal:
      return "a number such as 0.01";
    case SettingKind::kBool:
      return "true or false";
    case SettingKind::kDuration:
      return "a duration such as 250ms, 30s, 5m, 2h or 90d";
    case SettingKind::kChoice:
      return fmt::format("one of {}", fmt::join(setting.choices, ", "));
  }
  return "a text";
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseDecimal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || !std::isfinite(value)) return std::nullopt;
  return value;
}

struct Unit {
  std::string_view name;
  int64_t length_ms;
};
constexpr Unit kUnits[] = {
    {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};

std::optional<int64_t> ParseMilliseconds(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto unit = std::ranges::find(kUnits, text.substr(digits), &Unit::name);
  const auto count = ParseInteger(text.substr(0, digits));
  if (unit == std::end(kUnits) || !count) return std::nullopt;
  if (*count > std::numeric_limits<int64_t>::max() / unit->length_ms) return std::nullopt;
  return *count * unit->length_ms;
}

// The value of a text for this setting, as a number: the integer, 0 or 1 for a boolean,
// milliseconds, or the index of the choice; 0 for a text or a decimal. nullopt when the text is not
// valid.
std::optional<int64_t> ParseValue(const Setting& setting, std::string_view text) {
  switch (setting.kind) {
    case SettingKind::kText:
    case SettingKind::kSecret:
      return 0;
    case SettingKind::kInteger:
      return ParseInteger(text);
    case SettingKind::kDecimal:
      if (!ParseDecimal(text)) return std::nullopt;
      return 0;
    case SettingKind::kDuration:
      return ParseMilliseconds(text);
    case SettingKind::kBool:
      if (text != "true" && text != "false") return std::nullopt;
      return text == "true";
    case SettingKind::kChoice: {
      const auto found = std::ranges::find(setting.choices, text);
      if (found == setting.choices.end()) return std::nullopt;
      return found - setting.choices.begin();
    }
  }
  return std::nullopt;
}

// How many characters to insert, delete or replace to make one word the other.
size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

Error UnknownSetting(std::span<const Setting> table, std::string_view name,
                     std::string_view source) {
  std::string message = fmt::format("{}: there is no setting {}", source, Quoted(name));
  const auto nearest = std::ranges::min_element(
      table, {}, [&](const Setting& setting) { return EditDistance(name, setting.name); });
  // A name that differs more than this is not a useful suggestion.
  if (nearest != table.end() && EditDistance(name, nearest->name) <= nearest->name.size() / 2) {
    message += fmt::format("; did you mean {}?", Quoted(nearest->name));
  }
  return Invalid(std::move(message));
}

// Variables that begin with TIDEMARK_, mean something to the program, and set no setting.
constexpr std::string_view kOtherVariables[] = {"TIDEMARK_SETTINGS", "TIDEMARK_URL",
                                                "TIDEMARK_API_TOKEN"};
// Names that differ by at most this many characters are probably meant to be the same.
constexpr size_t kMaxTypos = 2;

std::string UpperWithUnderscores(std::string_view name) {
  std::string upper;
  for (char c : name) {
    const bool lower = c >= 'a' && c <= 'z';
    upper += lower ? static_cast<char>(c - 'a' + 'A') : c == '.' || c == '-' ? '_' : c;
  }
  return upper;
}

Result<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Copying an empty file would set the failbit of the stream, but an empty file is valid.
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: cannot read this settings file: {}", path, std::strerror(errno))};
  }
  return std::move(text).str();
}

// "TIDEMARK_LOG_" of TIDEMARK_LOG_LEVEL.
std::string_view SectionOf(std::string_view variable) {
  constexpr size_t kPrefix = std::string_view("TIDEMARK_").size();
  const size_t end = variable.find('_', kPrefix);
  return end == std::string_view::npos ? variable : variable.substr(0, end + 1);
}

// A misspelt variable would be ignored without a word. A variable of another program may begin with
// TIDEMARK_ too, so only a name that is close to ours, or in one of our sections, is refused.
Status CheckVariable(std::span<const Setting> table, std::string_view name) {
  if (!name.starts_with("TIDEMARK_")) return Done{};
  if (std::ranges::find(kOtherVariables, name) != std::end(kOtherVariables)) return Done{};
  std::string nearest;
  bool is_ours = false;
  for (const Setting& setting : table) {
    const std::string known = VariableName(setting);
    if (known == name) return Done{};
    const size_t distance = EditDistance(name, known);
    is_ours |=
        distance <= kMaxTypos || (SectionOf(known) != known && SectionOf(known) == SectionOf(name));
    if (nearest.empty() || distance < EditDistance(name, nearest)) nearest = known;
  }
  if (!is_ours) return Done{};
  return Invalid(fmt::format("environment variable {}: there is no such setting; did you mean {}?",
                             name, nearest));
}

struct FileEntry {
  std::string name;
  std::string source;
  const toml::node* node;
};

std::string Place(const std::string& path, const toml::source_region& region) {
  return fmt::format("{}:{}", path, region.begin.line);
}

// All values of the file with their full names, in any order.
void Flatten(const toml::table& table, const std::string& prefix, const std::string& path,
             std::vector<FileEntry>* entries) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    const toml::table* section = node.as_table();
    if (section != nullptr && !section->empty()) {
      Flatten(*section, name + ".", path, entries);
    } else {
      entries->push_back({.name = name, .source = Place(path, key.source()), .node = &node});
    }
  }
}

// The text of a value with the right type for this kind. The string "5" is not a number.
std::optional<std::string> TextOf(const toml::node& node, SettingKind kind) {
  if (kind == SettingKind::kInteger) {
    if (auto number = node.value_exact<int64_t>()) return std::to_string(*number);
  } else if (kind == SettingKind::kDecimal) {
    if (auto number = node.value<double>()) return fmt::format("{}", *number);
  } else if (kind == SettingKind::kBool) {
    if (auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  } else {
    return node.value_exact<std::string>();
  }
  return std::nullopt;
}

Result<toml::table> ParseToml(const std::string& text, const std::string& path) {
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return Invalid(fmt::format("{}: {}", Place(path, error.source()), error.description()));
  }
}

}  // namespace

std::string VariableName(const Setting& setting) {
  return "TIDEMARK_" + UpperWithUnderscores(setting.name);
}

std::string FullHelp(const Setting& setting) {
  std::string help(setting.help);
  if (!setting.choices.empty())
    help += fmt::format(" One of: {}.", fmt::join(setting.choices, ", "));
  if (!setting.other_variables.empty()) {
    help += fmt::format(" Also the variable {}.", fmt::join(setting.other_variables, ", "));
  }
  return help;
}

std::string FlagName(const Setting& setting) {
  std::string flag = "--" + std::string(setting.name);
  std::ranges::replace(flag, '.', '-');
  return flag;
}

Environment ReadEnvironment() {
  Environment variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Result<Settings> Settings::Load(std::span<const Setting> table, const SettingSources& sources) {
  Settings settings(table);
  // In the order of precedence, the weakest first: each source overwrites the ones before it.
  TRY(settings.SetDefaults());
  if (sources.file) TRY(settings.SetFromFile(*sources.file));
  TRY(settings.SetFromEnvironment(sources.environment));
  TRY(settings.SetFromFlags(sources.flags));
  return settings;
}

Status Settings::Set(size_t index, Given given) {
  const Setting& setting = table_[index];
  const auto number = ParseValue(setting, given.text);
  if (!number) {
    return Invalid(fmt::format("{}: {} should be {}, not {}", given.source, setting.name,
                               Expected(setting), Quoted(given.text)));
  }
  values_[index] = {
      .text = std::move(given.text), .number = *number, .source = std::move(given.source)};
  return Done{};
}

Status Settings::SetDefaults() {
  for (size_t i = 0; i < table_.size(); ++i) {
    TRY(Set(i,
            {.text = std::string(table_[i].default_value), .source = std::string(kDefaultSource)}));
  }
  return Done{};
}

Status Settings::SetFromFile(const std::string& path) {
  const std::string text = TRY(ReadText(path));
  const toml::table file = TRY(ParseToml(text, path));
  std::vector<FileEntry> entries;
  Flatten(file, "", path, &entries);
  for (const FileEntry& entry : entries) {
    const auto setting = std::ranges::find(table_, entry.name, &Setting::name);
    if (setting == table_.end()) return UnknownSetting(table_, entry.name, entry.source);
    auto value = TextOf(*entry.node, setting->kind);
    if (!value) {
      return Invalid(
          fmt::format("{}: {} should be {}", entry.source, entry.name, Expected(*setting)));
    }
    TRY(Set(setting - table_.begin(), {.text = std::move(*value), .source = entry.source}));
  }
  return Done{};
}

Status Settings::SetFromEnvironment(const Environment& environment) {
  for (const auto& [name, value] : environment) {
    // An empty variable counts as not set. This is the usual way to switch a variable off in a
    // container or unit file.
    if (!value.empty()) TRY(CheckVariable(table_, name));
  }
  for (size_t i = 0; i < table_.size(); ++i) {
    std::vector<std::string> names = {VariableName(table_[i])};
    names.insert(names.end(), table_[i].other_variables.begin(), table_[i].other_variables.end());
    for (const std::string& name : names) {
      const auto variable = environment.find(name);
      if (variable == environment.end() || variable->second.empty()) continue;
      TRY(Set(i, {.text = variable->second, .source = "environment variable " + name}));
      break;
    }
  }
  return Done{};
}

Status Settings::SetFromFlags(const std::map<std::string, std::string>& flags) {
  for (const auto& [name, text] : flags) {
    const auto setting = std::ranges::find(table_, name, &Setting::name);
    if (setting == table_.end()) return UnknownSetting(table_, name, "command line");
    TRY(Set(setting - table_.begin(), {.text = text, .source = FlagName(*setting)}));
  }
  return Done{};
}

const Settings::Value& Settings::Find(std::string_view name,
                                      std::initializer_list<SettingKind> kinds) const {
  const auto setting = std::ranges::find(table_, name, &Setting::name);
  CHECK(setting != table_.end());
  CHECK(std::ranges::find(kinds, setting->kind) != kinds.end());
  return values_[setting - table_.begin()];
}

bool Settings::IsGiven(std::string_view name) const {
  const auto setting = std::ranges::find(table_, name, &Setting::name);
  CHECK(setting != table_.end());
  return values_[setting - table_.begin()].source != kDefaultSource;
}

const std::string& Settings::Text(std::string_view name) const {
  return Find(name, {SettingKind::kText, SettingKind::kChoice}).text;
}

int64_t Settings::Integer(std::string_view name) const {
  return Find(name, {SettingKind::kInteger}).number;
}

double Settings::Decimal(std::string_view name) const {
  return ParseDecimal(Find(name, {SettingKind::kDecimal}).text).value();
}

bool Settings::Bool(std::string_view name) const {
  return Find(name, {SettingKind::kBool}).number != 0;
}

std::chrono::milliseconds Settings::Duration(std::string_view name) const {
  return std::chrono::milliseconds(Find(name, {SettingKind::kDuration}).number);
}

std::optional<std::string> Settings::SecretFile(std::string_view name) const {
  constexpr std::string_view kFromFile = "file:";
  const std::string& text = Find(name, {SettingKind::kSecret}).text;
  if (!text.starts_with(kFromFile)) return std::nullopt;
  return text.substr(kFromFile.size());
}

Result<Secret> Settings::GetSecret(std::string_view name) const {
  const Value& value = Find(name, {SettingKind::kSecret});
  const std::optional<std::string> file = SecretFile(name);
  if (!file) return Secret(std::string(value.text));
  const std::string& path = *file;
  auto text = ReadText(path);
  if (!text) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: {} is to be read from the file {}, which cannot be read: {}",
                             value.source, name, Quoted(path), std::strerror(errno))};
  }
  // Editors and `echo` add a line end, which is never part of a secret.
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  return Secret(std::move(*text));
}

std::string Settings::Describe() const {
  std::string lines;
  for (size_t i = 0; i < table_.size(); ++i) {
    const Value& value = values_[i];
    const bool hidden = table_[i].kind == SettingKind::kSecret && !value.text.empty();
    lines += fmt::format("{} = {}  ({})\n", table_[i].name, hidden ? "…" : Quoted(value.text),
                         value.source);
  }
  return lines;
}

Result<int64_t> IntegerBetween(const Settings& settings, std::string_view name, int64_t least,
                               int64_t most) {
  const int64_t value = settings.Integer(name);
  if (value >= least && value <= most) return value;
  return Invalid(fmt::format("{} must be between {} and {}, not {}", name, least, most, value));
}

}  // namespace tidemark
