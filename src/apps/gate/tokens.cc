#include "apps/gate/tokens.h"

#include <utility>

#include "base/deadline.h"
#include "base/hashing.h"

namespace tidemark::gate {

namespace {

// Enough digits to distinguish tokens. Too few to help an attacker who reads the table to guess a
// token.
constexpr size_t kGenerationDigits = 16;
// Long, because an answer that comes too late is lost together with the new refresh token in it.
constexpr std::chrono::seconds kRefreshDeadline(60);

Credential CredentialOf(Secret token) {
  std::string generation = ToHex(Sha256(token.Reveal())).substr(0, kGenerationDigits);
  return {.token = std::move(token), .generation = std::move(generation)};
}

std::vector<Credential> AllOf(const std::optional<Credential>& credential) {
  return credential ? std::vector<Credential>{*credential} : std::vector<Credential>();
}

}  // namespace

FixedTokens::FixedTokens(std::optional<Secret> token) {
  if (token) credential_ = CredentialOf(*std::move(token));
}

std::optional<Credential> FixedTokens::Find(const slack::TeamId&) const { return credential_; }

std::vector<Credential> FixedTokens::All() const { return AllOf(credential_); }

FileTokens::FileTokens(const std::string& path, const Runtime& runtime)
    : logger_(runtime.logger), watch_(path, &runtime.clock) {}

Result<std::unique_ptr<FileTokens>> FileTokens::Open(const std::string& path,
                                                     const Runtime& runtime) {
  TRY(slack::ReadToken(path));
  std::unique_ptr<FileTokens> tokens(new FileTokens(path, runtime));
  tokens->Read();
  return tokens;
}

// A file that is being written, or was replaced by a wrong one, must not stop the service: the
// previous token may still be valid. The warning comes once for each change of the file.
void FileTokens::Read() const {
  if (!watch_.HasChanged()) return;
  auto token = slack::ReadToken(watch_.path());
  if (token) {
    credential_ = CredentialOf(*std::move(token));
  } else {
    logger_.Log(LogLevel::kWarning,
                "the bot token could not be read again; the previous one is used",
                {{"error", token.error().message}});
  }
}

std::optional<Credential> FileTokens::Find(const slack::TeamId&) const {
  const std::lock_guard lock(mutex_);
  Read();
  return credential_;
}

std::vector<Credential> FileTokens::All() const {
  const std::lock_guard lock(mutex_);
  Read();
  return AllOf(credential_);
}

TeamTokens::TeamTokens(const std::map<slack::TeamId, Secret>& tokens,
                       std::unique_ptr<Tokens> others)
    : others_(std::move(others)) {
  for (const auto& [team, token] : tokens) credentials_.emplace(team, CredentialOf(token));
}

std::optional<Credential> TeamTokens::Find(const slack::TeamId& team) const {
  const auto own = credentials_.find(team);
  return own == credentials_.end() ? others_->Find(team) : own->second;
}

std::vector<Credential> TeamTokens::All() const {
  std::vector<Credential> all = others_->All();
  for (const auto& [team, credential] : credentials_) all.push_back(credential);
  return all;
}

RotatingTokens::RotatingTokens(RotatingTokensOptions options, slack::WebApi* web_api,
                               const Runtime& runtime)
    : options_(std::move(options)),
      web_api_(*web_api),
      clock_(runtime.clock),
      logger_(runtime.logger),
      watch_(options_.file, &runtime.clock) {}

Result<std::unique_ptr<RotatingTokens>> RotatingTokens::Open(RotatingTokensOptions options,
                                                             slack::WebApi* web_api,
                                                             const Runtime& runtime) {
  if (options.client_id.empty() || options.client_secret.empty()) {
    return Invalid(
        "slack.token-file needs slack.client-id and slack.client-secret, to refresh its tokens: "
        "copy them from Basic Information of the Slack app");
  }
  std::unique_ptr<RotatingTokens> tokens(new RotatingTokens(std::move(options), web_api, runtime));
  TRY(tokens->Read());
  return tokens;
}

// Another process may have refreshed the pair, so the file is looked at each time. Until there is a
// first token, the file is also read when it has not changed, so that Open gets its error.
Status RotatingTokens::Read() const {
  if (!watch_.HasChanged() && credential_) return Done{};
  Adopt(TRY(slack::ReadTokenPair(options_.file)));
  return Done{};
}

void RotatingTokens::Adopt(slack::TokenPair pair) const {
  credential_ = CredentialOf(std::move(pair.access_token));
  expires_at_ = pair.expires_at;
}

std::optional<Credential> RotatingTokens::Find(const slack::TeamId&) const {
  const std::lock_guard lock(mutex_);
  (void)Read();  // On failure the previous token is used, and Step logs what is wrong.
  return credential_;
}

std::vector<Credential> RotatingTokens::All() const {
  const std::lock_guard lock(mutex_);
  (void)Read();
  return AllOf(credential_);
}

bool RotatingTokens::IsDue() const {
  const std::lock_guard lock(mutex_);
  (void)Read();
  return clock_.NowSeconds() >= expires_at_ - options_.margin.count();
}

// A pair that could not be saved comes first. Its refresh token is the only one that Slack accepts
// now: the one in the file is used up, and a refresh with it would fail.
void RotatingTokens::Step() {
  if (clock_.Monotonic() < next_try_) return;
  if (unsaved_) return Save();
  if (IsDue()) Refresh();
}

void RotatingTokens::Refresh() {
  const auto file_lock = slack::TokenFileLock::Take(options_.file);
  if (!file_lock) {
    return LogFailure("the bot token could not be refreshed", file_lock.error().message);
  }
  if (!*file_lock) return;  // Another process is refreshing; the file will change.
  // Read again under the lock: the process that had it before may have refreshed the token.
  auto pair = slack::ReadTokenPair(options_.file);
  if (!pair) return LogFailure("the token file could not be read", pair.error().message);
  if (clock_.NowSeconds() < pair->expires_at - options_.margin.count()) return;
  auto answer = web_api_.RefreshToken({.client_id = options_.client_id,
                                       .client_secret = options_.client_secret,
                                       .refresh_token = pair->refresh_token},
                                      Deadline::After(clock_, kRefreshDeadline));
  if (const auto* error = std::get_if<slack::CallError>(&answer)) {
    return LogFailure("the bot token could not be refreshed", error->error);
  }
  auto& token = std::get<slack::RefreshedToken>(answer);
  unsaved_ = {.access_token = std::move(token.access_token),
              .refresh_token = std::move(token.refresh_token),
              .expires_at = clock_.NowSeconds() + token.expires_in.count()};
  Save();
}

void RotatingTokens::Save() {
  const Status saved = slack::WriteTokenPair(options_.file, *unsaved_);
  if (!saved) {
    return LogFailure("the refreshed bot token could not be saved", saved.error().message);
  }
  const std::lock_guard lock(mutex_);
  Adopt(*std::exchange(unsaved_, std::nullopt));
  logger_.Log(LogLevel::kInfo, "the bot token was refreshed");
}

void RotatingTokens::LogFailure(const char* message, const std::string& error) {
  next_try_ = clock_.Monotonic() + options_.wait_after_failure;
  const std::lock_guard lock(mutex_);
  logger_.Log(LogLevel::kError, message,
              {{"error", error}, {"seconds_left", expires_at_ - clock_.NowSeconds()}});
}

}  // namespace tidemark::gate
