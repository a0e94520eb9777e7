// PretendSlack simulates Slack on loopback: it serves the Web API and the files of a simulated
// workspace. Callers need the bot token.
//
//   auto slack = TRY(PretendSlack::Start({.bot_token = token}, MakeWorkspace({}), context));
//   WebApi api({.url = slack->api_url()}, ...);
//
// It is stricter than Slack. An unknown parameter, a wrong Authorization header, a wrong content
// type or an impossible id is answered with an error as Slack writes it, and recorded as a fault. A
// test can then check that there were no faults. What a test has arranged (a failure, a revoked
// token, a missing scope) is not a fault.
//
// A test can make methods fail, hang or answer with another id, and can change the workspace at any
// time. Any thread may call the methods.
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

// The scopes in the manifest of Tidemark.
std::vector<std::string> DefaultScopes();

// The calls a minute that Slack allows, by method.
std::map<std::string, uint32_t> SlackLimits();

// Downloads are counted and fail under this name, like a method.
inline constexpr std::string_view kDownloads = "files";
inline constexpr std::string_view kRefresh = "oauth.v2.access";

enum class FailureKind {
  kRateLimited,  // 429 with Retry-After.
  kServerError,  // 500 without JSON.
  kGarbage,      // 200 with a body that is not JSON; for a download, the sign-in page.
  kHang,         // No answer until Release, and then the right answer.
  kWrongId,      // The right answer, but for another id.
  kError,        // {"ok":false} with this error.
  kLostReply,    // The request is executed, and then answered with 500.
  // For downloads only.
  kLoginRedirect,  // 302 to the sign-in page, on another host.
  kRedirectLoop,   // 302 to itself.
  kShortBody,      // The first half of the file, with a matching length.
  kWrongType,      // The file, with the content type of HTML.
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
    // Further calls of a minute are answered with 429. Empty: no limits.
    std::map<std::string, uint32_t> calls_a_minute = {};
    ListPages pages = {};
    // For an app with token rotation: these are exchanged for a new pair. Empty: no rotation.
    Secret refresh_token = {};
    std::string client_id = {};
    Secret client_secret = {};
  };

  // Both outlive the pretend Slack.
  struct Context {
    const Clock* clock = nullptr;
    Random* random = nullptr;
  };

  // The errors are those of http::Server::Start.
  static Result<std::unique_ptr<PretendSlack>> Start(Options options, Workspace workspace,
                                                     const Context& context);
  // Calls Stop.
  ~PretendSlack() override;

  // Answers the calls that hang, and stops serving.
  void Stop();

  const std::string& address() const { return server_->address(); }  // "127.0.0.1:40123"
  std::string api_url() const;                                       // Before "/users.info".
  std::string files_url() const;                                     // Before "/F…/name".

  // Makes the next `times` calls of the method fail in this way. Several failures follow each
  // other.
  void Fail(std::string_view method, Failure failure, size_t times = 1);
  // Removes the failures that have not happened yet.
  void Recover();
  // The current refresh token. Each can be used once.
  Secret refresh_token() const;

  // Answers all calls that hang.
  void Release();
  // Waits until this many calls hang.
  void AwaitHanging(size_t count);

  // The number of calls, successful or not.
  uint64_t calls(std::string_view method) const;
  // The number of calls that a limit refused.
  uint64_t limited() const;
  // One line for each call that a correct client would never make.
  std::vector<std::string> faults() const;

  // Applies changes of the workspace, see EventGenerator.
  void Apply(const Changes& changes);
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

  PretendSlack(Options options, Workspace workspace, const Clock& clock);

  void Handle(http::Request request, http::Reply reply) override;
  // The caller holds the lock.
  http::Response Answer(const http::Request& request);
  http::Response AnswerCall(std::string_view method, const http::Request& request);
  http::Response AnswerDownload(const http::Request& request);
  http::Response AnswerDownloadBadly(FailureKind kind, const http::Request& request);
  http::Response AnswerRefresh(const http::Request& request);
  http::Response AnswerLogin(const http::Request& request);
  http::Response AnswerFailed(const Failure& failure, const http::Request& request);
  Result<Parameters> ReadParameters(const http::Request& request);
  // Slack's error code for a wrong token, or nothing.
  std::string_view CheckToken(const http::Request& request);
  void Note(std::string fault);
  http::Response Refuse(std::string_view error, std::string fault);
  std::optional<Failure> TakeFailure(const std::string& method);
  // A 429 when the method has had all its calls of this minute.
  std::optional<Failure> TakeLimit(const std::string& method);

  const Options options_;
  const Clock& clock_;
  SystemSleeper sleeper_;
  const Logger logger_;
  Metrics metrics_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  World world_;
  std::vector<Secret> bot_tokens_;  // Newest last; earlier ones are valid until they expire.
  Secret refresh_token_;
  bool token_revoked_ = false;
  bool stopping_ = false;
  std::map<std::string, std::deque<std::pair<Failure, size_t>>, std::less<>> failures_;
  std::map<std::string, uint64_t, std::less<>> calls_;
  std::map<std::string, std::deque<std::chrono::nanoseconds>> recent_;  // Of the last minute.
  uint64_t limited_ = 0;
  std::vector<std::string> faults_;
  std::vector<Waiting> hanging_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace tidemark::demo
