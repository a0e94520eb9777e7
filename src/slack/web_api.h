// WebApi calls Slack's Web API: team.info, users.info, conversations.info, files.info, auth.test,
// and oauth.v2.access to refresh a token.
//
// A call that is answered with 429 is made again after the longer of the policy's wait (1, 2, 4 s)
// and Slack's Retry-After, as long as that ends before the deadline; nothing else is tried twice.
// Each method has a budget a minute and token below Slack's tier, and after a 429 rests until
// Retry-After: a flood of unknown ids cannot use up what real ones need. Tokens go into the
// Authorization header of the configured address and nowhere else; those to refresh with into the
// body.
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "base/retry.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "slack/directory.h"

namespace tidemark::slack {

struct WebApiOptions {
  std::string url = "https://slack.com/api";  // Without a slash at the end.
  std::chrono::milliseconds call_timeout = std::chrono::seconds(2);
  RetryPolicy retry = {};  // Its jitter is not used: who waits is one process, and few calls.
  // Calls a minute and token; see slack-facts for the tiers.
  uint32_t team_info_budget = 50;
  uint32_t conversations_info_budget = 50;
  uint32_t users_info_budget = 100;
  uint32_t files_info_budget = 100;
};

// What the caller can do about a call that did not succeed.
enum class CallFailure { kTimeout, kRateLimited, kNotFound, kDenied, kOther };

struct CallError {
  CallFailure failure = CallFailure::kOther;
  std::string error;  // Slack's word ("missing_scope"), or ours.
};

struct AuthTest {
  std::string team_id;
  std::string user_id;
  std::string bot_id;
  std::vector<std::string> scopes;  // From X-OAuth-Scopes.
};

struct FileInfo {
  std::string id;
  std::string name;
  std::string mode;
  std::string mimetype;
  std::string url_private_download;  // Or url_private, when there is none.
  int64_t size = 0;
  bool is_external = false;
};

struct TokenRefresh {
  std::string client_id;
  Secret client_secret;
  Secret refresh_token;  // Good for one use.
};
struct RefreshedToken {
  Secret access_token;
  Secret refresh_token;
  std::chrono::seconds expires_in{0};
};

// A value, or why there is none.
template <typename T>
using CallResult = std::variant<T, CallError>;

class WebApi final : public Directory {
 public:
  // All outlive this; metrics may be null.
  WebApi(WebApiOptions options, http::Client* client, const Clock* clock, Sleeper* sleeper,
         Metrics* metrics);
  ~WebApi() override;

  std::vector<LookupReply> LookUp(const Secret& token, std::span<const Lookup> lookups,
                                  const Deadline& deadline) override;
  CallResult<AuthTest> TestAuth(const Secret& token, const Deadline& deadline);
  CallResult<FileInfo> GetFile(const Secret& token, const std::string& file,
                               const Deadline& deadline);
  // When the answer is lost, Slack may have taken the refresh token all the same.
  CallResult<RefreshedToken> RefreshToken(const TokenRefresh& refresh, const Deadline& deadline);

 private:
  class Caller;
  std::unique_ptr<Caller> caller_;
};

}  // namespace tidemark::slack
