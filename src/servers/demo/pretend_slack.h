// PretendSlack serves Slack's Web API and files on loopback, for the people, channels and files of
// a pretend workspace, to who holds the bot's token.
//
//   auto slack = TRY(PretendSlack::Start({.bot_token = token}, MakeWorkspace({}), context));
//   WebApi api({.url = slack->api_url()}, ...);
//
// It is stricter than the original. A parameter that a method does not know, an odd Authorization,
// a wrong content type, an id that cannot be one: each is answered with an error in Slack's shape
// and kept as a fault, so that a test can demand that there were none. What a test has arranged
// (a failure, a revoked token, a missing scope) is no fault.
//
// A test can make methods fail, hang or answer with another id, and change the workspace under the
// callers' feet. All may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "http/server.h"
#include "servers/demo/methods.h"
#include "servers/demo/workspace.h"

namespace tidemark::demo {

// What the manifest of Tidemark asks for.
std::vector<std::string> DefaultScopes();

// Downloads count and fail under this name, as if they were a method.
inline constexpr std::string_view kDownloads = "files";
inline constexpr std::string_view kRefresh = "oauth.v2.access";

enum class FailureKind {
  kRateLimited,  // 429 with Retry-After.
  kServerError,  // 500 without JSON.
  kGarbage,      // 200 with what is no JSON; of a download, the page to log in.
  kHang,         // No answer until Release, and then the right one.
  kWrongId,      // The right answer for somebody else.
  kError,        // {"ok":false} with this error.
  kLostReply,    // What is asked for is done, and then 500.
  // Of downloads alone.
  kLoginRedirect,  // 302 to the page to log in, on another host.
  kRedirectLoop,   // 302 to itself.
  kShortBody,      // The first half of the file, as if that were all.
  kWrongType,      // The file, said to be HTML.
};

struct Failure {
  FailureKind kind = FailureKind::kServerError;
  std::chrono::seconds retry_after = std::chrono::seconds(1);
  std::string error = "internal_error";
};

class PretendSlack final : private http::Handler {
 public:
  struct Options {
    std::string listen = "127.0.0.1:0";
    Secret bot_token = {};
    std::vector<std::string> scopes = DefaultScopes();
    // Of an app with token rotation: who sends them gets a new pair. Empty: the app has none.
    Secret refresh_token = {};
    std::string client_id = {};
    Secret client_secret = {};
  };

  // Errors as of http::Server::Start. What the context names outlives this.
  static Result<std::unique_ptr<PretendSlack>> Start(Options options, Workspace workspace,
                                                     const http::ServerContext& context);
  // As Stop.
  ~PretendSlack() override;

  // Answers what hangs, and serves no more.
  void Stop();

  const std::string& address() const { return server_->address(); }  // "127.0.0.1:40123"
  std::string api_url() const;                                       // Before "/users.info".
  std::string files_url() const;                                     // Before "/F…/name".

  // The next `times` calls of the method fail so; several failures come one after the other.
  void Fail(std::string_view method, Failure failure, size_t times = 1);
  // Forgets the failures that have not come yet.
  void Recover();
  // The refresh token that counts now: each is good for one use.
  Secret refresh_token() const;

  // Answers all that hangs.
  void Release();
  // Returns once so many calls hang.
  void AwaitHanging(size_t count);

  // Calls that came in, whatever became of them.
  uint64_t calls(std::string_view method) const;
  // One line for each call that should never have been made like that.
  std::vector<std::string> faults() const;

  // What happened in the workspace: see EventGenerator.
  void Apply(const Changes& changes);
  void SetScopes(std::vector<std::string> scopes);
  void RevokeToken();
  // The entity is in the workspace.
  void Deactivate(std::string_view user);
  void Archive(std::string_view channel);
  void Delete(std::string_view channel);

 private:
  struct Waiting {
    http::Request request;
    http::Reply reply;
  };

  PretendSlack(Options options, Workspace workspace);

  void Handle(http::Request request, http::Reply reply) override;
  // The others hold the lock.
  http::Response Answer(const http::Request& request);
  http::Response AnswerCall(std::string_view method, const http::Request& request);
  http::Response AnswerDownload(const http::Request& request);
  http::Response AnswerDownloadBadly(FailureKind kind, const http::Request& request);
  http::Response AnswerRefresh(const http::Request& request);
  http::Response AnswerLogin(const http::Request& request);
  http::Response AnswerFailed(const Failure& failure, const http::Request& request);
  Result<Parameters> ReadParameters(const http::Request& request);
  // Slack's word for what is wrong with the token, or nothing.
  std::string_view CheckToken(const http::Request& request);
  void Note(std::string fault);
  http::Response Refuse(std::string_view error, std::string fault);
  std::optional<Failure> TakeFailure(const std::string& method);

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  World world_;
  std::vector<Secret> bot_tokens_;  // The newest last; those of before hold until they expire.
  Secret refresh_token_;
  bool token_revoked_ = false;
  bool stopping_ = false;
  std::map<std::string, std::deque<std::pair<Failure, size_t>>, std::less<>> failures_;
  std::map<std::string, uint64_t, std::less<>> calls_;
  std::vector<std::string> faults_;
  std::vector<Waiting> hanging_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace tidemark::demo
