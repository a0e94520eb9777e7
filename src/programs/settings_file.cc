#include "programs/settings_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/json.h"
#include "programs/program_settings.h"

namespace tidemark::programs {

namespace {

constexpr size_t kTextWidth = 90;
constexpr const char* kFileVariable = "TIDEMARK_SETTINGS";

// The text as comment lines.
std::string Comment(std::string_view text) {
  std::string lines;
  std::string line = "#";
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (line.size() + 1 + word.size() > kTextWidth) {
      lines += line + "\n";
      line = "#";
    }
    line += fmt::format(" {}", word);
  }
  return lines + line + "\n";
}

// The default as TOML. A string of JSON is also one of TOML.
std::string Quoted(const Setting& setting) {
  if (setting.kind == SettingKind::kInteger || setting.kind == SettingKind::kDecimal ||
      setting.kind == SettingKind::kBool) {
    return std::string(setting.default_value);
  }
  std::string quoted;
  JsonWriter(&quoted).String(setting.default_value);
  return quoted;
}

std::string DefaultFile() {
  std::string text =
      "# Settings of Tidemark. Each is shown with its default. To change one, remove the #.\n"
      "# A secret can be read from a file: \"file:PATH\". Every setting can also be set with an\n"
      "# environment variable, such as TIDEMARK_LOG_LEVEL for log.level. All settings except\n"
      "# secrets are also flags of `tidemark serve`, such as --log-level.\n";
  for (const Setting& setting : ProgramSettings()) {
    text += "\n" + Comment(FullHelp(setting));
    text += fmt::format("#{} = {}\n", setting.name, Quoted(setting));
  }
  return text;
}

// The file is used because it lies in the working folder. In a folder such as /tmp somebody else
// may have put it there, with the address of a server of theirs.
Status CheckFoundFile() {
  struct stat file = {};
  if (::stat(kSettingsFile, &file) != 0) return Done{};
  const bool is_owned = file.st_uid == ::geteuid() || file.st_uid == 0;
  if (is_owned && (file.st_mode & S_IWOTH) == 0) return Done{};
  return Error{ErrorCode::kDenied,
               fmt::format("{} in this folder {}: check what it says and name it with --settings "
                           "{}, or make it your own",
                           kSettingsFile,
                           is_owned ? "can be written by everybody" : "belongs to another user",
                           kSettingsFile)};
}

Error CannotWrite(const std::string& path) {
  const ErrorCode code = errno == EEXIST ? ErrorCode::kInUse : ErrorCode::kDenied;
  return {code, fmt::format("cannot write the settings file '{}': {}", path, std::strerror(errno))};
}

}  // namespace

// The flag comes before the variable, and the variable before the file in the working folder.
std::optional<std::string> FindSettingsFile(const std::optional<std::string>& flag) {
  if (flag) return flag;
  const Environment environment = ReadEnvironment();
  const auto variable = environment.find(kFileVariable);
  if (variable != environment.end() && !variable->second.empty()) return variable->second;
  std::error_code ignored;
  if (std::filesystem::exists(kSettingsFile, ignored)) return kSettingsFile;
  return std::nullopt;
}

Result<Settings> LoadSettings(const SettingsOptions& options) {
  const auto file = FindSettingsFile(options.file);
  const bool was_named = options.file.has_value() || ReadEnvironment().contains(kFileVariable);
  if (file && !was_named) TRY(CheckFoundFile());
  return Settings::Load(ProgramSettings(),
                        {.file = file, .environment = ReadEnvironment(), .flags = options.flags});
}

Status WriteSettingsFile(const std::string& path) {
  const std::string text = DefaultFile();
  // O_EXCL: if somebody has created the file since we looked, it is not overwritten.
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return CannotWrite(path);
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (::close(file) != 0 || !written) return CannotWrite(path);
  return Done{};
}

}  // namespace tidemark::programs
