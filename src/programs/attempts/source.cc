#include "programs/attempts/source.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "programs/attempts/old_store.h"
#include "programs/serve/service_folder.h"
#include "servers/api/attempts/service.h"
#include "servers/api/service_options.h"

namespace tidemark::programs {

namespace {

// The attempts of a data folder. Audit lines go to standard error.
class AttemptsFolder {
 public:
  static Result<std::shared_ptr<AttemptsFolder>> Open(
      const Settings& settings, api::AttemptsServiceOptions options,
      std::unique_ptr<embedded::EmbeddedTables> tables) {
    // The old store needs the clock of the folder, so the folder is made first.
    auto folder = std::make_shared<AttemptsFolder>(settings, std::move(tables));
    folder->old_ = TRY(OpenOldAttempts(settings, options.policy, folder->folder_.clock()));
    api::ServiceContext context = folder->folder_.context();
    context.old_attempts = folder->old_.get();
    folder->service_.emplace(std::move(options), context);
    return folder;
  }
  AttemptsFolder(const Settings& settings, std::unique_ptr<embedded::EmbeddedTables> tables)
      : folder_(LogOptionsOf(settings), std::move(tables)) {}

  api::AttemptsService& service() { return *service_; }

 private:
  ServiceFolder folder_;
  std::unique_ptr<moving::MigrationStore> old_;  // Null: there is no old store.
  std::optional<api::AttemptsService> service_;
};

}  // namespace

Result<std::unique_ptr<ApiSource>> OpenAttemptsSource(const SourceOptions& options, Use use) {
  if (options.server) return OpenServerSource(options);
  const Settings settings = TRY(LoadSettings(options.folder));
  api::AttemptsServiceOptions service = TRY(api::ReadAttemptsOptions(settings));
  const std::string table = service.table;
  auto tables = OpenDataFolder(options.folder, use);
  if (!tables) return WithServerHint(std::move(tables).error());
  const auto described = (*tables)->DescribeTable(table);
  if (!described && described.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("the data folder has no attempts (table '{}'): run 'tidemark serve' "
                             "first",
                             table)};
  }
  if (!described) return described.error();
  auto folder = TRY(AttemptsFolder::Open(settings, std::move(service), *std::move(tables)));
  return MakeRouterSource(
      folder, [&](http::Router* router) { folder->service().AddRoutes(router, nullptr); });
}

}  // namespace tidemark::programs
