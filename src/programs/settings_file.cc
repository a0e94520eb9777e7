#include "programs/settings_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "base/json.h"

namespace tidemark::programs {

namespace {

constexpr size_t kTextWidth = 90;

// The words of a text as comment lines.
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
      "# Settings of Tidemark. Each is shown with its default; take the # away to change it.\n"
      "# A secret may be \"file:PATH\". Every setting is also a variable, such as\n"
      "# TIDEMARK_LOG_LEVEL for log.level, and all but the secrets are flags of `tidemark serve`,\n"
      "# such as --log-level.\n";
  for (const Setting& setting : ProgramSettings()) {
    text += "\n" + Comment(FullHelp(setting));
    text += fmt::format("#{} = {}\n", setting.name, Quoted(setting));
  }
  return text;
}

Error CannotWrite(const std::string& path) {
  const ErrorCode code = errno == EEXIST ? ErrorCode::kInUse : ErrorCode::kDenied;
  return {code, fmt::format("{}: cannot write this settings file: {}", path, std::strerror(errno))};
}

}  // namespace

std::optional<std::string> FindSettingsFile(const std::optional<std::string>& flag) {
  if (flag) return flag;
  const Environment environment = ReadEnvironment();
  const auto variable = environment.find("TIDEMARK_SETTINGS");
  if (variable != environment.end() && !variable->second.empty()) return variable->second;
  std::error_code ignored;
  if (std::filesystem::exists(kSettingsFile, ignored)) return kSettingsFile;
  return std::nullopt;
}

Result<Settings> LoadSettings(const SettingsOptions& options) {
  return Settings::Load(ProgramSettings(), {.file = FindSettingsFile(options.file),
                                            .environment = ReadEnvironment(),
                                            .flags = options.flags});
}

Status WriteSettingsFile(const std::string& path) {
  const std::string text = DefaultFile();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return CannotWrite(path);
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (::close(file) != 0 || !written) return CannotWrite(path);
  return Done{};
}

}  // namespace tidemark::programs
