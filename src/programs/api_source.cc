#include "programs/api_source.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "base/sleeper.h"
#include "base/worker_pool.h"
#include "http/client.h"

namespace tidemark::programs {

namespace {

constexpr std::chrono::hours kDownloadTimeout(6);
constexpr size_t kPieceBytes = 1 << 20;
// Enough for a page of a thousand documents.
constexpr size_t kMaxAnswerBytes = 256 << 20;
constexpr const char* kTokenVariable = "TIDEMARK_API_TOKEN";

// ---- In this process ----

// A command without --server uses the same routes as the server, in this process: so there is one
// implementation and one format of answers. No token is needed, because a user who can open the
// data folder can read it anyway.
class RouterSource final : public ApiSource {
 public:
  explicit RouterSource(std::shared_ptr<void> owner) : owner_(std::move(owner)) {}
  ~RouterSource() override { workers_.Stop(); }

  http::Router& router() { return router_; }

 private:
  Result<http::Response> Ask(const ApiRequest& asked, const Take& take) override {
    const size_t mark = asked.path.find('?');
    http::Request request{
        .method = asked.method, .path = asked.path.substr(0, mark), .body = asked.body};
    if (mark != std::string::npos) request.query = asked.path.substr(mark + 1);
    auto answer = std::make_shared<std::promise<http::Response>>();
    router_.Handle(std::move(request),
                   [answer](http::Response response) { answer->set_value(std::move(response)); });
    http::Response response = answer->get_future().get();
    for (const SharedText& part : response.parts) response.body += *part;
    if (take != nullptr && response.status == 200) TRY(Hand(response, take));
    return response;
  }

  static Status Hand(const http::Response& response, const Take& take) {
    if (!response.source) return take(response.body);
    for (uint64_t at = 0; at < response.source_size; at += kPieceBytes) {
      const auto size = std::min<uint64_t>(kPieceBytes, response.source_size - at);
      const std::string piece = TRY(response.source->Read(at, size));
      TRY(take(piece));
    }
    return Done{};
  }

  const std::shared_ptr<void> owner_;
  // One is enough: a command asks one thing at a time.
  WorkerPool workers_{{.threads = 1, .max_waiting = 1}};
  const SystemClock clock_;
  const Logger logger_{{.level = LogLevel::kError}, clock_};
  http::Router router_{&workers_, logger_};
};

// ---- At a server ----

class ServerSource final : public ApiSource {
 public:
  ServerSource(std::string server, Secret token)
      : server_(std::move(server)), token_(std::move(token)) {}

 private:
  Result<http::Response> Ask(const ApiRequest& asked, const Take& take) override {
    http::OutgoingRequest request{
        .method = asked.method,
        .url = server_ + asked.path,
        .headers = {{"Authorization", fmt::format("Bearer {}", token_.Reveal())}},
        .body = asked.body,
        .timeout = take ? std::chrono::milliseconds(kDownloadTimeout) : asked.patience,
        // `take` gets the body piece by piece, so its size needs no limit.
        .max_answer_bytes = take ? std::numeric_limits<size_t>::max() : kMaxAnswerBytes};
    Status taken = Done{};
    if (take != nullptr) {
      request.sink = [&](std::string_view piece) {
        if (taken) taken = take(piece);
        return taken.has_value();
      };
    }
    const auto deadline = Deadline::After(clock_, request.timeout);
    http::Exchange exchange = client_.Send(request, deadline);
    // First: when our own side stops the download (a full disk), the client reports a broken
    // connection, which would hide the cause.
    if (!taken) return std::move(taken).error();
    if (exchange.outcome == http::Outcome::kAnswered) return std::move(exchange.response);
    // A change may have been made although there is no answer.
    const bool is_known =
        exchange.outcome == http::Outcome::kNotSent || asked.method == http::Method::kGet;
    return Error{is_known ? ErrorCode::kUnavailable : ErrorCode::kUnknown,
                 fmt::format("no answer from {}: {}; check that it runs, and the URL", server_,
                             exchange.detail)};
  }

