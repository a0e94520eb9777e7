#include "programs/serve/doctor.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/dedup/claims.h"
#include "apps/dedup/work.h"
#include "base/clock.h"
#include "base/disk_encryption.h"
#include "base/random.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "programs/api_source.h"
#include "programs/data_folder.h"
#include "programs/output.h"
#include "programs/program_runtime.h"
#include "programs/settings_file.h"
#include "servers/api/api_tokens.h"
#include "servers/api/service_options.h"
#include "slack/app.h"
#include "slack/token_file.h"
#include "slack/web_api.h"

namespace tidemark::programs {

namespace {

// For one answer over the network. Long, because a slow answer is not a fault to report.
constexpr std::chrono::seconds kPatience(20);
// A signature is refused if the clocks differ by more than 300 s. Leases need a smaller difference.
constexpr int64_t kSkewWarningSeconds = 2;
constexpr int64_t kSkewProblemSeconds = 60;

enum class Level { kOk, kWarning, kProblem };

struct Finding {
  Level level = Level::kOk;
  std::string subject;
  std::string text;
};

class Doctor {
 public:
  Doctor(const Settings& settings, std::string server)
      : settings_(settings), server_(std::move(server)) {}

  // Reads the settings as the server does. Returns nullopt if the server would not start with them.
  std::optional<api::ServiceOptions> ExamineSettings();
  void ExamineSecret(const api::ServiceOptions& options);
  void ExamineSlack(const api::ServiceOptions& options);
  void ExamineClock(const api::ServiceOptions& options);
  void ExamineStore(const FolderOptions& folder);
  void ExamineObjects();
  void ExaminePermissions();
  void ExamineDisk();
  void ExamineArchive(const api::ServiceOptions& options);
  void ExamineWindow(const api::ServiceOptions& options);
  void ExamineTokens(const api::ServiceOptions& options);

  // Prints all findings, problems last. Returns true if there is no problem.
  bool Report();

 private:
  void Add(Level level, std::string subject, std::string text) {
    findings_.push_back({level, std::move(subject), std::move(text)});
  }
  // A token, and the setting that it comes from: no finding shows a token.
  struct BotToken {
    std::string setting;
    Secret secret;
  };
  std::vector<BotToken> FindBotTokens(const api::ServiceOptions& options);
  void ExamineToken(const api::ServiceOptions& options, const BotToken& token);
  void ExamineScopes(const slack::AuthTest& auth);
  void ExamineClaims(tables::Tables* tables);
  bool ServerAnswers();

