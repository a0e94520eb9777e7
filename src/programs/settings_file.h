// Where the settings come from: flags, the environment, and the settings file, which is the one
// that --settings or TIDEMARK_SETTINGS names, or else tidemark.toml in the working folder when it
// is there.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/settings.h"

namespace tidemark::programs {

inline constexpr const char* kSettingsFile = "tidemark.toml";

struct SettingsOptions {
  std::optional<std::string> file = std::nullopt;  // --settings
  std::map<std::string, std::string> flags = {};   // By the setting's name.
};

// nullopt when there is none.
std::optional<std::string> FindSettingsFile(const std::optional<std::string>& flag);

Result<Settings> LoadSettings(const SettingsOptions& options);

// Writes a file with every setting, its help and its default, all commented out, readable by its
// owner alone because secrets will go into it. kInUse when the file is there.
Status WriteSettingsFile(const std::string& path);

}  // namespace tidemark::programs
