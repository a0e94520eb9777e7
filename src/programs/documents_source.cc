#include "programs/documents_source.h"

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "programs/settings_file.h"
#include "servers/api/documents_service.h"

namespace tidemark::programs {

namespace {

// What the routes need when no server runs them. The log goes to standard error, like a server's.
class DocumentsFolder {
 public:
  static Result<std::shared_ptr<DocumentsFolder>> Open(
      const Settings& settings, std::unique_ptr<embedded::EmbeddedTables> tables) {
    const documents::DocumentsOptions options = TRY(documents::OptionsFrom(settings));
    // The service needs the clock of the folder that it is to be part of.
    std::shared_ptr<DocumentsFolder> folder(new DocumentsFolder(settings, std::move(tables)));
    folder->objects_ = TRY(OpenObjects(settings, folder->clock_, folder->random_));
    folder->service_ = TRY(api::DocumentsService::Start(options, {.tables = folder->tables_.get(),
                                                                  .objects = folder->objects_.get(),
                                                                  .clock = &folder->clock_,
                                                                  .random = &folder->random_,
                                                                  .logger = &folder->logger_}));
    return folder;
  }

  api::DocumentsService& service() { return *service_; }

 private:
  DocumentsFolder(const Settings& settings, std::unique_ptr<embedded::EmbeddedTables> tables)
      : logger_({.level = LogLevelFrom(settings.Text("log.level")),
                 .format = LogFormatFrom(settings.Text("log.format"))},
                clock_),
        tables_(std::move(tables)) {}

  SystemClock clock_;
  SystemRandom random_;
  Logger logger_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
  std::unique_ptr<objects::Objects> objects_;
  std::unique_ptr<api::DocumentsService> service_;
};

}  // namespace

Result<std::unique_ptr<ApiSource>> OpenDocumentsSource(const SourceOptions& options, Use use) {
  if (options.server) return OpenServerSource(options);
  const Settings settings = TRY(LoadSettings(options.folder));
  auto tables = OpenDataFolder(options.folder, use);
  if (!tables) return WithServerHint(std::move(tables).error());
  auto folder = TRY(DocumentsFolder::Open(settings, *std::move(tables)));
  return MakeRouterSource(
      folder, [&](http::Router* router) { folder->service().AddRoutes(router, nullptr); });
}

}  // namespace tidemark::programs
