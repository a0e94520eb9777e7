// The settings of the program. Each is declared once, in a table, and read from four places: a flag
// of the command line overrides the environment, which overrides the settings file, which overrides
// the default.
//
//   Settings settings = TRY(Settings::Load(table, {.file = "tidemark.toml",
//                                                  .environment = ReadEnvironment(),
//                                                  .flags = {{"data", "/srv/tm"}}}));
//   Open(settings.Text("data"));
//
// The setting log.level is `level` in the section [log] of the file, the variable
// TIDEMARK_LOG_LEVEL and the flag --log-level. Every value is checked, even if another place
// overrides it. An error names the place of the value.
//
// Settings are read once and never change; they may be read from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"

namespace tidemark {

enum class SettingKind {
  kText,
  kInteger,
  kDecimal,   // a number such as 0.01
  kBool,      // true or false
  kDuration,  // a whole number and a unit: 250ms, 30s, 5m, 2h, 90d
  kChoice,    // one of Setting::choices
  kSecret,    // a text that is never shown; "file:PATH" stands for what the file holds
};

struct Setting {
  std::string_view name;
  SettingKind kind = SettingKind::kText;
  std::string_view default_value;
  std::string_view help;
  std::vector<std::string_view> choices;
  // Further environment variables that set it, such as the names other programs use.
  // The setting's own variable wins over them.
  std::vector<std::string_view> other_variables;
};

// "TIDEMARK_LOG_LEVEL" and "--log-level" for log.level.
std::string VariableName(const Setting& setting);
std::string FlagName(const Setting& setting);

// The help, with the allowed values and the other variables that set it.
std::string FullHelp(const Setting& setting);

using Environment = std::map<std::string, std::string, std::less<>>;

// The process's environment variables as they are now.
Environment ReadEnvironment();

struct SettingSources {
  std::optional<std::string> file;           // The path of a TOML file, which must exist.
  Environment environment;                   // An empty variable counts as not set.
  std::map<std::string, std::string> flags;  // By the setting's name, not the flag's.
};

class Settings {
 public:
  // kInvalid when a source names a setting that does not exist or gives one a value of the
  // wrong kind, kNotFound when the file cannot be read.
  static Result<Settings> Load(std::span<const Setting> table, const SettingSources& sources);

  // The value of a setting of the table. A name that is not in the table, or another kind, is a bug
  // and stops the program.
  const std::string& Text(std::string_view name) const;  // kText and kChoice
  int64_t Integer(std::string_view name) const;
  double Decimal(std::string_view name) const;
  bool Bool(std::string_view name) const;
  std::chrono::milliseconds Duration(std::string_view name) const;
  // Empty when it is not set. kNotFound when the setting names a file that cannot be read.
  Result<Secret> GetSecret(std::string_view name) const;
  // The file that a secret is read from; nullopt when the secret itself is in the settings.
  std::optional<std::string> SecretFile(std::string_view name) const;

  // Whether a file, a variable or a flag has set it, even to its default.
  bool IsGiven(std::string_view name) const;

  // One line for each setting, in the order of the table: name, value and where it came from. A
  // secret's value is left out.
  std::string Describe() const;

 private:
  struct Value {
    std::string text;
    int64_t number = 0;  // What the text means, by the setting's kind.
    std::string source;
  };
  struct Given {
    std::string text;
    std::string source;
  };

  explicit Settings(std::span<const Setting> table) : table_(table), values_(table.size()) {}
  Status Set(size_t index, Given given);
  Status SetDefaults();
  Status SetFromFile(const std::string& path);
  Status SetFromEnvironment(const Environment& environment);
  Status SetFromFlags(const std::map<std::string, std::string>& flags);
  const Value& Find(std::string_view name, std::initializer_list<SettingKind> kinds) const;

  std::span<const Setting> table_;
  std::vector<Value> values_;
};

// The value of an integer setting; kInvalid when it is not within these bounds.
Result<int64_t> IntegerBetween(const Settings& settings, std::string_view name, int64_t least,
                               int64_t most);

}  // namespace tidemark