  const Settings& settings_;
  const std::string server_;  // The URL of the server that may use the data folder.
  std::vector<Finding> findings_;
  ProgramRuntime program_;
  const Clock& clock_ = program_.runtime().clock;
  Sleeper& sleeper_ = program_.runtime().sleeper;
  http::CurlClient client_{{}, &clock_, &sleeper_};
};

std::optional<api::ServiceOptions> Doctor::ExamineSettings() {
  auto options = api::ReadOptions(settings_);
  if (!options) {
    Add(Level::kProblem, "settings", options.error().message);
    return std::nullopt;
  }
  Add(Level::kOk, "settings", "valid; the server would start with them");
  return std::move(*options);
}

void Doctor::ExamineSecret(const api::ServiceOptions& options) {
  if (options.signing_secrets.empty()) {
    Add(Level::kProblem, "signing secret",
        "slack.signing-secret is not set: copy it from Basic Information of the Slack app");
    return;
  }
  const std::string_view secret = options.signing_secrets.front().value.Reveal();
  const bool is_hex = secret.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (secret.size() == 32 && is_hex) {
    Add(Level::kOk, "signing secret",
        fmt::format("set ({} active)", options.signing_secrets.size()));
  } else {
    Add(Level::kWarning, "signing secret",
        "does not look like Slack's, which have 32 hexadecimal digits: check that it is not the "
        "client secret or a token");
  }
}

// The tokens that the server would use. If there is none, adds a finding that says why.
std::vector<Doctor::BotToken> Doctor::FindBotTokens(const api::ServiceOptions& options) {
  std::vector<BotToken> tokens;
  for (const auto& [team, token] : options.team_tokens) {
    tokens.push_back({fmt::format("team {} in slack.bot-tokens", team.text()), token});
  }
  if (options.bot_token) tokens.push_back({"slack.bot-token", *options.bot_token});
  if (options.rotation) {
    auto pair = slack::ReadTokenPair(options.rotation->file);
    if (pair) {
      tokens.push_back({"slack.token-file", std::move(pair->access_token)});
    } else {
      Add(Level::kProblem, "bot token", pair.error().message);
    }
  } else if (tokens.empty()) {
    Add(Level::kProblem, "bot token",
        "slack.bot-token is not set: copy it (xoxb-…) from OAuth & Permissions of the Slack app");
  }
  return tokens;
}

// Each token is tried by itself: the tokens of several workspaces expire one by one.
void Doctor::ExamineSlack(const api::ServiceOptions& options) {
  for (const BotToken& token : FindBotTokens(options)) ExamineToken(options, token);
}

void Doctor::ExamineToken(const api::ServiceOptions& options, const BotToken& token) {
  slack::WebApi web_api(options.web_api, &client_, program_.runtime());
  const auto tested = web_api.TestAuth(token.secret, Deadline::After(clock_, kPatience));
  if (const auto* error = std::get_if<slack::CallError>(&tested)) {
    const bool is_answered = error->failure == slack::CallFailure::kDenied;
    Add(Level::kProblem, "bot token",
        is_answered
            ? fmt::format("{} refuses the token of {} ({}): install the app to the workspace again "
                          "and copy its bot token",
                          options.web_api.url, token.setting, error->error)
            : fmt::format("auth.test at {} does not answer ({}): check slack.api-url, the network "
                          "and Slack's status page",
                          options.web_api.url, error->error));
    return;
  }
  const auto& auth = std::get<slack::AuthTest>(tested);
  Add(Level::kOk, "bot token",
      fmt::format("team {}, user {}, bot {}", auth.team_id, auth.user_id, auth.bot_id));
  if (const auto warning = dedup::OwnBotWarning(options.work.own_bot_id)) {
    Add(Level::kWarning, "bot id",
        fmt::format("{} (slack.bot-id = \"{}\")", *warning, auth.bot_id));
  }
  ExamineScopes(auth);
}

// If a scope is missing, nobody notices until Slack refuses a call. A scope that is not needed is a
// danger: somebody who steals the token could use it.
void Doctor::ExamineScopes(const slack::AuthTest& auth) {
  std::vector<std::string> missing;
  for (const slack::Scope& scope : slack::RequiredScopes()) {
    if (std::ranges::find(auth.scopes, scope.name) == auth.scopes.end()) {
      missing.push_back(fmt::format("{} ({})", scope.name, scope.why));
    }
  }
  std::vector<std::string> unused;
  for (const std::string& scope : auth.scopes) {
    const auto known = std::ranges::find(slack::RequiredScopes(), scope, &slack::Scope::name);
    if (known == slack::RequiredScopes().end()) unused.push_back(scope);
  }
  if (!missing.empty()) {
    Add(Level::kProblem, "scopes",
        fmt::format("missing: {}; update the app from `tidemark manifest` and install it again",
                    fmt::join(missing, ", ")));
  } else {
    Add(Level::kOk, "scopes", "the app has all scopes that it needs");
  }
  if (!unused.empty()) {
    Add(Level::kWarning, "scopes",
        fmt::format("not needed, please remove: {} (OAuth & Permissions of the Slack app)",
                    fmt::join(unused, ", ")));
  }
}

// Seconds since the epoch of "Sun, 06 Nov 1994 08:49:37 GMT".
std::optional<EpochSeconds> ParseDate(std::string_view text) {
  std::tm parts{};
  if (strptime(std::string(text).c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts) == nullptr) {
    return std::nullopt;
  }
  return timegm(&parts);
}

// Slack's own answer has the time in its Date header; no time server is asked.
void Doctor::ExamineClock(const api::ServiceOptions& options) {
  const http::Exchange exchange =
      client_.Send({.url = options.web_api.url + "/api.test"}, Deadline::After(clock_, kPatience));
  const auto date = exchange.response.headers.Find("Date");
  const auto theirs = date ? ParseDate(*date) : std::nullopt;
  if (!theirs) {
    Add(Level::kWarning, "clock",
        fmt::format("could not be compared, because {} did not return a time: check that this "
                    "machine can reach it, and that a time service (NTP) runs",
                    options.web_api.url));
    return;
  }
  const int64_t skew = clock_.NowSeconds() - *theirs;
  const int64_t size = std::abs(skew);
  const Level level = size > kSkewProblemSeconds   ? Level::kProblem
                      : size > kSkewWarningSeconds ? Level::kWarning
                                                   : Level::kOk;
  std::string text = fmt::format("{} s {} Slack's", size, skew < 0 ? "behind" : "ahead of");
  if (level != Level::kOk)
    text +=
        ": run a time service (NTP); signatures are refused if clocks differ by more than 300 s";
  Add(level, "clock", std::move(text));
}

bool Doctor::ServerAnswers() {
  // Trust the configured certificate itself, so that a self-signed one works too.
  http::CurlClient client({.authorities = settings_.Text("tls.certificate")}, &clock_, &sleeper_);
  const http::Exchange exchange =
      client.Send({.url = server_ + "/healthz"}, Deadline::After(clock_, kPatience));
  return exchange.outcome == http::Outcome::kAnswered && exchange.response.status == 200;
}

void Doctor::ExamineClaims(tables::Tables* tables) {
  dedup::Claims claims({.table = settings_.Text("dedup.table")}, tables, program_.runtime());
  const Status checked = claims.CheckTable();
  if (checked) return;
  // The first start creates the table. If it exists with other keys, another program uses the name.
  const bool missing = checked.error().code == ErrorCode::kNotFound;
  Add(missing ? Level::kWarning : Level::kProblem, "claims",
      missing ? checked.error().message + "; `tidemark serve` creates it"
              : checked.error().message);
}

void Doctor::ExamineStore(const FolderOptions& options) {
  const std::string& folder = settings_.Text("data");
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) {
    Add(Level::kWarning, "store",
        fmt::format("the folder '{}' does not exist yet; `tidemark serve` creates it", folder));
    return;
  }
  // If a server has the folder open, that server is asked. If it answers, the folder can be opened.
  const auto tables = OpenDataFolder(options, Use::kRead);
  if (tables) {
    const auto listed = (*tables)->ListTables({});
    if (listed) {
      Add(Level::kOk, "store",
          fmt::format("'{}' can be opened; {} tables", folder, listed->tables.size()));
      ExamineClaims(tables->get());
    } else {
      Add(Level::kProblem, "store",
          fmt::format("the tables in '{}' cannot be listed: {}", folder, listed.error().message));
    }
  } else if (tables.error().code == ErrorCode::kUnavailable && ServerAnswers()) {
    Add(Level::kOk, "store",
        fmt::format("the server at {} uses '{}' and answers; to check its rows, run "
                    "'tidemark tables verify --server {}'",
                    server_, folder, server_));
  } else if (tables.error().code == ErrorCode::kUnavailable) {
    // The usual reason is a server that was started with another address.
    const bool is_tls = server_.starts_with("https:");
    Add(Level::kWarning, "store",
        fmt::format("another process has '{}' open, probably a server, and none answers at {}{}: "
                    "name the server with --server URL, or stop that process",
                    folder, server_, is_tls ? " with a valid certificate" : ""));
  } else {
    Add(Level::kProblem, "store", tables.error().message);
  }
}

// Opening checks what the file system must support. If a server has the folder open, it has checked
// this already.
void Doctor::ExamineObjects() {
  const std::string folder = FindObjectsFolder(settings_);
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) return;
  SystemRandom random;
  const auto objects = OpenObjects(settings_, clock_, random);
  if (objects) {
    Add(Level::kOk, "objects", fmt::format("'{}' can be opened", folder));
  } else if (objects.error().code != ErrorCode::kUnavailable) {
    Add(Level::kProblem, "objects", objects.error().message);
  }
}

