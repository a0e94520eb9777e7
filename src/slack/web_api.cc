#include "slack/web_api.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/json_members.h"
#include "http/retry_schedule.h"
#include "http/url.h"
#include "slack/call_budgets.h"

namespace tidemark::slack {

namespace {

constexpr uint32_t kAuthTestBudget = 60;
constexpr uint32_t kRefreshBudget = 10;
// Long, because a refresh token works only once: if we stop waiting for the answer, it is lost.
constexpr std::chrono::seconds kRefreshTimeout(30);
constexpr size_t kMaxTokens = 1'000;
constexpr size_t kMaxAnswer = 1 << 20;
// Of a page of a list: 999 users have up to about 3 MB.
constexpr size_t kMaxListAnswer = 16 << 20;
constexpr std::chrono::seconds kListTimeout(8);
// Slack's error codes are short. Longer texts come from somewhere else and are cut in our log.
constexpr size_t kMaxErrorLength = 64;

struct Call {
  ApiMethod method = ApiMethod::kTeamInfo;
  std::vector<std::pair<std::string, std::string>> parameters = {};  // {"user", "U01234567"}
  std::string form = {};  // When set: the body of a POST without a token.
};

// A page of a list is large, and Slack takes long to make it.
bool IsList(ApiMethod method) {
  return method == ApiMethod::kConversationsList || method == ApiMethod::kUsersList;
}

// Slack's answer: `body` when the call succeeded, `error` otherwise.
struct ApiAnswer {
  std::optional<CallError> error = {};
  std::optional<JsonDocument> body = {};
  http::Headers headers = {};
  uint32_t attempts = 0;
};

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

CallFailure FailureOf(std::string_view error) {
  if (IsOneOf(error, {"team_not_found", "user_not_found", "channel_not_found", "user_not_visible",
                      "file_not_found", "file_deleted"})) {
    return CallFailure::kNotFound;
  }
  if (IsOneOf(error, {"ratelimited", "rate_limited"})) return CallFailure::kRateLimited;
  if (IsOneOf(error,
              {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired",
               "missing_scope", "no_permission", "access_denied", "not_visible",
               "invalid_refresh_token", "bad_client_secret", "invalid_client_id"})) {
    return CallFailure::kDenied;
  }
  return CallFailure::kOther;
}

ApiAnswer Failed(CallFailure failure, std::string error) {
  return {.error = CallError{.failure = failure, .error = std::move(error)}};
}

ApiAnswer JudgeBody(http::Response response) {
  auto body = JsonDocument::Parse(response.body);
  if (!body) return Failed(CallFailure::kOther, "not_json");
  if (IsTrueIn(body->root(), "ok")) {
    return {.body = std::move(*body), .headers = std::move(response.headers)};
  }
  std::string error = TextIn(body->root(), "error").substr(0, kMaxErrorLength);
  if (error.empty()) return Failed(CallFailure::kOther, "not_ok");
  const CallFailure failure = FailureOf(error);
  return Failed(failure, std::move(error));
}

ApiAnswer Judge(http::Exchange exchange) {
  switch (exchange.outcome) {
    case http::Outcome::kAnswered:
      break;
    case http::Outcome::kTimedOut:
      return Failed(CallFailure::kTimeout, "timeout");
    case http::Outcome::kNotSent:
      return Failed(CallFailure::kOther, "not_sent");
    case http::Outcome::kBroken:
      return Failed(CallFailure::kOther, "broken");
    case http::Outcome::kTooLarge:
      return Failed(CallFailure::kOther, std::string(kTooLarge));
  }
  const int status = exchange.response.status;
  if (status == 429) return Failed(CallFailure::kRateLimited, "ratelimited");
  if (status != 200) return Failed(CallFailure::kOther, "http_" + std::to_string(status));
  return JudgeBody(std::move(exchange.response));
}

// First the labels of CallFailure, in its order; then success; then calls that our budget refused.
constexpr std::array<const char*, 7> kOutcomeLabels = {
    "timeout", "rate_limited", "not_found", "denied", "error", "ok", "budget"};
constexpr size_t kOkLabel = 5;
constexpr size_t kBudgetLabel = 6;

class CallMetrics {
 public:
  explicit CallMetrics(Metrics& metrics) {
    for (size_t method = 0; method < kApiMethods; ++method) {
      const std::string name(ToString(static_cast<ApiMethod>(method)));
      for (const char* outcome : kOutcomeLabels) {
        calls_[method].push_back(&metrics.AddCounter(
            {.name = "tidemark_slack_calls_total",
             .help = "Calls of Slack's Web API, and those that our own budget refused.",
             .labels = {{"method", name}, {"outcome", outcome}}}));
      }
      seconds_[method] =
          &metrics.AddHistogram({.metric = {.name = "tidemark_slack_call_seconds",
                                            .help = "Time to an answer of Slack's Web API.",
                                            .labels = {{"method", name}}},
                                 .bounds = {0.05, 0.1, 0.2, 0.5, 1, 2, 5}});
    }
  }

