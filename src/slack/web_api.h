// WebApi calls Slack's Web API: team.info, users.info, conversations.info, users.list,
// conversations.list, files.info, auth.test, and oauth.v2.access to refresh a token.
//
// Retries: a call that blocks and is answered with 429 is made again. It waits for the longer of
// the policy's wait (1, 2, 4 s) and Slack's Retry-After, if that ends before the deadline. Budgets:
// each token and method has a budget of calls per minute below Slack's limit, and after a 429 the
// method pauses for Retry-After. So a flood of unknown ids cannot use up the calls that real ids
// need. Tokens are sent only to the configured address, in the Authorization header; a refresh
// token is sent in the body.
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/retry.h"
#include "base/runtime.h"
#include "http/client.h"
#include "slack/directory.h"
#include "slack/lists.h"

namespace tidemark::slack {

struct WebApiOptions {
  std::string url = "https://slack.com/api";  // Without a slash at the end.
  std::chrono::milliseconds call_timeout = std::chrono::seconds(2);
  RetryPolicy retry = {};  // The jitter is ignored: few calls of one process wait at a time.
  // Calls per minute for one token, below the limit of the method's tier in Slack.
  uint32_t team_info_budget = 50;
  uint32_t conversations_info_budget = 50;
  uint32_t users_info_budget = 100;
  uint32_t files_info_budget = 100;
  uint32_t conversations_list_budget = 20;
  uint32_t users_list_budget = 20;
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
  std::string url_private_download;  // Or url_private, when the file has no other.
  int64_t size = 0;
  bool is_external = false;
};

struct TokenRefresh {
  std::string client_id;
  Secret client_secret;
  Secret refresh_token;  // Slack accepts it only once.
};
struct RefreshedToken {
  Secret access_token;
  Secret refresh_token;
  std::chrono::seconds expires_in{0};
};

class WebApi final : public Directory, public Lists {
 public:
  // The client outlives this.
  WebApi(WebApiOptions options, http::Client* client, const Runtime& runtime);
  ~WebApi() override;

  std::vector<LookupReply> LookUp(const Secret& token, std::span<const Lookup> lookups,
                                  const Deadline& deadline) override;
  LaterCall<ListPage<Conversation>> ListConversations(const Secret& token, ConversationType type,
                                                      const ListRequest& request,
                                                      const Deadline& deadline) override;
  LaterCall<ListPage<Person>> ListUsers(const Secret& token, const ListRequest& request,
                                        const Deadline& deadline) override;
  CallResult<AuthTest> TestAuth(const Secret& token, const Deadline& deadline);
  // One try, which does not block.
  LaterCall<AuthTest> TestAuthLater(const Secret& token, const Deadline& deadline);
  CallResult<FileInfo> GetFile(const Secret& token, const std::string& file,
                               const Deadline& deadline);
  // When no answer arrives, Slack may still have used up the refresh token.
  CallResult<RefreshedToken> RefreshToken(const TokenRefresh& refresh, const Deadline& deadline);

 private:
  class Caller;
  std::shared_ptr<Caller> caller_;  // Shared with the calls that are under way.
};

}  // namespace tidemark::slack
