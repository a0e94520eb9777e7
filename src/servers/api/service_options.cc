#include "servers/api/service_options.h"

#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "http/listener.h"

namespace tidemark::api {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Slack takes a request for lost after 3 s; storing the event needs some of that.
constexpr milliseconds kMaxGateDeadline(2800);
constexpr milliseconds kMinGateDeadline(100);
constexpr seconds kMinLease(10);
// An event is stored as one item, of 400 KB at most. Slack's are tens of KB at their largest.
constexpr size_t kMaxEventBytes = 380 << 10;
// Slack's ordinary retries end after some six minutes.
constexpr seconds kMinWindow(600);
constexpr seconds kMaxWindow = std::chrono::days(30);
// Of a row in a table; a shard of the channel index leaves room for its other attributes.
constexpr int64_t kMaxItemBytes = 400 << 10;
constexpr int64_t kMinShardBytes = 1 << 10;
constexpr int64_t kMaxShardBytes = 390 << 10;

Result<int64_t> IntegerBetween(const Settings& settings, std::string_view name, int64_t least,
                               int64_t most) {
  const int64_t value = settings.Integer(name);
  if (value >= least && value <= most) return value;
  return Invalid(fmt::format("{} should be between {} and {}, not {}", name, least, most, value));
}

Result<milliseconds> DurationBetween(const Settings& settings, std::string_view name,
                                     milliseconds least, milliseconds most) {
  const milliseconds value = settings.Duration(name);
  if (value >= least && value <= most) return value;
  return Invalid(fmt::format("{} should be between {} ms and {} ms, not {} ms", name, least.count(),
                             most.count(), value.count()));
}

// "C1, C2" apart.
std::vector<std::string> Words(const std::string& list) {
  std::vector<std::string> words;
  std::string word;
  for (char c : list + ",") {
    if (c != ',' && c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

bool IsLoopback(const http::ListenAddress& address) {
  return address.is_v6 ? address.host == "::1" : address.host.starts_with("127.");
}

Result<http::ServerOptions> ReadServer(const Settings& settings) {
  http::ServerOptions options{.listen = settings.Text("listen")};
  const auto address = TRY(http::ListenAddress::Parse(options.listen).WithContext("listen"));
  options.loops = TRY(IntegerBetween(settings, "server.loops", 0, 256));
  const std::string& certificate = settings.Text("tls.certificate");
  const std::string& key = settings.Text("tls.key");
  if (certificate.empty() != key.empty()) {
    return Invalid("tls.certificate and tls.key belong together: set both or neither");
  }
  if (!certificate.empty()) options.tls = {.certificate = certificate, .key = key};
  if (!options.tls && !IsLoopback(address) && !settings.Bool("listen-plainly")) {
    return Invalid(fmt::format(
        "listen is {}, beyond this machine, without TLS: set tls.certificate and tls.key, or "
        "listen-plainly = true behind a proxy that ends TLS",
        options.listen));
  }
  return options;
}

Result<std::vector<slack::SigningSecret>> ReadSecrets(const Settings& settings) {
  std::vector<slack::SigningSecret> secrets;
  for (const char* id : {"signing-secret", "previous-signing-secret"}) {
    Secret secret = TRY(settings.GetSecret(fmt::format("slack.{}", id)));
    if (!secret.empty()) secrets.push_back({.id = id, .value = std::move(secret)});
  }
  return secrets;
}

Status ReadBotToken(const Settings& settings, ServiceOptions* options) {
  Secret token = TRY(settings.GetSecret("slack.bot-token"));
  const std::string& rotated = settings.Text("slack.token-file");
  if (!token.empty() && !rotated.empty()) {
    return Invalid("slack.bot-token and slack.token-file exclude each other: set one of them");
  }
  options->bot_token_file = settings.SecretFile("slack.bot-token").value_or("");
  if (!token.empty()) options->bot_token = std::move(token);
  if (rotated.empty()) return Done{};
  options->rotation = {.file = rotated, .client_id = settings.Text("slack.client-id")};
  options->rotation->client_secret = TRY(settings.GetSecret("slack.client-secret"));
  return Done{};
}

Status ReadGate(const Settings& settings, ServiceOptions* options) {
  const std::string& table = settings.Text("gate.table");
  options->existence.table = table == "off" ? "" : table;
  options->existence.deadline =
      TRY(DurationBetween(settings, "gate.deadline", kMinGateDeadline, kMaxGateDeadline));
  options->existence.missing_token = settings.Text("gate.missing-token") == "allow"
                                         ? gate::MissingToken::kAllow
                                         : gate::MissingToken::kRefuse;
  options->existence.refuse_archived_channels = settings.Text("gate.archived-channels") == "refuse";
  options->existence.partial = settings.Bool("gate.partial");
  options->existence.checks_per_team_minute =
      static_cast<uint32_t>(TRY(IntegerBetween(settings, "gate.checks-a-minute", 1, 1'000'000)));
  options->unknown = settings.Text("gate.unknown") == "quarantine"
                         ? gate::UnknownPolicy::kQuarantine
                         : gate::UnknownPolicy::kRefuse;
  return Done{};
}

Status ReadDedup(const Settings& settings, ServiceOptions* options) {
  const auto whole_seconds = [](milliseconds length) {
    return std::chrono::duration_cast<seconds>(length);
  };
  options->claims.table = settings.Text("dedup.table");
  options->claims.window =
      whole_seconds(TRY(DurationBetween(settings, "dedup.window", kMinWindow, kMaxWindow)));
  options->claims.lease = whole_seconds(
      TRY(DurationBetween(settings, "dedup.lease", kMinLease, options->claims.window)));
  options->claims.max_failures =
      static_cast<uint32_t>(TRY(IntegerBetween(settings, "dedup.max-failures", 1, 1'000)));
  options->dedup.policy = settings.Text("dedup.outage") == "refuse" ? dedup::OutagePolicy::kRefuse
                                                                    : dedup::OutagePolicy::kProceed;
  options->dedup.rollout_percent =
      static_cast<uint32_t>(TRY(IntegerBetween(settings, "dedup.rollout", 0, 100)));
  options->content_advice = settings.Bool("dedup.content");
  return Done{};
}

Status CheckConsent(const Settings& settings) {
  if (settings.Bool("archive.consent")) return Done{};
  return Invalid(
      "archive.consent is false: the archive keeps what people write, also after they edit or "
      "delete it. Set archive.consent = true once the workspace has agreed to that, or "
      "archive.enabled = false to run without the archive");
}

archive::DeletedPolicy ReadDeletedPolicy(const Settings& settings) {
  const std::string& choice = settings.Text("archive.deleted");
  archive::DeletedPolicy policy{
      .purge_after = std::chrono::duration_cast<seconds>(settings.Duration("archive.purge-after"))};
  if (choice == "redact") policy.text = archive::DeletedText::kRedact;
  if (choice == "purge") policy.text = archive::DeletedText::kPurge;
  return policy;
}

Result<attempts::Policy> ReadPolicy(const std::string& path) {
  if (path.empty()) return attempts::Policy::Default();
  std::ifstream file(path);
  std::ostringstream text;
  if (!(text << file.rdbuf())) {
    return Invalid(fmt::format("attempts.policy: the file '{}' cannot be read, or is empty", path));
  }
  return attempts::Policy::Parse(text.str()).WithContext(path);
}

Status CheckOdds(const Settings& settings, const attempts::Policy& policy) {
  const double bound = settings.Decimal("attempts.max-yearly-odds");
  if (bound < 0 || bound > 1) {
    return Invalid(
        fmt::format("attempts.max-yearly-odds should be between 0 and 1, not {}", bound));
  }
  return attempts::CheckOdds(policy, bound).WithContext("attempts.max-yearly-odds");
}

}  // namespace

Result<ArchiveServiceOptions> ReadArchiveOptions(const Settings& settings) {
  ArchiveServiceOptions options;
  const std::string& table = settings.Text("archive.table");
  options.archive = {.table = table, .raw_events = settings.Bool("archive.raw-events")};
  options.archive.warn_bytes =
      TRY(IntegerBetween(settings, "archive.warn-bytes", 1, kMaxItemBytes));
  options.index.table = table;
  options.index.warn_bytes = options.archive.warn_bytes;
  options.index.shard_bytes =
      TRY(IntegerBetween(settings, "archive.shard-bytes", kMinShardBytes, kMaxShardBytes));
  options.deleted = ReadDeletedPolicy(settings);
  options.files = {.table = table,
                   .bucket = settings.Text("archive.bucket"),
                   .spool = settings.Text("data") + "/spool",
                   .ask_first = settings.Bool("archive.file-check")};
  options.files.max_attempts =
      static_cast<uint32_t>(TRY(IntegerBetween(settings, "archive.file-attempts", 1, 100)));
  options.download.origins = Words(settings.Text("archive.file-origins"));
  options.fetch_files = settings.Bool("archive.files");
  return options;
}

Result<AttemptsServiceOptions> ReadAttemptsOptions(const Settings& settings) {
  AttemptsServiceOptions options;
  options.attempts.table = settings.Text("attempts.table");
  options.policy = TRY(ReadPolicy(settings.Text("attempts.policy")));
  options.email_key = TRY(settings.GetSecret("attempts.email-key"));
  // The choices of the setting are the phases.
  options.migration = *moving::ParsePhase(settings.Text("attempts.migration"));
  if (options.migration != moving::Phase::kNew && settings.Text("attempts.old.url").empty()) {
    return Invalid(
        fmt::format("attempts.migration is {}, but attempts.old.url names no old store to move "
                    "from",
                    settings.Text("attempts.migration")));
  }
  return options;
}

Result<ServiceOptions> ReadOptions(const Settings& settings) {
  ServiceOptions options;
  options.server = TRY(ReadServer(settings));
  options.workers = TRY(IntegerBetween(settings, "server.workers", 1, 4'096));
  options.tokens_file = settings.Text("api.tokens");
  options.signing_secrets = TRY(ReadSecrets(settings));
  TRY(ReadBotToken(settings, &options));
  options.web_api.url = settings.Text("slack.api-url");
  options.gate.max_body_bytes = kMaxEventBytes;
  TRY(ReadGate(settings, &options));
  TRY(ReadDedup(settings, &options));
  if (settings.Bool("archive.enabled")) {
    TRY(CheckConsent(settings));
    options.archive = TRY(ReadArchiveOptions(settings));
  }
  if (settings.Bool("attempts.enabled")) {
    options.attempts = TRY(ReadAttemptsOptions(settings));
    TRY(CheckOdds(settings, options.attempts->policy));
  }
  if (settings.Bool("documents.enabled")) {
    options.documents = TRY(documents::OptionsFrom(settings));
  }
  options.work_url = settings.Text("work.url");
  options.work = {.own_bot_id = settings.Text("slack.bot-id"),
                  .task_channels = Words(settings.Text("work.task-channels")),
                  .inbox_channels = Words(settings.Text("work.inbox-channels"))};
  return options;
}

}  // namespace tidemark::api
