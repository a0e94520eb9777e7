#include "programs/documents_source.h"

#include <string>
#include <utility>

#include "programs/service_folder.h"
#include "programs/settings_file.h"
#include "servers/api/documents_service.h"

namespace tidemark::programs {

namespace {

// The documents of a folder, with the objects beside its tables.
class DocumentsFolder {
 public:
  static Result<std::shared_ptr<DocumentsFolder>> Open(
      const Settings& settings, const LogOptions& log,
      std::unique_ptr<embedded::EmbeddedTables> tables) {
    const documents::DocumentsOptions options = TRY(documents::OptionsFrom(settings));
    // The service needs the clock of the folder that it is to be part of.
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

// A line for each of all documents says nothing that the command does not say better.
LogOptions LogOptionsFor(const Settings& settings, const DocumentsUpkeep* upkeep) {
  LogOptions log = LogOptionsOf(settings);
  if (upkeep && log.level == LogLevel::kInfo) log.level = LogLevel::kWarning;
  return log;
}

Result<std::unique_ptr<ApiSource>> OpenSource(const SourceOptions& options, Use use,
                                              const DocumentsUpkeep* upkeep) {
  if (options.server) return OpenServerSource(options);
  const Settings settings = TRY(SettingsFor(options.folder, upkeep));
  auto tables = OpenDataFolder(options.folder, use);
  if (!tables) return WithServerHint(std::move(tables).error());
  auto folder =
      DocumentsFolder::Open(settings, LogOptionsFor(settings, upkeep), *std::move(tables));
  if (!folder) return WithServerHint(std::move(folder).error());
  return MakeRouterSource(
      *folder, [&](http::Router* router) { (*folder)->service().AddRoutes(router, nullptr); });
}

}  // namespace

Result<std::unique_ptr<ApiSource>> OpenDocumentsSource(const SourceOptions& options, Use use) {
  return OpenSource(options, use, nullptr);
}

Result<std::unique_ptr<ApiSource>> OpenDocumentsSource(const SourceOptions& options,
                                                       const DocumentsUpkeep& upkeep) {
  return OpenSource(options, Use::kWrite, &upkeep);
}

}  // namespace tidemark::programs
