#include "servers/api/respond.h"

#include <utility>

namespace tidemark::api {

namespace {

int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kInUse:
    case ErrorCode::kConflict:
      return 409;
    case ErrorCode::kUnavailable:
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

bool HasToken(TokenFile* tokens, const http::RoutedRequest& routed) {
  return tokens->Authenticate(routed.request.headers.FindAll("Authorization")).has_value();
}

http::Response NeedsToken() {
  http::Response response = http::Problem(
      401, "this needs a token, made by `tidemark token create`: Authorization: Bearer tm_…");
  response.headers.Set("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace

http::Response ToProblem(const Error& error) {
  http::Response response = http::Problem(StatusOf(error.code), error.message);
  if (response.status == 503) response.headers.Set("Retry-After", "1");
  return response;
}

http::Response ToResponse(Result<std::string> body) {
  return body ? http::Json(200, std::move(*body)) : ToProblem(body.error());
}

std::function<http::Response(const http::RoutedRequest&)> AnswerJson(Work work) {
  return [work = std::move(work)](const http::RoutedRequest& request) {
    return ToResponse(work(request));
  };
}

std::function<http::Response(const http::RoutedRequest&)> AnswerWith(
    std::function<Result<http::Response>(const http::RoutedRequest&)> work) {
  return [work = std::move(work)](const http::RoutedRequest& request) {
    auto response = work(request);
    return response ? *std::move(response) : ToProblem(response.error());
  };
}

std::function<http::Response(const http::RoutedRequest&)> WithToken(
    TokenFile* tokens, std::function<http::Response(const http::RoutedRequest&)> handler) {
  return [tokens, handler = std::move(handler)](const http::RoutedRequest& request) {
    return HasToken(tokens, request) ? handler(request) : NeedsToken();
  };
}

http::Begin WithToken(TokenFile* tokens, http::Begin begin) {
  return [tokens, begin = std::move(begin)](std::shared_ptr<const http::RoutedRequest> routed,
                                            http::Finish finish) {
    if (!HasToken(tokens, *routed)) return finish(NeedsToken());
    begin(std::move(routed), std::move(finish));
  };
}

}  // namespace tidemark::api
