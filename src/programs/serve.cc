#include "programs/serve.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "apps/dedup/work.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "programs/data_folder.h"
#include "programs/old_attempts.h"
#include "programs/output.h"
#include "programs/settings_file.h"
#include "programs/signals.h"
#include "servers/api/service.h"

namespace tidemark::programs {

namespace {

void ServeUntilTold(const StopSignals& signals, api::Service& service, const Logger& logger) {
  while (true) {
    const int signal = signals.Wait();
    if (signal != SIGHUP) {
      logger.Log(LogLevel::kInfo, "told to stop", {{"signal", signal}});
      return;
    }
    const auto reloaded = service.ReloadCertificate();
    if (reloaded) {
      logger.Log(LogLevel::kInfo, "the certificate was read again");
    } else {
      logger.Log(LogLevel::kError, "the certificate could not be read; the old one stays",
                 {{"error", reloaded.error().message}});
    }
  }
}

// The first start: leaves a settings file behind, and says what to do next.
void Welcome(const ServeOptions& options) {
  if (FindSettingsFile(options.settings)) return;
  if (const auto written = WriteSettingsFile(kSettingsFile); !written) {
    // A server can do without: what it is told may all be in its environment.
    PrintMessage(
        fmt::format("{}; going on with defaults, flags and variables", written.error().message));
    return;
  }
  PrintMessage(fmt::format(
      "Wrote {}, with every setting and its default. What to do next:\n"
      "  1. Make a Slack app from the manifest:  tidemark manifest --url https://YOUR-HOST\n"
      "  2. Put its signing secret and bot token into {} (slack.signing-secret,\n"
      "     slack.bot-token), and archive.consent = true once the workspace has agreed; start "
      "again.\n"
      "  3. Make a token for the API:            tidemark token create me\n"
      "  4. See whether all is well:             tidemark doctor\n"
      "Without a Slack account, try a pretend one:  tidemark demo --help\n",
      kSettingsFile, kSettingsFile));
}

void WarnOfWhatIsMissing(const api::ServiceOptions& options, const Logger& logger) {
  if (options.signing_secrets.empty()) {
    logger.Log(LogLevel::kWarning,
               "slack.signing-secret is not set: every request to /slack/events is refused");
  }
  if (!options.bot_token && !options.rotation) {
    logger.Log(LogLevel::kWarning,
               options.existence.missing_token == gate::MissingToken::kAllow
                   ? "slack.bot-token is not set: existence is not checked"
                   : "slack.bot-token is not set: every event is refused, and kept in quarantine");
  }
  if (options.work_url.empty()) return;
  const auto warning = dedup::OwnBotWarning(options.work.own_bot_id);
  if (warning) logger.Log(LogLevel::kWarning, *warning, {{"setting", "slack.bot-id"}});
}

// Null when nobody wants one, or when there is none: the server does without.
std::unique_ptr<objects::Watcher> WatcherOf(const Settings& settings,
                                            const api::ServiceOptions& options,
                                            const Logger& logger) {
  const bool wanted = options.documents && options.documents->enabled;
  if (!wanted || !settings.Bool("documents.watch")) return nullptr;
  auto opened = OpenWatcher(settings);
  if (opened) return *std::move(opened);
  logger.Log(LogLevel::kWarning, "documents that other programs write are not noticed",
             {{"error", opened.error().message}});
  return nullptr;
}

}  // namespace

Result<ExitCode> Serve(const ServeOptions& options) {
  const Settings settings = TRY(LoadSettings({.file = options.settings, .flags = options.flags}));
  Welcome(options);
  api::ServiceOptions service_options = TRY(api::ReadOptions(settings));
  const StopSignals signals;

  SystemClock clock;
  SystemRandom random;
  SystemSleeper sleeper;
  Metrics metrics;
  Logger logger({.level = LogLevelFrom(settings.Text("log.level")),
                 .format = LogFormatFrom(settings.Text("log.format"))},
                clock);
  const auto tables = TRY(OpenForServing(settings, &logger, &metrics));
  const auto objects = TRY(OpenObjects(settings, clock, random));
  const auto watcher = WatcherOf(settings, service_options, logger);
  std::unique_ptr<moving::AccountStore> old_attempts;
  if (service_options.attempts) {
    old_attempts = TRY(OpenOldAttempts(settings, service_options.attempts->policy, clock));
  }
  http::CurlClient client({}, &clock, &sleeper);
  WarnOfWhatIsMissing(service_options, logger);

  const auto started =
      api::Service::Start(std::move(service_options), {.tables = tables.get(),
                                                       .objects = objects.get(),
                                                       .watcher = watcher.get(),
                                                       .client = &client,
                                                       .clock = &clock,
                                                       .random = &random,
                                                       .sleeper = &sleeper,
                                                       .logger = &logger,
                                                       .metrics = &metrics,
                                                       .old_attempts = old_attempts.get()});
  if (!started) return HeldByAnother(started.error());
  api::Service& service = **started;
  logger.Log(LogLevel::kInfo, "serving",
             {{"address", service.address()}, {"data", settings.Text("data")}});
  ServeUntilTold(signals, service, logger);
  service.Stop(settings.Duration("server.patience"));
  logger.Log(LogLevel::kInfo, "stopped");
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
