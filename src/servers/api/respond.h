// From a Result to a reply: what an error of each kind is over HTTP.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "http/message.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

// The problem that an error is to a caller. What a store denies us, or has no table for, is a fault
// of ours (500): the caller asked for nothing that is refused or missing.
http::Response ToProblem(const Error& error);

// A route's work: the body of a 200, or the error.
using Work = std::function<Result<std::string>(const http::RoutedRequest&)>;

// The work's JSON, or the problem.
http::Response ToResponse(Result<std::string> body);
std::function<http::Response(const http::RoutedRequest&)> AnswerJson(Work work);
// For work with other replies than a 200 with JSON, such as a 404 for what is not there.
std::function<http::Response(const http::RoutedRequest&)> AnswerWith(
    std::function<Result<http::Response>(const http::RoutedRequest&)> work);

// Runs the handler for callers with a token, and answers all others with 401. The tokens outlive
// what is returned.
std::function<http::Response(const http::RoutedRequest&)> WithToken(
    TokenFile* tokens, std::function<http::Response(const http::RoutedRequest&)> handler);
http::Begin WithToken(TokenFile* tokens, http::Begin begin);

}  // namespace tidemark::api
