// Opening the data folder that a command works on.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"
#include "base/settings.h"
#include "objects/objects.h"
#include "objects/watcher.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::programs {

// What every command on a data folder can be told.
struct FolderOptions {
  std::optional<std::string> data = std::nullopt;      // --data
  std::optional<std::string> settings = std::nullopt;  // --settings, a TOML file
  bool progress = false;                               // --progress
};

enum class Use {
  kRead,
  kWrite,
  kCreate,  // Write, and make the folder when it is missing.
};

// With the flags of the command above what the file and the environment say.
Result<Settings> LoadSettings(const FolderOptions& options);

// Where the tables are: the flag, the variable TIDEMARK_DATA, the settings file, the default.
Result<std::string> FindDataFolder(const FolderOptions& options);

// kNotFound when there is no such folder, kUnavailable when another process has it open and
// keeps it for more than a moment.
Result<std::unique_ptr<embedded::EmbeddedTables>> OpenDataFolder(const FolderOptions& options,
                                                                 Use use);

// For a server: makes the folder when it is missing, and does the housekeeping. Both outlive what
// is returned.
Result<std::unique_ptr<embedded::EmbeddedTables>> OpenForServing(const Settings& settings,
                                                                 Logger* logger, Metrics* metrics);

// The folder of objects that belongs to the data: that of the setting objects.folder, or "objects"
// beside the tables.
std::string FindObjectsFolder(const Settings& settings);
// It is made when it is missing; kUnavailable when another process has it open. Clock and random
// outlive what is returned.
Result<std::unique_ptr<objects::Objects>> OpenObjects(const Settings& settings, const Clock& clock,
                                                      Random& random);
// Notices what other programs do to the documents in that folder, which is open.
Result<std::unique_ptr<objects::Watcher>> OpenWatcher(const Settings& settings);

}  // namespace tidemark::programs
