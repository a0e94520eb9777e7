#include "programs/data_folder.h"

#include <utility>

#include <fmt/format.h>

#include "base/settings.h"

namespace tidemark::programs {

namespace {

Result<Settings> LoadSettings(const FolderOptions& options) {
  SettingSources sources{.file = options.settings, .environment = ReadEnvironment()};
  if (options.data) sources.flags["data"] = *options.data;
  return Settings::Load(ProgramSettings(), sources);
}

Error Explain(Error error, const std::string& folder) {
  if (error.code == ErrorCode::kNotFound) {
    error.message = fmt::format(
        "there is no data folder '{}': name one with --data or TIDEMARK_DATA, or make one by "
        "creating a table in it",
        folder);
  }
  // Within tables kInUse says that a name is taken, which another name helps; here it says
  // that a process has the folder, which only waiting helps.
  if (error.code == ErrorCode::kInUse) error.code = ErrorCode::kUnavailable;
  return error;
}

}  // namespace

Result<std::string> FindDataFolder(const FolderOptions& options) {
  return TRY(LoadSettings(options)).Text("data");
}

Result<std::unique_ptr<embedded::EmbeddedTables>> OpenDataFolder(const FolderOptions& options,
                                                                 Use use) {
  Settings settings = TRY(LoadSettings(options));
  bool every_second = settings.Text("durability") == "every-second";
  std::string folder = settings.Text("data");
  auto opened = embedded::EmbeddedTables::Open(
      {.folder = folder,
       .durability =
           every_second ? embedded::Durability::kEverySecond : embedded::Durability::kSynced,
       .access = use == Use::kRead ? embedded::Access::kReadOnly : embedded::Access::kReadWrite,
       .create_if_missing = use == Use::kCreate,
       .background = false});
  if (!opened) return Explain(std::move(opened).error(), folder);
  return opened;
}

}  // namespace tidemark::programs