// Other users of the machine must not read messages and attempts.
void Doctor::ExaminePermissions() {
  const std::string& folder = settings_.Text("data");
  constexpr auto kOthers = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(folder, failed);
  if (failed || !std::filesystem::exists(status)) return;
  if ((status.permissions() & kOthers) == std::filesystem::perms::none) {
    return Add(Level::kOk, "permissions", fmt::format("only its user can read '{}'", folder));
  }
  Add(Level::kWarning, "permissions",
      fmt::format("other users of this machine can enter '{0}': run 'chmod 700 {0}'", folder));
}

void Doctor::ExamineDisk() {
  constexpr const char* kSubject = "encryption at rest";
  const std::string& folder = settings_.Text("data");
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) return;
  switch (EncryptionOf(folder)) {
    case DiskEncryption::kEncrypted:
      return Add(Level::kOk, kSubject, fmt::format("'{}' is on an encrypted disk", folder));
    case DiskEncryption::kNotSeen:
      return Add(
          Level::kWarning, kSubject,
          fmt::format("the disk of '{}' is not encrypted by this system: use an encrypted disk "
                      "(LUKS), unless the cloud provider encrypts the volume",
                      folder));
    case DiskEncryption::kUnknown:
      return Add(
          Level::kWarning, kSubject,
          fmt::format("cannot find out which disk '{}' is on: make sure that it is encrypted",
                      folder));
  }
}

