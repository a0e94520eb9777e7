#include "servers/demo/pretend_slack.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "http/url.h"
#include "slack/app.h"

namespace tidemark::demo {
namespace {

constexpr std::string_view kApiPrefix = "/api/";
constexpr std::string_view kFilesPrefix = "/files/";
constexpr std::string_view kLoginPath = "/signin";
constexpr std::string_view kBearer = "Bearer ";
constexpr std::chrono::seconds kPatience(1);
// The list of faults is limited, because a wrong client makes many.
constexpr size_t kMostFaults = 1000;

// Slack sends this page with status 200 to callers that may not read the file.
constexpr std::string_view kLoginPage =
    "<!DOCTYPE html><html><head><title>Sign in</title></head>"
    "<body><form action=\"/signin\">Sign in to see this file.</form></body></html>";

// The names under which calls and downloads are counted.
std::string MethodOf(const http::Request& request) {
  if (request.path.starts_with(kApiPrefix)) return request.path.substr(kApiPrefix.size());
  if (request.path.starts_with(kFilesPrefix)) return std::string(kDownloads);
  return "";
}

bool IsKnown(std::string_view method) {
  return HasMethod(method) || method == kDownloads || method == kRefresh;
}

// Failures of a method of the Web API make no sense for a download, and the other way round. Fail
// checks it, so that a test that mixes them up ends instead of testing nothing.
bool IsOfDownloads(FailureKind kind) {
  return kind == FailureKind::kLoginRedirect || kind == FailureKind::kRedirectLoop ||
         kind == FailureKind::kShortBody || kind == FailureKind::kWrongType;
}

http::Response Redirect(std::string location) {
  return {.status = 302, .headers = {{"Location", std::move(location)}}};
}

http::Response Html(std::string_view page) {
  return {.status = 200,
          .headers = {{"Content-Type", "text/html; charset=utf-8"}},
          .body = std::string(page)};
}

bool IsForm(const http::Request& request) {
  const std::string_view type = request.headers.Find("Content-Type").value_or("");
  return type.substr(0, type.find(';')) == "application/x-www-form-urlencoded";
}

// The answer with another id: the last character of the first id is changed.
std::string WithOtherId(std::string body) {
  constexpr std::string_view kId = "\"id\":\"";
  const size_t begin = body.find(kId);
  if (begin == std::string::npos) return body;
  char& last = body[body.find('"', begin + kId.size()) - 1];
  last = last == 'X' ? 'Y' : 'X';
  return body;
}

}  // namespace

std::vector<std::string> DefaultScopes() {
  std::vector<std::string> scopes;
  for (const slack::Scope& scope : slack::RequiredScopes()) scopes.emplace_back(scope.name);
  return scopes;
}

// The calls a minute of the tier of each method. They are counted exactly, over any 60 s, so a
// client that passes here stays within its tier.
std::map<std::string, uint32_t> SlackLimits() {
  return {{"team.info", 50},  {"users.info", 100}, {"conversations.info", 50},
          {"users.list", 20}, {"files.info", 100}, {"conversations.list", 20},
          {"auth.test", 100}};
}

PretendSlack::PretendSlack(Options options, Workspace workspace, const Clock& clock)
    : options_(std::move(options)), clock_(clock), logger_({.level = LogLevel::kError}, clock) {
  world_.surroundings.team_id = workspace.team.id;
  world_.workspace = std::move(workspace);
  world_.pages = options_.pages;
  world_.scopes = {options_.scopes.begin(), options_.scopes.end()};
  bot_tokens_ = {options_.bot_token};
  refresh_token_ = options_.refresh_token;
}

Result<std::unique_ptr<PretendSlack>> PretendSlack::Start(Options options, Workspace workspace,
                                                          const Context& context) {
  const std::string listen = options.listen;
  std::unique_ptr<PretendSlack> slack(
      new PretendSlack(std::move(options), std::move(workspace), *context.clock));
  // One loop: the calls come in the order in which they were made, which tests rely on.
  slack->server_ = TRY(http::Server::Start({.listen = listen, .loops = 1}, slack.get(),
                                           {.clock = *context.clock,
                                            .random = *context.random,
                                            .sleeper = slack->sleeper_,
                                            .logger = slack->logger_,
                                            .metrics = slack->metrics_}));
  // The server accepts already, and its port is only known now.
  const std::lock_guard lock(slack->mutex_);
  slack->world_.surroundings.files_url = slack->files_url();
  return slack;
}

PretendSlack::~PretendSlack() { Stop(); }

// Hanging requests are answered first. Otherwise the server would wait for them, and the test with
// it.
void PretendSlack::Stop() {
  if (server_ == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  Release();
  server_->Stop(kPatience);
}

std::string PretendSlack::api_url() const { return fmt::format("http://{}/api", address()); }
std::string PretendSlack::files_url() const { return fmt::format("http://{}/files", address()); }

// On the loop of the server. A failure that a test asked for comes before the limits, so that "the
// third call fails" does not depend on how many calls the last minute had.
void PretendSlack::Handle(http::Request request, http::Reply reply) {
  std::unique_lock lock(mutex_);
  const std::string method = MethodOf(request);
  if (IsKnown(method)) ++calls_[method];
  std::optional<Failure> failure = TakeFailure(method);
  if (!failure) failure = TakeLimit(method);
  if (failure && failure->kind == FailureKind::kHang && !stopping_) {
    hanging_.push_back({std::move(request), std::move(reply)});
    changed_.notify_all();
    return;
  }
  http::Response response = failure ? AnswerFailed(*failure, request) : Answer(request);
  // The reply may call back into the caller, who may hold a lock that Fail or calls wait for.
  lock.unlock();
  reply(std::move(response));
}

std::optional<Failure> PretendSlack::TakeFailure(const std::string& method) {
  const auto found = failures_.find(method);
  if (found == failures_.end() || found->second.empty()) return std::nullopt;
  auto& [failure, times] = found->second.front();
  const Failure taken = failure;
  if (--times == 0) found->second.pop_front();
  return taken;
}

// A window that slides: at most so many calls in any 60 s. Refused calls do not count.
std::optional<Failure> PretendSlack::TakeLimit(const std::string& method) {
  constexpr std::chrono::seconds kMinute(60);
  const auto limit = options_.calls_a_minute.find(method);
  if (limit == options_.calls_a_minute.end()) return std::nullopt;
  const std::chrono::nanoseconds now = clock_.Monotonic();
  auto& recent = recent_[method];
  while (!recent.empty() && now - recent.front() >= kMinute) recent.pop_front();
  if (recent.size() < limit->second) {
    recent.push_back(now);
    return std::nullopt;
  }
  ++limited_;
  return Failure{
      .kind = FailureKind::kRateLimited,
      .retry_after = std::chrono::ceil<std::chrono::seconds>(recent.front() + kMinute - now)};
}

http::Response PretendSlack::AnswerFailed(const Failure& failure, const http::Request& request) {
  if (IsOfDownloads(failure.kind)) return AnswerDownloadBadly(failure.kind, request);
  switch (failure.kind) {
    case FailureKind::kRateLimited: {
      http::Response response = http::Json(429, ErrorBody("ratelimited"));
      response.headers.Add("Retry-After", std::to_string(failure.retry_after.count()));
      return response;
    }
    case FailureKind::kServerError:
      return http::Text(500, "server error");
    case FailureKind::kGarbage:
      return MethodOf(request) == kDownloads ? Html(kLoginPage)
                                             : http::Json(200, "{\"ok\":tru<html>");
    case FailureKind::kWrongId: {
      http::Response response = Answer(request);
      response.body = WithOtherId(std::move(response.body));
      return response;
    }
    case FailureKind::kError:
      return http::Json(200, ErrorBody(failure.error));
    case FailureKind::kLostReply:
      Answer(request);
      return http::Text(500, "server error");
    default:
      break;  // It was answered for, or the server stops.
  }
  return Answer(request);
}

http::Response PretendSlack::Refuse(std::string_view error, std::string fault) {
  Note(std::move(fault));
  return http::Json(200, ErrorBody(error));
}

void PretendSlack::Note(std::string fault) {
  if (faults_.size() < kMostFaults) faults_.push_back(std::move(fault));
}

http::Response PretendSlack::Answer(const http::Request& request) {
  if (request.path.starts_with(kFilesPrefix)) return AnswerDownload(request);
  if (request.path == kLoginPath) return AnswerLogin(request);
  const std::string method = MethodOf(request);
  if (method == kRefresh) return AnswerRefresh(request);
  if (!HasMethod(method)) {
    return Refuse("unknown_method", fmt::format("there is no method at {}", request.path));
  }
  return AnswerCall(method, request);
}

// The token is checked first, so that a caller without one learns nothing else. Every mistake of
// the client is also noted as a fault, because the answer to it is often the same as to an unknown
// id, and a test would take it for that.
http::Response PretendSlack::AnswerCall(std::string_view method, const http::Request& request) {
  const std::string_view token_error = CheckToken(request);
  if (!token_error.empty()) return http::Json(200, ErrorBody(token_error));
  if (request.method != http::Method::kGet && request.method != http::Method::kPost) {
    return Refuse("invalid_http_method",
                  fmt::format("{} by {}", method, http::ToString(request.method)));
  }
  const bool has_body = request.method == http::Method::kPost && !request.body.empty();
  if (has_body && !IsForm(request)) {
    return Refuse("invalid_post_type", fmt::format("{} by POST is not sent as a form", method));
  }
  const Result<Parameters> parameters = ReadParameters(request);
  if (!parameters) {
    return Refuse("invalid_form_data", fmt::format("{}: {}", method, parameters.error().message));
  }
  MethodAnswer answer = CallMethod(method, *parameters, world_);
  if (!answer.fault.empty()) Note(std::move(answer.fault));
  http::Response response = http::Json(200, std::move(answer.body));
  response.headers.Add("X-OAuth-Scopes", fmt::format("{}", fmt::join(world_.scopes, ",")));
  return response;
}

// GET has its parameters in the query and POST in the body, never in both.
Result<Parameters> PretendSlack::ReadParameters(const http::Request& request) {
  const bool is_get = request.method == http::Method::kGet;
  if (!(is_get ? request.body : request.query).empty()) {
    return Invalid("there are parameters in both the address and the body");
  }
  return http::ParseQuery(is_get ? request.query : request.body);
}

// "" when it is good, or else the name of the error. A refresh does not end the token before it: a
// client goes on with it until it has stored the new pair.
std::string_view PretendSlack::CheckToken(const http::Request& request) {
  const std::vector<std::string_view> values = request.headers.FindAll("Authorization");
  if (values.empty()) {
    Note(fmt::format("{} without Authorization", request.path));
    return "not_authed";
  }
  const bool is_bearer = values.size() == 1 && values.front().starts_with(kBearer);
  const std::string_view token = is_bearer ? values.front().substr(kBearer.size()) : "";
  const bool is_known = std::ranges::any_of(
      bot_tokens_, [token](const Secret& known) { return token == known.Reveal(); });
  if (token.empty() || !is_known) {
    Note(fmt::format("{} with an Authorization that is not the bot's", request.path));
    return "invalid_auth";
  }
  return token_revoked_ ? "token_revoked" : "";
}

// Slack answers a download without a good token by its page to log in, with status 200. A client
// that believes the status stores a page of HTML in place of the file.
http::Response PretendSlack::AnswerDownload(const http::Request& request) {
  if (request.method != http::Method::kGet && request.method != http::Method::kHead) {
    return Refuse("invalid_http_method", fmt::format("download by {}", ToString(request.method)));
  }
  if (!request.query.empty()) Note("a download with a query, where a token may be");
  if (!CheckToken(request).empty() || !world_.scopes.contains("files:read")) {
    return Html(kLoginPage);
  }
  const std::string_view rest = std::string_view(request.path).substr(kFilesPrefix.size());
  const std::string_view id = rest.substr(0, rest.find('/'));
  const File* file = FindFile(world_.workspace, id);
  if (file == nullptr || rest.substr(id.size()) != "/" + http::PercentEncode(file->name)) {
    return http::Text(404, "no such file");
  }
  if (!file->external_url.empty()) {
    Note(fmt::format("{} lies elsewhere and is asked for here", file->id));
    return http::Text(404, "no such file");
  }
  return {.status = 200, .headers = {{"Content-Type", file->mimetype}}, .body = ContentOf(*file)};
}

http::Response PretendSlack::AnswerDownloadBadly(FailureKind kind, const http::Request& request) {
  http::Response response = AnswerDownload(request);
  switch (kind) {
    case FailureKind::kLoginRedirect:
      // The same machine under another name counts as another host.
      return Redirect(fmt::format("http://localhost:{}{}?redir=%2Ffiles",
                                  address().substr(address().rfind(':') + 1), kLoginPath));
    case FailureKind::kRedirectLoop:
      return Redirect(request.path);
    case FailureKind::kShortBody:
      response.body.resize(response.body.size() / 2);
      break;
    default:
      response.headers.Set("Content-Type", "text/html; charset=utf-8");
  }
  return response;
}

// A client must not follow the redirect to the sign-in page, and must not send the token there.
http::Response PretendSlack::AnswerLogin(const http::Request& request) {
  Note(request.headers.Find("Authorization") ? "the token is brought to the page to log in"
                                             : "the page to log in is asked for");
  return Html(kLoginPage);
}

// A refresh token can be used once. A client that loses the answer, or refreshes from two processes
// at the same time, has no valid one any more.
http::Response PretendSlack::AnswerRefresh(const http::Request& request) {
  if (request.headers.Find("Authorization")) Note("a refresh with Authorization");
  const Result<Parameters> read = ReadParameters(request);
  if (request.method != http::Method::kPost || !IsForm(request) || !read) {
    return Refuse("invalid_form_data", "a refresh that is not sent as a form");
  }
  const auto find = [&](const char* name) {
    const auto found = read->find(name);
    return found == read->end() ? std::string() : found->second;
  };
  if (read->size() != 4 || find("grant_type") != "refresh_token") {
    return Refuse("invalid_arguments", "a refresh with other parameters");
  }
  if (find("client_id") != options_.client_id) return Refuse("invalid_client_id", "a bad client");
  if (find("client_secret") != options_.client_secret.Reveal()) {
    return Refuse("bad_client_secret", "a bad client secret");
  }
  if (refresh_token_.empty() || find("refresh_token") != refresh_token_.Reveal()) {
    return http::Json(200, ErrorBody("invalid_refresh_token"));
  }
  const size_t number = bot_tokens_.size();
  refresh_token_ = Secret(fmt::format("xoxe-1-pretend-{}", number));
  bot_tokens_.emplace_back(fmt::format("xoxe.xoxb-1-pretend-{}", number));
  return http::Json(200, fmt::format(R"({{"ok":true,"token_type":"bot","access_token":"{}",)"
                                     R"("refresh_token":"{}","expires_in":43200}})",
                                     bot_tokens_.back().Reveal(), refresh_token_.Reveal()));
}

Secret PretendSlack::refresh_token() const {
  const std::lock_guard lock(mutex_);
  return refresh_token_;
}

void PretendSlack::Fail(std::string_view method, Failure failure, size_t times) {
  CHECK(IsKnown(method));
  CHECK(method == kDownloads || !IsOfDownloads(failure.kind));
  const std::lock_guard lock(mutex_);
  if (times > 0) failures_[std::string(method)].emplace_back(std::move(failure), times);
}

void PretendSlack::Recover() {
  const std::lock_guard lock(mutex_);
  failures_.clear();
}

// The replies are called without the lock, for the same reason as in Handle.
void PretendSlack::Release() {
  std::vector<std::pair<http::Reply, http::Response>> answers;
  {
    const std::lock_guard lock(mutex_);
    for (Waiting& waiting : std::exchange(hanging_, {})) {
      answers.emplace_back(std::move(waiting.reply), Answer(waiting.request));
    }
  }
  for (auto& [reply, response] : answers) reply(std::move(response));
}

void PretendSlack::AwaitHanging(size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return hanging_.size() >= count; });
}

uint64_t PretendSlack::calls(std::string_view method) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(method);
  return found == calls_.end() ? 0 : found->second;
}

uint64_t PretendSlack::limited() const {
  const std::lock_guard lock(mutex_);
  return limited_;
}

std::vector<std::string> PretendSlack::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

void PretendSlack::Apply(const Changes& changes) {
  const std::lock_guard lock(mutex_);
  demo::Apply(changes, &world_.workspace);
}

void PretendSlack::RevokeToken() {
  const std::lock_guard lock(mutex_);
  token_revoked_ = true;
}

void PretendSlack::Deactivate(std::string_view user) {
  const std::lock_guard lock(mutex_);
  User* found = FindUser(world_.workspace, user);
  CHECK(found != nullptr);
  found->deactivated = true;
}

void PretendSlack::Archive(std::string_view channel) {
  const std::lock_guard lock(mutex_);
  Channel* found = FindChannel(world_.workspace, channel);
  CHECK(found != nullptr);
  found->archived = true;
}

void PretendSlack::Delete(std::string_view channel) {
  Apply({.removed_channels = {std::string(channel)}});
}

}  // namespace tidemark::demo
