// Turns Results into HTTP responses, and errors into the status that fits them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/worker_pool.h"
#include "http/message.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

// The response for an error. When the store denies access or lacks a table, that is a fault of this
// server (500) and not of the caller.
http::Response ToProblem(const Error& error);

// What a route does: gives the body of a 200, or an error.
using Work = std::function<Result<std::string>(const http::RoutedRequest&)>;

// A 200 with the JSON, or the response for the error.
http::Response ToResponse(Result<std::string> body);
http::RouteHandler AnswerJson(Work work);
// For work with responses other than a 200 with JSON, such as a 404.
http::RouteHandler AnswerWith(
    std::function<Result<http::Response>(const http::RoutedRequest&)> work);

// Runs the handler on one of the workers, so that its waits use up these threads only. They outlive
// what is returned. nullptr: on the thread that calls it.
http::RouteHandler RunOn(WorkerPool* workers, http::RouteHandler handler);

// Runs the handler for callers with a token, and answers all others with 401. A token that is good
// for less than `needed` gets 403. The access log names the token, and the handler finds its name
// in the request. Caches must not keep the answer, and browsers must not guess its type. The tokens
// outlive what is returned.
http::RouteHandler WithToken(TokenFile* tokens, http::RouteHandler handler,
                             TokenScope needed = TokenScope::kEverything);

// The answer to a request of the API whose caller has no token for it, for the router's head check:
// the body of such a request is not read. Paths outside of /api/ pass. Takes a lock, and
// waits for no disk as long as another thread refreshes the tokens.
std::optional<http::Response> RefuseWithoutToken(TokenFile* tokens, const http::Request& head);

}  // namespace tidemark::api
