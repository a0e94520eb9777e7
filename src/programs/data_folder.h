// Opens the data folder for a command.
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

// The options of every command that uses a data folder.
struct FolderOptions {
  std::optional<std::string> data = std::nullopt;      // --data
  std::optional<std::string> settings = std::nullopt;  // --settings, a TOML file
  bool progress = false;                               // --progress
};

enum class Use {
  kRead,
  kWrite,
  kCreate,  // Write, and create the folder if it is missing.
};

// Loads the settings. The flags of the command override the environment and the file.
Result<Settings> LoadSettings(const FolderOptions& options);

// Fails with kNotFound if there is no such folder, and with kUnavailable if another process keeps
// it open for longer than a second.
Result<std::unique_ptr<embedded::EmbeddedTables>> OpenDataFolder(const FolderOptions& options,
                                                                 Use use);

// Opens the folder for a server: creates it if it is missing, and runs the housekeeping in the
// background. Logger and metrics must outlive the result.
Result<std::unique_ptr<embedded::EmbeddedTables>> OpenForServing(const Settings& settings,
                                                                 const Logger* logger,
                                                                 Metrics* metrics);

// The folder of objects: the setting objects.folder, or "objects" in the data folder.
std::string FindObjectsFolder(const Settings& settings);
// Opens the folder of objects, and creates it if it is missing. Fails with kUnavailable if another
// process has it open. Clock and random must outlive the result.
Result<std::unique_ptr<objects::Objects>> OpenObjects(const Settings& settings, const Clock& clock,
                                                      Random& random);
// The file of the key under which access keys are encrypted: the setting dynamodb.key-file, or
// "tidemark-key" in the data folder.
std::string FindSealKeyFile(const Settings& settings);
// Watches what other programs do to the documents in that folder, which must be open.
Result<std::unique_ptr<objects::Watcher>> OpenWatcher(const Settings& settings);

}  // namespace tidemark::programs
