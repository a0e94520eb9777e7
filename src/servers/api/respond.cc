#include "servers/api/respond.h"

#include <utility>

namespace tidemark::api {

namespace {

// The status tells the client what it can do: correct the request (400), read the present state
// (409), or retry later (503). If the client can do nothing, it is 500. kUnknown is 503 too: the
// write may have been applied, and the client has to check that or to repeat the request.
int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kInUse:
    case ErrorCode::kConflict:
      return 409;
    case ErrorCode::kUnavailable:
    case ErrorCode::kThrottled:
    case ErrorCode::kUnreachable:
    case ErrorCode::kCancelled:
    case ErrorCode::kUnknown:
      return 503;
    case ErrorCode::kNotFound:
    case ErrorCode::kDenied:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      return 500;
  }
  return 500;
}

http::Response NeedsToken() {
  http::Response response = http::BadRequest(
      401, "this needs a token, made by `tidemark token create`: Authorization: Bearer tm_…");
  response.headers.Set("WWW-Authenticate", "Bearer");
  return response;
}

http::Response NeedsMore() {
  return http::Problem(403,
                       "this token may only read /metrics: use one made without --metrics-only");
}

// Routes that send files have stricter headers of their own.
void SetUnlessSet(const char* name, const char* value, http::Headers* headers) {
  if (!headers->Find(name)) headers->Add(name, value);
}

http::Response For(const Caller& caller, http::Response response) {
  response.caller = caller.name;
  SetUnlessSet("Cache-Control", "no-store", &response.headers);
  SetUnlessSet("X-Content-Type-Options", "nosniff", &response.headers);
  return response;
}

// Why the caller may not have what is asked for, or nullopt.
std::optional<http::Response> RefusalOf(const std::optional<Caller>& caller, TokenScope needed) {
  if (!caller) return NeedsToken();
  if (caller->scope != TokenScope::kEverything && caller->scope != needed) {
    return For(*caller, NeedsMore());
  }
  return std::nullopt;
}

}  // namespace

http::Response ToProblem(const Error& error) {
  const int status = StatusOf(error.code);
  if (status == 500) {
    // The text may have paths and more that is not for callers.
    http::Response failure = http::Problem(
        500, "internal server error: the log of the server has the cause under X-Request-Id");
    failure.cause = error.message;
    return failure;
  }
  http::Response response = http::Problem(status, error.message);
  if (response.status == 503) response.headers.Set("Retry-After", "1");
  return response;
}

http::Response ToResponse(Result<std::string> body) {
  return body ? http::Json(200, std::move(*body)) : ToProblem(body.error());
}

http::RouteHandler AnswerJson(Work work) {
  return [work = std::move(work)](const http::RoutedRequest& request) {
    return ToResponse(work(request));
  };
}

http::RouteHandler AnswerWith(
    std::function<Result<http::Response>(const http::RoutedRequest&)> work) {
  return [work = std::move(work)](const http::RoutedRequest& request) {
    auto response = work(request);
    return response ? *std::move(response) : ToProblem(response.error());
  };
}

// On the thread of the route. The caller's name is set before the handler runs, for its audit
// lines, and once more on the response, for the access log.
http::RouteHandler RunOn(WorkerPool* workers, http::RouteHandler handler) {
  if (workers == nullptr) return handler;
  // The router keeps the request until it is answered.
  return [workers, handler = std::move(handler)](const http::RoutedRequest& routed) {
    return workers->Run([&handler, &routed] { return handler(routed); });
  };
}

http::RouteHandler WithToken(TokenFile* tokens, http::RouteHandler handler, TokenScope needed) {
  return [tokens, needed, handler = std::move(handler)](
             const http::RoutedRequest& request) -> Later<http::Response> {
    const auto caller = tokens->Authenticate(request.request.headers.FindAll("Authorization"));
    if (auto refusal = RefusalOf(caller, needed)) return *std::move(refusal);
    request.caller = caller->name;
    return handler(request).Then(
        [caller = *caller](Result<http::Response> response) -> Result<http::Response> {
          if (!response) return response;
          return For(caller, *std::move(response));
        });
  };
}

// Called on a loop when the head is complete, before the body is read: without a token nobody can
// make the server hold a large body. /slack/events has no token; its signature needs the whole
// body. The handler asks again, because only it knows which scope it needs.
std::optional<http::Response> RefuseWithoutToken(TokenFile* tokens, const http::Request& head) {
  if (!head.path.starts_with("/api/")) return std::nullopt;
  return RefusalOf(tokens->Authenticate(head.headers.FindAll("Authorization")),
                   TokenScope::kEverything);
}

}  // namespace tidemark::api