  const std::string server_;
  const Secret token_;
  SystemClock clock_;
  SystemSleeper sleeper_;
  http::CurlClient client_{{}, &clock_, &sleeper_};
};

Result<Secret> ReadToken(const std::optional<std::string>& file) {
  std::string text;
  if (file) {
    std::ifstream stream(*file);
    if (!(stream >> text)) {
      return Invalid(
          fmt::format("cannot read an API token from the file '{}': name a file that "
                      "this user can read, with the token on its first line",
                      *file));
    }
  } else if (const char* variable = std::getenv(kTokenVariable)) {
    text = variable;
  }
  if (text.empty()) {
    return Invalid(fmt::format(
        "a server needs an API token: name a file that contains it with --token-file, or set {} "
        "('tidemark token create NAME' creates one)",
        kTokenVariable));
  }
  return Secret(std::move(text));
}

// What the server says about a refusal. Empty if it says nothing: then there is no such route.
std::string DetailOf(const http::Response& response) {
  const auto problem = JsonDocument::Parse(response.body);
  return problem ? TextIn(problem->root(), "detail") : std::string();
}

// The error for a refusal. Its code decides the exit code of the program.
Error ToError(const http::Response& response, const std::string& path) {
  std::string detail = DetailOf(response);
  // As in a command that uses the data folder: the caller's mistakes end with exit code 2, and
  // everything else with 3.
  const bool is_callers = response.status == 400 || response.status == 404;
  const bool is_conflict = response.status == 409 || response.status == 412;
  const ErrorCode code = is_callers    ? ErrorCode::kInvalid
                         : is_conflict ? ErrorCode::kConflict
                         : response.status == 401 || response.status == 403
                             ? ErrorCode::kDenied
                             : ErrorCode::kUnavailable;
  if (detail.empty()) detail = fmt::format("{} for {}", http::StatusText(response.status), path);
  return {code, detail};
}

Result<JsonDocument> DocumentOf(const http::Response& response, const std::string& path) {
  if (response.status != 200) return ToError(response, path);
  auto document = JsonDocument::Parse(response.body);
  if (document) return document;
  return Error{ErrorCode::kUnavailable, fmt::format("the answer for {} is not from Tidemark: {}",
                                                    path, document.error().message)};
}

}  // namespace

Result<std::string> ServerUrl(std::string text) {
  while (!text.empty() && text.back() == '/') text.pop_back();
  if (text.starts_with("http://") || text.starts_with("https://")) return text;
  if (text.empty() || text.find("://") != std::string::npos) {
    return Invalid(fmt::format(
        "'{}' is not the URL of a server: type --server http://127.0.0.1:8080, or https://…",
        text));
  }
  return Invalid(
      fmt::format("--server needs a URL: type --server http://{0} (or https://{0})", text));
}

Result<std::unique_ptr<ApiSource>> OpenServerSource(const SourceOptions& options) {
  std::string server = TRY(ServerUrl(options.server.value_or("")));
  Secret token = TRY(ReadToken(options.token_file));
  return std::unique_ptr<ApiSource>(
      std::make_unique<ServerSource>(std::move(server), std::move(token)));
}

std::unique_ptr<ApiSource> MakeRouterSource(std::shared_ptr<void> owner,
                                            const std::function<void(http::Router*)>& add) {
  auto source = std::make_unique<RouterSource>(std::move(owner));
  add(&source->router());
  return source;
}

Error WithServerHint(Error error) {
  if (error.code == ErrorCode::kUnavailable) {
    error.message += "; if a server uses it, ask the server: add --server URL";
  }
  return error;
}

// 404 means that the thing is absent, which most commands report in their own words. A route that
// is switched off is 404 too: Need and Send say so.
Result<std::optional<JsonDocument>> ApiSource::Get(const std::string& path) {
  const http::Response response = TRY(Ask({.path = path}, nullptr));
  if (response.status == 404) return std::optional<JsonDocument>();
  return std::optional<JsonDocument>(TRY(DocumentOf(response, path)));
}

Result<JsonDocument> ApiSource::Need(const std::string& path) { return Send({.path = path}); }

Result<JsonDocument> ApiSource::Send(const ApiRequest& request) {
  const http::Response response = TRY(Ask(request, nullptr));
  if (response.status != 404 || !DetailOf(response).empty()) {
    return DocumentOf(response, request.path);
  }
  return Invalid(fmt::format(
      "the server has no route {}: check the URL, and that this part is enabled in its settings",
      request.path));
}

// For commands whose answers are of several statuses, such as the protocol of tables, which has its
// own error bodies. Only a problem of the server itself is an error here.
Result<http::Response> ApiSource::Post(const std::string& path, std::string body) {
  http::Response response =
      TRY(Ask({.method = http::Method::kPost, .path = path, .body = std::move(body)}, nullptr));
  const auto type = response.headers.Find("Content-Type");
  if (type && type->starts_with("application/problem+json")) return ToError(response, path);
  return response;
}

Result<bool> ApiSource::Read(const std::string& path, const Take& take) {
  const http::Response response = TRY(Ask({.path = path}, take));
  if (response.status == 404) return false;
  if (response.status != 200) return ToError(response, path);
  return true;
}

}  // namespace tidemark::programs