  void Count(ApiMethod method, size_t label) { calls_[static_cast<size_t>(method)][label]->Add(); }
  void Observe(ApiMethod method, std::chrono::duration<double> took) {
    seconds_[static_cast<size_t>(method)]->Observe(took.count());
  }

 private:
  std::array<std::vector<Counter*>, kApiMethods> calls_;
  std::array<Histogram*, kApiMethods> seconds_{};
};

MethodBudgets BudgetsOf(const WebApiOptions& options) {
  MethodBudgets budgets{};
  const auto set = [&](ApiMethod method, uint32_t budget) {
    budgets[static_cast<size_t>(method)] = budget;
  };
  set(ApiMethod::kTeamInfo, options.team_info_budget);
  set(ApiMethod::kUsersInfo, options.users_info_budget);
  set(ApiMethod::kConversationsInfo, options.conversations_info_budget);
  set(ApiMethod::kFilesInfo, options.files_info_budget);
  set(ApiMethod::kAuthTest, kAuthTestBudget);
  set(ApiMethod::kRefresh, kRefreshBudget);
  set(ApiMethod::kConversationsList, options.conversations_list_budget);
  set(ApiMethod::kUsersList, options.users_list_budget);
  return budgets;
}

}  // namespace

// Makes the calls. Budgets, retries and metrics are the same for all methods.
class WebApi::Caller : public std::enable_shared_from_this<Caller> {
 public:
  Caller(WebApiOptions options, http::Client* client, const Runtime& runtime)
      : options_(std::move(options)),
        client_(*client),
        runtime_(runtime),
        budgets_(BudgetsOf(options_), kMaxTokens, &runtime.clock),
        metrics_(runtime.metrics) {
    options_.retry.jitter = 0;
  }

  // Returns one answer for each call, in the same order, not later than the deadline.
  std::vector<ApiAnswer> CallAll(const Secret& token, std::span<const Call> calls,
                                 const Deadline& deadline) {
    std::vector<ApiAnswer> answers(calls.size());
    std::vector<Backoff> backoffs(calls.size(), Backoff(options_.retry, nullptr));
    http::RetrySchedule schedule(calls.size(), &runtime_.clock, &runtime_.sleeper);
    for (auto due = schedule.Next(); !due.empty(); due = schedule.Next()) {
      const auto limited = CallOnce(token, calls, due, deadline, &answers);
      for (const auto& [index, pause] : limited) {
        if (const auto wait = backoffs[index].Next(deadline, pause)) schedule.Again(index, *wait);
      }
    }
    return answers;
  }

  // Makes one call, once, without blocking, and reads its answer.
  template <typename T>
  LaterCall<T> Submit(const Secret& token, const Call& call, const Deadline& deadline,
                      CallResult<T> (*read)(const ApiAnswer&)) {
    if (auto refused = Refuse(token, call, deadline)) return CallResult<T>(*std::move(refused));
    return client_.Submit(RequestFor(token, call), deadline)
        .Then([self = shared_from_this(), token, method = call.method,
               read](Result<http::Exchange> exchange) -> Result<CallResult<T>> {
          if (!exchange) return std::move(exchange).error();  // The client ends.
          return read(self->Take(token, method, *std::move(exchange)).answer);
        });
  }

