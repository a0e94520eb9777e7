// Loads the settings from flags, the environment and the settings file. The settings file is the
// one that --settings or TIDEMARK_SETTINGS names, or tidemark.toml in the working folder if it
// exists.
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

// Returns nullopt if there is none.
std::optional<std::string> FindSettingsFile(const std::optional<std::string>& flag);

Result<Settings> LoadSettings(const SettingsOptions& options);

// Writes a file with every setting, its help and its default, all commented out. Only its owner can
// read it, because it will contain secrets. Fails with kInUse if the file exists.
Status WriteSettingsFile(const std::string& path);

}  // namespace tidemark::programs
