#include "programs/data_folder.h"

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "objects/directory/directory_objects.h"
#include "objects/directory/folder_watcher.h"
#include "programs/exit_code.h"
#include "programs/settings_file.h"

namespace tidemark::programs {

namespace {

// Another command holds the folder only for a moment, so it is worth waiting a second. A server
// holds it for longer; then we give up.
constexpr int kMaxOpenAttempts = 20;
constexpr std::chrono::milliseconds kOpenPause(50);

Error Explain(Error error, const std::string& folder) {
  if (error.code == ErrorCode::kNotFound) {
    error.message = fmt::format(
        "there is no data folder '{}': name one with --data or TIDEMARK_DATA, or create one with "
        "'tidemark tables create'",
        folder);
  }
  return HeldByAnother(std::move(error));
}

// A setting in MB, as bytes.
Result<size_t> Megabytes(const Settings& settings, std::string_view name, int64_t least) {
  constexpr int64_t kMost = 1 << 20;
  return static_cast<size_t>(TRY(IntegerBetween(settings, name, least, kMost))) << 20;
}

// The same for commands and the server, so that a command does not write with less durability than
// the server that it stands in for.
Result<embedded::Options> StoreOptions(const Settings& settings) {
  const bool every_second = settings.Text("durability") == "every-second";
  embedded::Options options{.folder = settings.Text("data"),
                            .durability = every_second ? embedded::Durability::kEverySecond
                                                       : embedded::Durability::kSynced,
                            .region = settings.Text("aws.region")};
  const size_t block_cache = TRY(Megabytes(settings, "tables.block-cache-mb", 0));
  if (block_cache > 0) options.block_cache_bytes = block_cache;
  options.working_set_bytes = TRY(Megabytes(settings, "tables.working-set-mb", 1));
  options.partition_cache_bytes = TRY(Megabytes(settings, "tables.partition-cache-mb", 0));
  return options;
}

// The lock of the folder is held by one process. Other errors do not go away by waiting.
Result<std::unique_ptr<embedded::EmbeddedTables>> OpenPatiently(const embedded::Options& store) {
  for (int attempt = 1;; ++attempt) {
    auto opened = embedded::EmbeddedTables::Open(store);
    if (opened) return opened;
    if (opened.error().code != ErrorCode::kInUse || attempt == kMaxOpenAttempts) {
      return Explain(std::move(opened).error(), store.folder);
    }
    std::this_thread::sleep_for(kOpenPause);
  }
}

}  // namespace

Result<Settings> LoadSettings(const FolderOptions& options) {
  SettingsOptions sources{.file = options.settings};
  if (options.data) sources.flags["data"] = *options.data;
  return LoadSettings(sources);
}

Result<std::unique_ptr<embedded::EmbeddedTables>> OpenDataFolder(const FolderOptions& options,
                                                                 Use use) {
  const Settings settings = TRY(LoadSettings(options));
  embedded::Options store = TRY(StoreOptions(settings));
  store.access = use == Use::kRead ? embedded::Access::kReadOnly : embedded::Access::kReadWrite;
  store.create_if_missing = use == Use::kCreate;
  // A command ends soon. Sweeping and filling of indexes is for the server, and would delay the
  // end.
  store.background = false;
  return OpenPatiently(store);
}

Result<std::unique_ptr<embedded::EmbeddedTables>> OpenForServing(const Settings& settings,
                                                                 const Logger* logger,
                                                                 Metrics* metrics) {
  embedded::Options store = TRY(StoreOptions(settings));
  store.logger = logger;
  store.metrics = metrics;
  return OpenPatiently(store);
}

std::string FindObjectsFolder(const Settings& settings) {
  const std::string& chosen = settings.Text("objects.folder");
  return chosen.empty() ? settings.Text("data") + "/objects" : chosen;
}

Result<std::unique_ptr<objects::Objects>> OpenObjects(const Settings& settings, const Clock& clock,
                                                      Random& random) {
  auto opened = directory::DirectoryObjects::Open(FindObjectsFolder(settings), clock, random);
  if (!opened) return HeldByAnother(std::move(opened).error());
  return std::unique_ptr<objects::Objects>(*std::move(opened));
}

std::string FindSealKeyFile(const Settings& settings) {
  const std::string& chosen = settings.Text("dynamodb.key-file");
  return chosen.empty() ? settings.Text("data") + "/tidemark-key" : chosen;
}

Result<std::unique_ptr<objects::Watcher>> OpenWatcher(const Settings& settings) {
  auto opened = TRY(directory::FolderWatcher::Open(
      {.folder = FindObjectsFolder(settings), .prefix = settings.Text("documents.prefix")}));
  return std::unique_ptr<objects::Watcher>(std::move(opened));
}

}  // namespace tidemark::programs