 private:
  // Slack's answer, and its Retry-After when it is a 429.
  struct Taken {
    ApiAnswer answer;
    std::optional<std::chrono::seconds> pause;
  };
  Taken Take(const Secret& token, ApiMethod method, http::Exchange exchange) {
    const auto pause = http::RetryAfter(exchange.response.headers);
    metrics_.Observe(method, exchange.took);
    ApiAnswer answer = Judge(std::move(exchange));
    Count(method, answer);
    if (!answer.error || answer.error->failure != CallFailure::kRateLimited) {
      return {std::move(answer), std::nullopt};
    }
    budgets_.Rest(token, method, pause);
    return {std::move(answer), pause};
  }

  // A call that Slack answered with 429, and its Retry-After.
  struct Limited {
    size_t index;
    std::chrono::seconds pause;
  };

  http::OutgoingRequest RequestFor(const Secret& token, const Call& call) const {
    std::string url = options_.url + "/" + std::string(ToString(call.method));
    if (!call.form.empty()) {
      return {.method = http::Method::kPost,
              .url = std::move(url),
              .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
              .body = call.form,
              .timeout = kRefreshTimeout,
              .max_answer_bytes = kMaxAnswer};
    }
    char separator = '?';
    for (const auto& [name, value] : call.parameters) {
      url += std::exchange(separator, '&') + name + "=" + http::PercentEncode(value);
    }
    const bool is_list = IsList(call.method);
    return {.url = std::move(url),
            .headers = {{"Authorization", "Bearer " + std::string(token.Reveal())}},
            .timeout = is_list ? kListTimeout : options_.call_timeout,
            .max_answer_bytes = is_list ? kMaxListAnswer : kMaxAnswer};
  }

  // Why the call must not be made now; nullopt when it may be made. The budget counts it then.
  std::optional<CallError> Refuse(const Secret& token, const Call& call, const Deadline& deadline) {
    if (deadline.HasPassed()) return CallError{CallFailure::kTimeout, "deadline"};
    if (budgets_.Take(token, call.method)) return std::nullopt;
    metrics_.Count(call.method, kBudgetLabel);
    return CallError{CallFailure::kRateLimited, "budget"};
  }

  // Makes those calls of `due` that the budget allows, all at the same time. Returns the calls that
  // Slack answered with 429, which may be made again.
  std::vector<Limited> CallOnce(const Secret& token, std::span<const Call> calls,
                                const std::vector<size_t>& due, const Deadline& deadline,
                                std::vector<ApiAnswer>* answers) {
    std::vector<http::OutgoingRequest> requests;
    std::vector<size_t> sent;
    for (const size_t index : due) {
      ApiAnswer& answer = (*answers)[index];
      answer.error = Refuse(token, calls[index], deadline);
      if (answer.error) continue;
      requests.push_back(RequestFor(token, calls[index]));
      sent.push_back(index);
    }
    if (requests.empty()) return {};
    auto exchanges = client_.SendAll(requests, deadline);
    std::vector<Limited> limited;
    for (size_t i = 0; i < sent.size(); ++i) {
      const size_t index = sent[i];
      ApiAnswer& answer = (*answers)[index];
      const uint32_t attempts = answer.attempts + 1;
      Taken taken = Take(token, calls[index].method, std::move(exchanges[i]));
      answer = std::move(taken.answer);
      answer.attempts = attempts;
      if (taken.pause) limited.push_back({index, *taken.pause});
    }
    return limited;
  }

  void Count(ApiMethod method, const ApiAnswer& answer) {
    metrics_.Count(method, answer.error ? static_cast<size_t>(answer.error->failure) : kOkLabel);
  }

