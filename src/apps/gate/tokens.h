// Tokens gives the bot token of a team. Nothing that arrives in a request is stored as a token.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "slack/ids.h"
#include "slack/token_file.h"
#include "slack/web_api.h"

namespace tidemark::gate {

struct Credential {
  Secret token;
  // Changes when the token does, and says nothing about it: what was verified with another
  // credential counts as never verified.
  std::string generation;
};

class Tokens {
 public:
  virtual ~Tokens() = default;
  // May be called from any thread.
  virtual std::optional<Credential> Find(const slack::TeamId& team) const = 0;
};

// Those of the settings: one for each named team, and one for all others.
class FixedTokens final : public Tokens {
 public:
  FixedTokens(std::optional<Secret> for_all, std::map<std::string, Secret> by_team);
  std::optional<Credential> Find(const slack::TeamId& team) const override;

 private:
  std::optional<Credential> for_all_;
  std::map<std::string, Credential> by_team_;
};

// One for all teams, in a file that is read again when it changes. While it cannot be read, or
// holds no token, the one of before counts.
class FileTokens final : public Tokens {
 public:
  // kNotFound or kInvalid when there is no token at first. All outlive this; logger may be null.
  static Result<std::unique_ptr<FileTokens>> Open(const std::string& path, const Clock* clock,
                                                  const Logger* logger);
  std::optional<Credential> Find(const slack::TeamId& team) const override;

 private:
  FileTokens(const std::string& path, const Clock* clock, const Logger* logger);
  void Read() const;

  const Logger* logger_;
  mutable std::mutex mutex_;
  mutable slack::FileWatch watch_;
  mutable std::optional<Credential> credential_;
};

struct RotatingTokensOptions {
  std::string file;
  std::string client_id;
  Secret client_secret;
  // How long before its end a token is refreshed: a third of the 12 hours it has.
  std::chrono::seconds margin = std::chrono::hours(4);
  std::chrono::seconds wait_after_failure = std::chrono::seconds(60);
};

// One for all teams, of an app with Slack's token rotation: Step refreshes it in time, and the new
// pair is on disk before the old is let go. A refresh that fails changes nothing and is tried
// again. Several processes may share the file; one of them refreshes.
class RotatingTokens final : public Tokens {
 public:
  // As FileTokens; kInvalid also without client id or secret.
  static Result<std::unique_ptr<RotatingTokens>> Open(RotatingTokensOptions options,
                                                      slack::WebApi* web_api, const Clock* clock,
                                                      const Logger* logger);
  std::optional<Credential> Find(const slack::TeamId& team) const override;

  // Refreshes the token when it is time; to be called every few seconds, from one thread. Asks
  // Slack, and so takes a while now and then. What fails is logged.
  void Step();

 private:
  RotatingTokens(RotatingTokensOptions options, slack::WebApi* web_api, const Clock* clock,
                 const Logger* logger);
  // With the lock held.
  Status Read() const;
  void Adopt(slack::TokenPair pair) const;

  bool IsDue() const;
  void Refresh();
  // Writes what Slack gave until it is written: it is not given twice.
  void Save();
  void LogFailure(const char* message, const std::string& error);

  const RotatingTokensOptions options_;
  slack::WebApi& web_api_;
  const Clock& clock_;
  const Logger* logger_;
  mutable std::mutex mutex_;
  mutable slack::FileWatch watch_;
  mutable std::optional<Credential> credential_;
  mutable EpochSeconds expires_at_ = 0;
  // Of the one thread.
  std::chrono::nanoseconds next_try_{0};
  std::optional<slack::TokenPair> unsaved_;
};

}  // namespace tidemark::gate
