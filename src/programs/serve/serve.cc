#include "programs/serve/serve.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>

#include "apps/dedup/work.h"
#include "base/deadline.h"
#include "base/descriptor_limit.h"
#include "http/client.h"
#include "programs/attempts/old_store.h"
#include "programs/backup/copy.h"
#include "programs/data_folder.h"
#include "programs/key/served_keys.h"
#include "programs/output.h"
#include "programs/program_runtime.h"
#include "programs/program_settings.h"
#include "programs/serve/dynamodb_port.h"
#include "programs/serve/stop_within.h"
#include "programs/settings_file.h"
#include "programs/signals.h"
#include "servers/api/service.h"
#include "servers/api/tables/routes.h"

namespace tidemark::programs {

namespace {

// A core file would contain the secrets and what people wrote.
void DisableCoreDumps(const Logger& logger) {
  const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  if (::setrlimit(RLIMIT_CORE, &none) == 0) return;
  logger.Log(LogLevel::kWarning, "core dumps cannot be switched off; a crash may write secrets");
}

// The ports of the server. The second is null when it is off.
struct Ports {
  api::Service& service;
  DynamoDbPort* dynamodb;

  Status ReloadCertificate() const {
    TRY(service.ReloadCertificate());
    return dynamodb == nullptr ? Status(Done{}) : dynamodb->ReloadCertificate();
  }
  void Stop(const Deadline& deadline) const {
    StopWithin(deadline, {[&](std::chrono::milliseconds patience) {
                            if (dynamodb != nullptr) dynamodb->Stop(patience);
                          },
                          [&](std::chrono::milliseconds patience) { service.Stop(patience); }});
  }
};

void ReloadCertificate(const Ports& ports, const Logger& logger) {
  const auto reloaded = ports.ReloadCertificate();
  if (reloaded) {
    logger.Log(LogLevel::kInfo, "reloaded the certificate");
  } else {
    logger.Log(LogLevel::kError, "could not reload the certificate; the old one stays in use",
               {{"error", reloaded.error().message}});
  }
}

enum class Protocol { kPlain, kTls };

void ServeUntilTold(const StopSignals& signals, Protocol protocol, const Ports& ports,
                    const Logger& logger) {
  while (true) {
    const int signal = signals.Wait();
    if (signal != SIGHUP) {
      logger.Log(LogLevel::kInfo, "stopping", {{"signal", signal}});
      return;
    }
    if (protocol == Protocol::kTls) {
      ReloadCertificate(ports, logger);
    } else {
      logger.Log(LogLevel::kInfo, "there is no certificate to reload: TLS is not configured");
    }
  }
}

// A secret that every user of the machine can read is not secret. Some platforms mount secrets in
// this way, so this is only a warning.
void WarnOfReadableSecrets(const Settings& settings, const std::optional<std::string>& file,
                           const Logger& logger) {
  const auto warn_if_readable = [&](std::string_view name, const std::string& path) {
    struct stat found = {};
    if (::stat(path.c_str(), &found) != 0 || (found.st_mode & S_IROTH) == 0) return;
    logger.Log(LogLevel::kWarning, "every user of this machine can read a secret: chmod o= FILE",
               {{"setting", name}, {"file", path}});
  };
  for (const Setting& setting : ProgramSettings()) {
    if (setting.kind != SettingKind::kSecret || !settings.IsGiven(setting.name)) continue;
    const auto path = settings.SecretFile(setting.name);
    if (path || file) warn_if_readable(setting.name, path ? *path : *file);
  }
}

// Clients must not use up the descriptors that the stores need, and one address must not use up the
// connections of all others. An operator who has set the limit of an address may have a proxy. Then
// all clients have the address of the proxy, so the limit is used as it is.
// The limits are for each of the ports.
void BoundConnections(const Settings& settings, http::ServerLimits* limits) {
  const size_t ports = settings.Text("dynamodb.listen").empty() ? 1 : 2;
  limits->max_connections =
      ConnectionsWithin(RaiseDescriptorLimit(), ports * limits->max_connections) / ports;
  if (settings.IsGiven("server.connections-an-address")) return;
  limits->max_connections_per_address =
      std::min(limits->max_connections_per_address, limits->max_connections / 4);
}

// On the first start, writes a settings file and prints what to do next.
void Welcome(const ServeOptions& options) {
  if (FindSettingsFile(options.settings)) return;
  if (const auto written = WriteSettingsFile(kSettingsFile); !written) {
    // The server does not need the file: all settings may be in the environment.
    PrintMessage(fmt::format("{}; continuing with defaults, flags and environment variables",
                             written.error().message));
    return;
  }
  PrintMessage(fmt::format(
      "Wrote {} with every setting and its default. Next steps:\n"
      "  1. Create a Slack app from the manifest:  tidemark manifest --url https://YOUR-HOST\n"
      "  2. Put its signing secret and bot token into {} (slack.signing-secret,\n"
      "     slack.bot-token). Set archive.consent = true when the workspace has agreed to be\n"
      "     archived. Then start the server again.\n"
      "  3. Create a token for the API:            tidemark token create me\n"
      "  4. Check your setup:                      tidemark doctor\n"
      "To try it without a Slack workspace:        tidemark demo --help\n",
      kSettingsFile, kSettingsFile));
}

void WarnOfWhatIsMissing(const api::ServiceOptions& options, const Logger& logger) {
  if (options.signing_secrets.empty()) {
    logger.Log(
        LogLevel::kWarning,
        "slack.signing-secret is not set: every request to /slack/events is refused; copy it "
        "from Basic Information of the Slack app");
  }
  if (options.signing_secrets.empty() && !options.archive) {
    logger.Log(LogLevel::kInfo,
               "the archive is off: it needs slack.signing-secret and archive.consent");
  }
  if (!options.bot_token && !options.rotation && options.team_tokens.empty()) {
    logger.Log(LogLevel::kWarning,
               options.existence.missing_token == gate::MissingToken::kAllow
                   ? "slack.bot-token is not set: teams, users and channels are not checked"
                   : "slack.bot-token is not set: every event is refused and kept in quarantine");
  }
  if (options.work_url.empty()) return;
  const auto warning = dedup::OwnBotWarning(options.work.own_bot_id);
  if (warning) logger.Log(LogLevel::kWarning, *warning, {{"setting", "slack.bot-id"}});
}

// Returns null if it is switched off, or if it cannot be opened: the server works without it.
std::unique_ptr<objects::Watcher> WatcherOf(const Settings& settings,
                                            const api::ServiceOptions& options,
                                            const Logger& logger) {
  const bool wanted = options.documents && options.documents->enabled;
  if (!wanted || !settings.Bool("documents.watch")) return nullptr;
  auto opened = OpenWatcher(settings);
  if (opened) return *std::move(opened);
  logger.Log(LogLevel::kWarning,
             "cannot watch the folder of objects: changes by other programs will not be noticed",
             {{"error", opened.error().message}});
  return nullptr;
}

api::VerifyTables VerifierOf(embedded::EmbeddedTables& tables) {
  return [&tables](const std::atomic<bool>* stop) -> Result<std::string> {
    return programs::ToJson(TRY(tables.Verify(stop)));
  };
}

// A server that was killed may have left a backup that takes as much space as a complete one.
void RemoveOldWork(const std::string& backups, const Logger& logger) {
  const auto removed = RemoveInterruptedBackups(backups);
  if (!removed) {
    logger.Log(LogLevel::kWarning, "cannot remove interrupted backups",
               {{"folder", backups}, {"error", removed.error().message}});
  } else if (*removed > 0) {
    logger.Log(LogLevel::kInfo, "removed interrupted backups",
               {{"folder", backups}, {"backups", *removed}});
  }
}

}  // namespace

Result<ExitCode> Serve(const ServeOptions& options) {
  const Settings settings = TRY(LoadSettings({.file = options.settings, .flags = options.flags}));
  Welcome(options);
  api::ServiceOptions service_options = TRY(api::ReadOptions(settings));
  BoundConnections(settings, &service_options.server.limits);
  // Before the first thread: threads inherit which signals are blocked, and a signal that a thread
  // of RocksDB received would end the process without a clean stop.
  const StopSignals signals;

  ProgramRuntime program(LogOptionsOf(settings));
  const Runtime runtime = program.runtime();
  const Logger& logger = runtime.logger;
  DisableCoreDumps(logger);
  WarnOfReadableSecrets(settings, FindSettingsFile(options.settings), logger);
  const auto tables = TRY(OpenForServing(settings, &runtime.logger, &runtime.metrics));
  objects::ObservedDeletes objects(TRY(OpenObjects(settings, runtime.clock, runtime.random)));
  RemoveOldWork(settings.Text("backup.folder"), logger);
  FolderBackup backup_maker(
      {.tables = tables.get(), .objects = &objects, .objects_folder = FindObjectsFolder(settings)});
  const auto watcher = WatcherOf(settings, service_options, logger);
  std::unique_ptr<moving::MigrationStore> old_attempts;
  if (service_options.attempts) {
    old_attempts = TRY(OpenOldAttempts(settings, service_options.attempts->policy, runtime.clock));
  }
  http::CurlClient client({}, &runtime.clock, &runtime.sleeper);
  WarnOfWhatIsMissing(service_options, logger);
  const auto protocol = service_options.server.tls ? Protocol::kTls : Protocol::kPlain;
  const http::ServerOptions server_options = service_options.server;
  std::set<std::string> own_tables = api::OwnTables(service_options);

  ServedKeys keys(FindSealKeyFile(settings), tables.get(), runtime);

  // Declared after everything that it uses, so that it is destroyed first.
  const auto started =
      api::Service::Start(std::move(service_options), {.tables = tables.get(),
                                                       .objects = &objects,
                                                       .watcher = watcher.get(),
                                                       .client = &client,
                                                       .runtime = runtime,
                                                       .old_attempts = old_attempts.get(),
                                                       .backup_maker = &backup_maker,
                                                       .verify_tables = VerifierOf(*tables),
                                                       .keys = &keys});
  if (!started) return HeldByAnother(started.error());
  api::Service& service = **started;
  const auto opened = DynamoDbPort::Open(settings, server_options, std::move(own_tables),
                                         tables.get(), &keys, runtime);
  if (!opened) return HeldByAnother(opened.error());
  DynamoDbPort* const dynamodb = opened->get();
  logger.Log(LogLevel::kInfo, "serving",
             {{"address", service.address()}, {"data", settings.Text("data")}});
  const Ports ports{.service = service, .dynamodb = dynamodb};
  ServeUntilTold(signals, protocol, ports, logger);
  // Requests in progress are answered. The stores are closed after that, by their destructors.
  ports.Stop(Deadline::After(runtime.clock, settings.Duration("server.patience")));
  logger.Log(LogLevel::kInfo, "stopped");
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
