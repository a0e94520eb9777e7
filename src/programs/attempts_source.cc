#include "programs/attempts_source.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "programs/old_attempts.h"
#include "programs/settings_file.h"
#include "servers/api/attempts_service.h"
#include "servers/api/service_options.h"

namespace tidemark::programs {

namespace {

// What the routes need when no server runs them. The audit goes to standard error, like a server's.
class AttemptsFolder {
 public:
  static Result<std::shared_ptr<AttemptsFolder>> Open(
      const Settings& settings, api::AttemptsServiceOptions options,
      std::unique_ptr<embedded::EmbeddedTables> tables) {
    // The old store needs the clock of the folder that it is to be part of.
    std::shared_ptr<AttemptsFolder> folder(new AttemptsFolder(settings, std::move(tables)));
    folder->old_ = TRY(OpenOldAttempts(settings, options.policy, folder->clock_));
    folder->service_.emplace(std::move(options),
                             api::ServiceContext{.tables = folder->tables_.get(),
                                                 .clock = &folder->clock_,
                                                 .random = &folder->random_,
                                                 .logger = &folder->logger_,
                                                 .old_attempts = folder->old_.get()});
    return folder;
  }

  api::AttemptsService& service() { return *service_; }

 private:
  AttemptsFolder(const Settings& settings, std::unique_ptr<embedded::EmbeddedTables> tables)
      : logger_({.level = LogLevelFrom(settings.Text("log.level")),
                 .format = LogFormatFrom(settings.Text("log.format"))},
                clock_),
        tables_(std::move(tables)) {}

  SystemClock clock_;
  SystemRandom random_;
  Logger logger_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
  std::unique_ptr<moving::AccountStore> old_;  // May be null.
  std::optional<api::AttemptsService> service_;
};

}  // namespace

Result<std::unique_ptr<ApiSource>> OpenAttemptsSource(const SourceOptions& options, Use use) {
  if (options.server) return OpenServerSource(options);
  const Settings settings = TRY(LoadSettings(options.folder));
  api::AttemptsServiceOptions service = TRY(api::ReadAttemptsOptions(settings));
  const std::string table = service.attempts.table;
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
