// Tokens finds the bot token of a team: a fixed one from the settings, one from a file that may be
// replaced, or one that Slack's token rotation refreshes. A token never comes from a request.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime.h"
#include "base/secret.h"
#include "slack/ids.h"
#include "slack/token_file.h"
#include "slack/web_api.h"

namespace tidemark::gate {

struct Credential {
  Secret token;
  // A short hash of the token. It is part of what cached rows are checked against, so rows that
  // were verified with another token are not used.
  std::string generation;
};

class Tokens {
 public:
  virtual ~Tokens() = default;
  // May be called from any thread.
  virtual std::optional<Credential> Find(const slack::TeamId& team) const = 0;
  // All tokens that there are now, to find out their teams.
  virtual std::vector<Credential> All() const = 0;
};

// The token from the settings, for all teams. nullopt: no team has a token.
class FixedTokens final : public Tokens {
 public:
  explicit FixedTokens(std::optional<Secret> token);
  std::optional<Credential> Find(const slack::TeamId& team) const override;
  std::vector<Credential> All() const override;

 private:
  std::optional<Credential> credential_;
};

// One token for all teams, in a file that is read again when it changes. While the file cannot be
// read or has no token, the previous token is used.
class FileTokens final : public Tokens {
 public:
  // kNotFound or kInvalid when the file has no token now.
  static Result<std::unique_ptr<FileTokens>> Open(const std::string& path, const Runtime& runtime);
  std::optional<Credential> Find(const slack::TeamId& team) const override;
  std::vector<Credential> All() const override;

 private:
  FileTokens(const std::string& path, const Runtime& runtime);
  void Read() const;

  const Logger& logger_;
  mutable std::mutex mutex_;
  mutable slack::FileWatch watch_;
  mutable std::optional<Credential> credential_;
};

// Tokens of some teams, from the settings. All other teams have those of `others`.
class TeamTokens final : public Tokens {
 public:
  TeamTokens(const std::map<slack::TeamId, Secret>& tokens, std::unique_ptr<Tokens> others);
  std::optional<Credential> Find(const slack::TeamId& team) const override;
  std::vector<Credential> All() const override;

 private:
  std::map<slack::TeamId, Credential> credentials_;
  const std::unique_ptr<Tokens> others_;
};

struct RotatingTokensOptions {
  std::string file;
  std::string client_id;
  Secret client_secret;
  // How long before its expiry a token is refreshed: a third of its life of 12 hours.
  std::chrono::seconds margin = std::chrono::hours(4);
  std::chrono::seconds wait_after_failure = std::chrono::seconds(60);
};

// One token for all teams, of an app with Slack's token rotation. Step refreshes it before it
// expires. The new pair is on disk before it is used, because Slack gives a pair only once. A
// refresh that fails changes nothing and is tried again. Several processes may share the file; one
// of them refreshes.
class RotatingTokens final : public Tokens {
 public:
  // As FileTokens::Open. Also kInvalid without client id or secret.
  static Result<std::unique_ptr<RotatingTokens>> Open(RotatingTokensOptions options,
                                                      slack::WebApi* web_api,
                                                      const Runtime& runtime);
  std::optional<Credential> Find(const slack::TeamId& team) const override;
  std::vector<Credential> All() const override;

  // Refreshes the token when it is due. To be called every few seconds, by one thread. Blocks while
  // it waits for Slack. Failures are logged.
  void Step();

 private:
  RotatingTokens(RotatingTokensOptions options, slack::WebApi* web_api, const Runtime& runtime);
  // The next two need mutex_ locked.
  Status Read() const;
  void Adopt(slack::TokenPair pair) const;

  bool IsDue() const;
  void Refresh();
  // Writes the pair in unsaved_. When that fails, Step tries again: Slack does not give it twice.
  void Save();
  void LogFailure(const char* message, const std::string& error);

  const RotatingTokensOptions options_;
  slack::WebApi& web_api_;
  const Clock& clock_;
  const Logger& logger_;
  mutable std::mutex mutex_;
  mutable slack::FileWatch watch_;
  mutable std::optional<Credential> credential_;
  mutable EpochSeconds expires_at_ = 0;
  // Used only by the thread that calls Step.
  std::chrono::nanoseconds next_try_{0};
  std::optional<slack::TokenPair> unsaved_;
};

}  // namespace tidemark::gate
