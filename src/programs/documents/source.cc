#include "programs/documents/source.h"

#include <filesystem>
#include <string>
#include <utility>

#include "programs/serve/service_folder.h"
#include "programs/settings_file.h"
#include "servers/api/documents/service.h"

namespace tidemark::programs {

namespace {

// The documents in a data folder: its tables, its objects and the service over both.
class DocumentsFolder {
 public:
  static Result<std::shared_ptr<DocumentsFolder>> Open(
      const Settings& settings, const LogOptions& log,
      std::unique_ptr<embedded::EmbeddedTables> tables) {
    const documents::DocumentsOptions options = TRY(documents::OptionsFrom(settings));
    // The folder has the clock that the service needs, so it is made first.
    auto folder = std::make_shared<DocumentsFolder>(log, std::move(tables));
    folder->objects_ =
        TRY(OpenObjects(settings, folder->folder_.clock(), folder->folder_.random()));
    api::ServiceContext context = folder->folder_.context();
    context.objects = folder->objects_.get();
    folder->service_ = TRY(api::DocumentsService::Start(options, context));
    return folder;
  }
  DocumentsFolder(const LogOptions& log, std::unique_ptr<embedded::EmbeddedTables> tables)
      : folder_(log, std::move(tables)) {}

  api::DocumentsService& service() { return *service_; }

 private:
  ServiceFolder folder_;
  std::unique_ptr<objects::Objects> objects_;
  std::unique_ptr<api::DocumentsService> service_;
};

Result<Settings> SettingsFor(const FolderOptions& folder, const DocumentsUpkeep* upkeep) {
  SettingsOptions sources{.file = folder.settings};
  if (folder.data) sources.flags["data"] = *folder.data;
  if (upkeep && upkeep->rate) sources.flags["documents.rate"] = std::to_string(*upkeep->rate);
  return LoadSettings(sources);
}

// The command prints what it does. A line in the log for each document would only hide that.
LogOptions LogOptionsFor(const Settings& settings, const DocumentsUpkeep* upkeep) {
  LogOptions log = LogOptionsOf(settings);
  if (upkeep && log.level == LogLevel::kInfo) log.level = LogLevel::kWarning;
  return log;
}

// How a command gets a cache that it can rely on, although other programs may have changed objects
// since the last run.
enum class Freshness { kLookAtObjects, kCompareAll };

struct SourceNeeds {
  Use use = Use::kWrite;
  Freshness freshness = Freshness::kLookAtObjects;
};

Result<std::unique_ptr<ApiSource>> OpenSource(const SourceOptions& options, SourceNeeds needs,
                                              const DocumentsUpkeep* upkeep) {
  if (options.server) return OpenServerSource(options);
  const Settings settings = TRY(SettingsFor(options.folder, upkeep));
  // Objects that were there before the first table are no typing error in the name of the folder.
  const bool has_objects = std::filesystem::is_directory(FindObjectsFolder(settings));
  const Use use = has_objects && needs.use == Use::kWrite ? Use::kCreate : needs.use;
  auto tables = OpenDataFolder(options.folder, use);
  if (!tables) return WithServerHint(std::move(tables).error());
  auto folder =
      DocumentsFolder::Open(settings, LogOptionsFor(settings, upkeep), *std::move(tables));
  if (!folder) return WithServerHint(std::move(folder).error());
  (*folder)->service().DoubtCache();
  if (needs.freshness == Freshness::kCompareAll) TRY((*folder)->service().Compare());
  return MakeRouterSource(
      *folder, [&](http::Router* router) { (*folder)->service().AddRoutes(router, nullptr); });
}

}  // namespace

Result<std::unique_ptr<ApiSource>> OpenDocumentsSource(const SourceOptions& options, Use use) {
  return OpenSource(options, {.use = use}, nullptr);
}

Result<std::unique_ptr<ApiSource>> OpenComparedDocumentsSource(const SourceOptions& options) {
  return OpenSource(options, {.freshness = Freshness::kCompareAll}, nullptr);
}

Result<std::unique_ptr<ApiSource>> OpenDocumentsSource(const SourceOptions& options,
                                                       const DocumentsUpkeep& upkeep) {
  return OpenSource(options, {}, &upkeep);
}

}  // namespace tidemark::programs