  WebApiOptions options_;
  http::Client& client_;
  const Runtime runtime_;
  CallBudgets budgets_;
  CallMetrics metrics_;
};

namespace {

// The method that looks up a kind of entity, and where its answer has the entity.
struct LookupMethod {
  ApiMethod method;
  const char* name;      // Of the parameter and of the answer's member.
  const char* inactive;  // The flag that says it is inactive; "" when the kind has none.
};

LookupMethod MethodFor(EntityKind kind) {
  switch (kind) {
    case EntityKind::kTeam:
      return {ApiMethod::kTeamInfo, "team", ""};
    case EntityKind::kUser:
      return {ApiMethod::kUsersInfo, "user", "deleted"};
    case EntityKind::kChannel:
      break;
  }
  return {ApiMethod::kConversationsInfo, "channel", "is_archived"};
}

LookupOutcome OutcomeOf(CallFailure failure) {
  switch (failure) {
    case CallFailure::kTimeout:
      return LookupOutcome::kTimeout;
    case CallFailure::kRateLimited:
      return LookupOutcome::kRateLimited;
    case CallFailure::kNotFound:
      return LookupOutcome::kNotFound;
    case CallFailure::kDenied:
    case CallFailure::kOther:
      break;
  }
  return LookupOutcome::kApiError;
}

void Describe(EntityKind kind, const Json& entity, LookupReply* reply) {
  if (kind == EntityKind::kUser) {
    if (auto person = ReadPerson(entity)) reply->entity = *std::move(person);
  }
  if (kind == EntityKind::kChannel) {
    auto conversation = ReadConversation(entity);
    if (!conversation) return;
    reply->is_public = conversation->is_public;
    reply->entity = *std::move(conversation);
  }
}

LookupReply ReplyTo(const Lookup& lookup, const ApiAnswer& answer) {
  LookupReply reply{.attempts = answer.attempts};
  if (answer.error) {
    reply.outcome = OutcomeOf(answer.error->failure);
    reply.error = answer.error->error;
    return reply;
  }
  const LookupMethod method = MethodFor(lookup.kind);
  const auto entity = answer.body->root().Find(method.name);
  const std::string id = TextIn(entity, "id");
  if (id.empty()) {
    reply.error = "no_id";  // An answer without an id says nothing: neither active nor absent.
  } else if (id != lookup.id) {
    reply.outcome = LookupOutcome::kNotFound;
    reply.error = "id_mismatch";
  } else {
    const bool inactive = IsTrueIn(*entity, method.inactive);
    reply.outcome = inactive ? LookupOutcome::kInactive : LookupOutcome::kActive;
    Describe(lookup.kind, *entity, &reply);
  }
  return reply;
}

std::vector<std::string> SplitScopes(std::string_view text) {
  std::vector<std::string> scopes;
  while (!text.empty()) {
    std::string_view scope = text.substr(0, text.find(','));
    text.remove_prefix(std::min(scope.size() + 1, text.size()));
    while (scope.starts_with(' ')) scope.remove_prefix(1);
    if (!scope.empty()) scopes.emplace_back(scope);
  }
  return scopes;
}

}  // namespace

WebApi::WebApi(WebApiOptions options, http::Client* client, const Runtime& runtime)
    : caller_(std::make_shared<Caller>(std::move(options), client, runtime)) {}

WebApi::~WebApi() = default;

std::vector<LookupReply> WebApi::LookUp(const Secret& token, std::span<const Lookup> lookups,
                                        const Deadline& deadline) {
  std::vector<Call> calls;
  for (const Lookup& lookup : lookups) {
    const LookupMethod method = MethodFor(lookup.kind);
    calls.push_back({.method = method.method, .parameters = {{method.name, lookup.id}}});
  }
  const std::vector<ApiAnswer> answers = caller_->CallAll(token, calls, deadline);
  std::vector<LookupReply> replies;
  for (size_t i = 0; i < lookups.size(); ++i) replies.push_back(ReplyTo(lookups[i], answers[i]));
  return replies;
}

namespace {

Call ListCall(ApiMethod method, const ListRequest& request) {
  Call call{.method = method,
            .parameters = {{"limit", std::to_string(request.limit)}, {"team_id", request.team}}};
  if (!request.cursor.empty()) call.parameters.emplace_back("cursor", request.cursor);
  return call;
}

// `member` is the name of the array in the answer.
template <typename T>
CallResult<ListPage<T>> ReadPage(const ApiAnswer& answer, std::string_view member,
                                 std::optional<T> (*read)(const Json&)) {
  if (answer.error) return *answer.error;
  const Json root = answer.body->root();
  const auto entries = root.Find(member);
  if (!entries || !entries->IsArray()) return CallError{CallFailure::kOther, "no_list"};
  ListPage<T> page{.entries = {},
                   .next_cursor = TextIn(root.Find("response_metadata"), "next_cursor")};
  for (const Json entry : entries->Elements()) {
    if (auto known = read(entry)) page.entries.push_back(*std::move(known));
  }
  return page;
}

CallResult<ListPage<Conversation>> ReadChannels(const ApiAnswer& answer) {
  return ReadPage<Conversation>(answer, "channels", &ReadConversation);
}

CallResult<ListPage<Person>> ReadPeople(const ApiAnswer& answer) {
  return ReadPage<Person>(answer, "members", &ReadPerson);
}

CallResult<AuthTest> ReadAuth(const ApiAnswer& answer) {
  if (answer.error) return *answer.error;
  const Json root = answer.body->root();
  return AuthTest{.team_id = TextIn(root, "team_id"),
                  .user_id = TextIn(root, "user_id"),
                  .bot_id = TextIn(root, "bot_id"),
                  .scopes = SplitScopes(answer.headers.Find("X-OAuth-Scopes").value_or(""))};
}

}  // namespace

LaterCall<ListPage<Conversation>> WebApi::ListConversations(const Secret& token,
                                                            ConversationType type,
                                                            const ListRequest& request,
                                                            const Deadline& deadline) {
  Call call = ListCall(ApiMethod::kConversationsList, request);
  call.parameters.emplace_back(
      "types", type == ConversationType::kPublic ? "public_channel" : "private_channel");
  return caller_->Submit(token, call, deadline, &ReadChannels);
}

LaterCall<ListPage<Person>> WebApi::ListUsers(const Secret& token, const ListRequest& request,
                                              const Deadline& deadline) {
  return caller_->Submit(token, ListCall(ApiMethod::kUsersList, request), deadline, &ReadPeople);
}

CallResult<AuthTest> WebApi::TestAuth(const Secret& token, const Deadline& deadline) {
  const Call call = {.method = ApiMethod::kAuthTest};
  return ReadAuth(caller_->CallAll(token, {&call, 1}, deadline).front());
}

LaterCall<AuthTest> WebApi::TestAuthLater(const Secret& token, const Deadline& deadline) {
  return caller_->Submit(token, {.method = ApiMethod::kAuthTest}, deadline, &ReadAuth);
}

CallResult<FileInfo> WebApi::GetFile(const Secret& token, const std::string& file,
                                     const Deadline& deadline) {
  const Call call = {.method = ApiMethod::kFilesInfo, .parameters = {{"file", file}}};
  const ApiAnswer answer = std::move(caller_->CallAll(token, {&call, 1}, deadline).front());
  if (answer.error) return *answer.error;
  const auto info = answer.body->root().Find("file");
  const std::string id = TextIn(info, "id");
  if (id.empty()) return CallError{CallFailure::kOther, "no_id"};
  if (id != file) return CallError{CallFailure::kNotFound, "id_mismatch"};
  std::string url = TextIn(info, "url_private_download");
  if (url.empty()) url = TextIn(info, "url_private");
  return FileInfo{.id = file,
                  .name = TextIn(info, "name"),
                  .mode = TextIn(info, "mode"),
                  .mimetype = TextIn(info, "mimetype"),
                  .url_private_download = std::move(url),
                  .size = IntegerIn(*info, "size"),
                  .is_external = IsTrueIn(*info, "is_external")};
}

CallResult<RefreshedToken> WebApi::RefreshToken(const TokenRefresh& refresh,
                                                const Deadline& deadline) {
  const Call call = {
      .method = ApiMethod::kRefresh,
      .form = "grant_type=refresh_token&client_id=" + http::PercentEncode(refresh.client_id) +
              "&client_secret=" + http::PercentEncode(refresh.client_secret.Reveal()) +
              "&refresh_token=" + http::PercentEncode(refresh.refresh_token.Reveal())};
  const ApiAnswer answer =
      std::move(caller_->CallAll(refresh.refresh_token, {&call, 1}, deadline).front());
  if (answer.error) return *answer.error;
  const Json root = answer.body->root();
  RefreshedToken token{.access_token = Secret(TextIn(root, "access_token")),
                       .refresh_token = Secret(TextIn(root, "refresh_token")),
                       .expires_in = std::chrono::seconds(IntegerIn(root, "expires_in"))};
  const bool is_whole = !token.access_token.empty() && !token.refresh_token.empty() &&
                        token.expires_in > std::chrono::seconds(0);
  if (!is_whole) return CallError{CallFailure::kOther, "incomplete"};
  return token;
}

}  // namespace tidemark::slack