// A server without the archive starts and answers Slack, and keeps nothing.
void Doctor::ExamineArchive(const api::ServiceOptions& options) {
  if (options.archive) return Add(Level::kOk, "archive", "on");
  Add(Level::kWarning, "archive",
      "off: messages are not kept. Set slack.signing-secret and archive.consent = true, and do not "
      "set archive.enabled = false");
}

void Doctor::ExamineWindow(const api::ServiceOptions& options) {
  const auto checked = dedup::CheckWindow(options.claims.window, {});
  Add(checked ? Level::kOk : Level::kWarning, "dedup window",
      checked ? "longer than Slack's longest redelivery" : checked.error().message);
}

void Doctor::ExamineTokens(const api::ServiceOptions& options) {
  const auto tokens = api::ListTokens(options.tokens_file);
  if (!tokens) {
    Add(Level::kProblem, "API tokens", tokens.error().message);
  } else if (tokens->empty()) {
    Add(Level::kWarning, "API tokens",
        "there are none, so nobody can use the API: create one with `tidemark token create NAME`");
  } else {
    Add(Level::kOk, "API tokens", fmt::format("{} in {}", tokens->size(), options.tokens_file));
  }
}

bool Doctor::Report() {
  std::ranges::stable_sort(findings_, {}, &Finding::level);
  for (const Finding& finding : findings_) {
    const char* mark = finding.level == Level::kOk        ? "ok     "
                       : finding.level == Level::kWarning ? "warning"
                                                          : "problem";
    PrintLine(fmt::format("{}  {}: {}", mark, finding.subject, finding.text));
  }
  return findings_.empty() || findings_.back().level != Level::kProblem;
}

// The server that may have the data folder open.
Result<std::string> ServerOf(const DoctorOptions& options, const Settings& settings) {
  if (options.server) return ServerUrl(*options.server);
  const bool is_tls = !settings.Text("tls.certificate").empty();
  return fmt::format("{}://{}", is_tls ? "https" : "http", settings.Text("listen"));
}

}  // namespace

Result<ExitCode> Examine(const DoctorOptions& options) {
  const FolderOptions folder{.data = options.data, .settings = options.settings};
  const Settings settings = TRY(LoadSettings(folder));
  Doctor doctor(settings, TRY(ServerOf(options, settings)));
  if (const auto service = doctor.ExamineSettings()) {
    doctor.ExamineSecret(*service);
    doctor.ExamineSlack(*service);
    doctor.ExamineClock(*service);
    doctor.ExamineArchive(*service);
    doctor.ExamineWindow(*service);
    doctor.ExamineTokens(*service);
  }
  doctor.ExamineStore(folder);
  doctor.ExamineObjects();
  doctor.ExaminePermissions();
  doctor.ExamineDisk();
  return doctor.Report() ? ExitCode::kOk : ExitCode::kNotMet;
}

}  // namespace tidemark::programs
