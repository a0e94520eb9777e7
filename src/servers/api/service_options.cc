#include "servers/api/service_options.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "http/listener.h"
#include "http/url.h"

namespace tidemark::api {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Slack gives up on a request after 3 s, and storing the event needs a part of that.
constexpr milliseconds kMaxGateDeadline(2800);
constexpr milliseconds kMinGateDeadline(100);
constexpr seconds kMinLease(10);
// The limit of the server for a body. An edit of a message of 40,000 characters outside ASCII comes
// close to it: the event has its text and its blocks, before and after, in escapes of six bytes.
constexpr size_t kMaxEventBytes = 1 << 20;
// Slack's retries of one event end after about six minutes.
constexpr seconds kMinWindow(600);
constexpr seconds kMaxWindow = std::chrono::days(30);
// The largest item of a table. A shard of the channel index needs room for its other attributes.
constexpr int64_t kMaxItemBytes = 400 << 10;
constexpr int64_t kMaxDiskBytes = int64_t{1} << 60;
constexpr int64_t kMinShardBytes = 1 << 10;
constexpr int64_t kMaxShardBytes = 390 << 10;

// As it is written in the settings, in the largest unit that fits: 30d, 1500ms.
std::string ToText(milliseconds duration) {
  constexpr std::pair<milliseconds, const char*> kUnits[] = {{std::chrono::days(1), "d"},
                                                             {std::chrono::hours(1), "h"},
                                                             {std::chrono::minutes(1), "m"},
                                                             {std::chrono::seconds(1), "s"}};
  for (const auto& [unit, name] : kUnits) {
    if (duration.count() != 0 && duration % unit == milliseconds(0)) {
      return fmt::format("{}{}", duration / unit, name);
    }
  }
  return fmt::format("{}ms", duration.count());
}

Result<milliseconds> DurationBetween(const Settings& settings, std::string_view name,
                                     milliseconds least, milliseconds most) {
  const milliseconds value = settings.Duration(name);
  if (value >= least && value <= most) return value;
  return Invalid(fmt::format("{} must be between {} and {}, not {}", name, ToText(least),
                             ToText(most), ToText(value)));
}

// Splits "C1, C2" into its words.
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

Result<http::ServerOptions> ReadServer(const Settings& settings) {
  http::ServerOptions options{.listen = settings.Text("listen")};
  const auto address = TRY(http::ListenAddress::Parse(options.listen).WithContext("listen"));
  options.loops = TRY(IntegerBetween(settings, "server.loops", 0, 256));
  options.limits.max_connections_per_address = static_cast<size_t>(
      TRY(IntegerBetween(settings, "server.connections-an-address", 1, 10'000)));
  options.limits.max_bad_requests_a_minute =
      TRY(IntegerBetween(settings, "server.bad-requests-a-minute", 1, 1'000'000));
  const std::string& certificate = settings.Text("tls.certificate");
  const std::string& key = settings.Text("tls.key");
  if (certificate.empty() != key.empty()) {
    return Invalid("tls.certificate and tls.key must be set together, or neither of them");
  }
  if (!certificate.empty()) options.tls = {.certificate = certificate, .key = key};
  if (!options.tls && !address.IsLoopback() && !settings.Bool("listen-plainly")) {
    return Invalid(fmt::format(
        "listen is {}, which other machines can reach, and TLS is not configured: set "
        "tls.certificate and tls.key, or listen-plainly = true behind a proxy that ends TLS",
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

// An address in the machine itself, in a URL.
bool IsLocal(const http::UrlParts& parts) {
  if (!parts.is_ip_literal) return parts.host == "localhost";
  return parts.host == "[::1]" || parts.host == "::1" || parts.host.starts_with("127.");
}

// The bot token and the texts of messages go to this address.
Result<std::string> ReadApiUrl(const Settings& settings) {
  const std::string& url = settings.Text("slack.api-url");
  const http::UrlParts parts = TRY(http::SplitUrl(url).WithContext("slack.api-url"));
  if (parts.scheme == "https" || IsLocal(parts)) return url;
  return Invalid(
      fmt::format("slack.api-url is {}: the bot token would be sent to {} without TLS. Use https",
                  url, parts.host));
}

Result<std::string> ReadWorkUrl(const Settings& settings) {
  const std::string& url = settings.Text("work.url");
  if (url.empty()) return url;
  // The URL may contain a secret, so the message does not show it.
  if (!http::SplitUrl(url)) {
    return Invalid("work.url is not a URL: set one that begins with http:// or https://");
  }
  return url;
}

// Slack's tokens begin with xoxb-, xoxp- or, with rotation, xoxe. The value itself is not shown.
Status CheckBotToken(const Secret& token) {
  const std::string_view text = token.Reveal();
  const bool is_printable =
      std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (text.empty() || (text.starts_with("xox") && is_printable)) return Done{};
  return Invalid(
      "slack.bot-token is not a token of Slack: copy the one that begins with xoxb- from OAuth & "
      "Permissions of the Slack app");
}

// "T01=xoxb-…, T02=xoxb-…". No message shows a token.
Result<std::map<slack::TeamId, Secret>> ReadTeamTokens(const Settings& settings) {
  const Secret list = TRY(settings.GetSecret("slack.bot-tokens"));
  std::map<slack::TeamId, Secret> tokens;
  for (const std::string& word : Words(std::string(list.Reveal()))) {
    const size_t middle = word.find('=');
    const auto team = slack::TeamId::Parse(std::string_view(word).substr(0, middle));
    Secret token(middle == std::string::npos ? "" : word.substr(middle + 1));
    if (!team || token.empty() || !CheckBotToken(token)) {
      return Invalid(
          "slack.bot-tokens must be a list such as T01234567=xoxb-…, T89ABCDEF=xoxb-…: the id of a "
          "team, '=' and its bot token");
    }
    if (!tokens.emplace(*team, std::move(token)).second) {
      return Invalid(
          fmt::format("slack.bot-tokens has two tokens of team {}: remove one", team->text()));
    }
  }
  return tokens;
}

Status ReadBotToken(const Settings& settings, ServiceOptions* options) {
  Secret token = TRY(settings.GetSecret("slack.bot-token"));
  TRY(CheckBotToken(token));
  const std::string& rotated = settings.Text("slack.token-file");
  if (!token.empty() && !rotated.empty()) {
    return Invalid("slack.bot-token and slack.token-file are both set: set only one of them");
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
  options->unknown = settings.Text("gate.unknown") == "refuse" ? gate::UnknownPolicy::kRefuse
                                                               : gate::UnknownPolicy::kAcknowledge;
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
  const std::string marks_table = options->marks.table;
  options->marks = options->claims;
  options->marks.table = marks_table;
  if (options->claims.table == options->marks.table) {
    return Invalid(
        fmt::format("dedup.table is {}, the table of events that were stored: name another",
                    options->claims.table));
  }
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
    return Invalid(
        fmt::format("attempts.policy: the file '{}' cannot be read or is empty: name a file that "
                    "this user can read, or remove the setting for the default policy",
                    path));
  }
  return attempts::Policy::Parse(text.str()).WithContext(path);
}

Result<double> ProbabilityIn(const Settings& settings, std::string_view name) {
  const double value = settings.Decimal(name);
  if (value >= 0 && value <= 1) return value;
  return Invalid(fmt::format("{} must be between 0 and 1, not {}", name, value));
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
  options.files.parallel = TRY(IntegerBetween(settings, "archive.file-downloads", 1, 64));
  options.files.min_free_bytes =
      TRY(IntegerBetween(settings, "archive.file-free-bytes", 0, kMaxDiskBytes));
  options.download.max_bytes =
      TRY(IntegerBetween(settings, "archive.file-max-bytes", 1, kMaxDiskBytes));
  options.download.origins = Words(settings.Text("archive.file-origins"));
  options.fetch_files = settings.Bool("archive.files");
  options.imports_folder = settings.Text("data") + "/imports";
  return options;
}

Result<attempts::OddsBounds> ReadOddsBounds(const Settings& settings) {
  attempts::OddsBounds bounds;
  bounds.between_successes = TRY(ProbabilityIn(settings, "attempts.max-odds"));
  bounds.a_year = TRY(ProbabilityIn(settings, "attempts.max-yearly-odds"));
  return bounds;
}

Result<AttemptsServiceOptions> ReadAttemptsOptions(const Settings& settings) {
  AttemptsServiceOptions options;
  options.table = settings.Text("attempts.table");
  options.policy = TRY(ReadPolicy(settings.Text("attempts.policy")));
  options.email_key = TRY(settings.GetSecret("attempts.email-key"));
  options.previous_email_key = TRY(settings.GetSecret("attempts.previous-email-key"));
  // The choices of the setting are the phases.
  options.migration = *moving::ParsePhase(settings.Text("attempts.migration"));
  if (options.migration != moving::Phase::kNew && settings.Text("attempts.old.url").empty()) {
    return Invalid(
        fmt::format("attempts.migration is {}, but attempts.old.url is empty: set the address of "
                    "the old store",
                    settings.Text("attempts.migration")));
  }
  return options;
}

Result<ServiceOptions> ReadOptions(const Settings& settings) {
  ServiceOptions options;
  options.server = TRY(ReadServer(settings));
  options.workers = TRY(IntegerBetween(settings, "server.workers", 1, 4'096));
  options.tokens_file = settings.Text("api.tokens");
  options.backups_folder = settings.Text("backup.folder");
  options.app_tables = {settings.Text("archive.table"), settings.Text("attempts.table"),
                        settings.Text("documents.table")};
  options.signing_secrets = TRY(ReadSecrets(settings));
  TRY(ReadBotToken(settings, &options));
  options.team_tokens = TRY(ReadTeamTokens(settings));
  options.web_api.url = TRY(ReadApiUrl(settings));
  options.lists = settings.Bool("slack.lists");
  options.gate.max_body_bytes = kMaxEventBytes;
  TRY(ReadGate(settings, &options));
  TRY(ReadDedup(settings, &options));
  // Without a signing secret no event is accepted, so there is nothing to agree to. A user
  // who needs only the other apps does not have to switch the archive off.
  const bool is_archiving = settings.Bool("archive.consent") || !options.signing_secrets.empty();
  if (settings.Bool("archive.enabled") && is_archiving) {
    TRY(CheckConsent(settings));
    options.archive = TRY(ReadArchiveOptions(settings));
    // Texts that the archive would not keep are not kept elsewhere for longer either: a message is
    // deleted after its event was received.
    if (options.archive->deleted.text == archive::DeletedText::kPurge) {
      const std::chrono::seconds purge_after = options.archive->deleted.purge_after;
      options.quarantine.keep_given_up = purge_after;
      options.inbox.life = std::min(options.inbox.life, purge_after);
    }
  }
  if (settings.Bool("attempts.enabled")) {
    options.attempts = TRY(ReadAttemptsOptions(settings));
    const attempts::OddsBounds bounds = TRY(ReadOddsBounds(settings));
    TRY(CheckOdds(options.attempts->policy, bounds));
  }
  if (settings.Bool("documents.enabled")) {
    options.documents = TRY(documents::OptionsFrom(settings));
  }
  options.work_url = TRY(ReadWorkUrl(settings));
  options.work_secret = TRY(settings.GetSecret("work.secret"));
  options.work = {.own_bot_id = settings.Text("slack.bot-id"),
                  .task_channels = Words(settings.Text("work.task-channels")),
                  .inbox_channels = Words(settings.Text("work.inbox-channels"))};
  return options;
}

}  // namespace tidemark::api
