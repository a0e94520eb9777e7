#include "servers/api/operations_routes.h"

#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

// Only says that the process answers, so it needs no token and no worker: a supervisor must not
// kill a server that waits for a slow disk.
http::Response Health(const http::RoutedRequest&) { return http::Json(200, R"({"healthy":true})"); }

Result<std::string> Readiness(tables::Tables& tables, const std::atomic<bool>& stopping) {
  if (stopping) return Error{ErrorCode::kUnavailable, "the server is stopping"};
  // A read and the state of the writer. Nothing is written: this is asked every few seconds for
  // years.
  const auto listed = tables.ListTables({.limit = 1});
  if (!listed) {
    return Error{ErrorCode::kUnavailable, "the store does not answer: " + listed.error().message};
  }
  const Status writable = tables.Writable();
  if (!writable) {
    return Error{ErrorCode::kUnavailable, "writes are refused: " + writable.error().message};
  }
  return std::string(R"({"ready":true})");
}

http::Response Exposition(const Metrics& metrics) {
  http::Response response = http::Text(200, metrics.Expose());
  response.headers.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  return response;
}

}  // namespace

void AddOperationsRoutes(http::Router* router, tables::Tables* tables, const Metrics* metrics,
                         const std::atomic<bool>* stopping, TokenFile* tokens) {
  router->Add({.method = http::Method::kGet,
               .pattern = "/healthz",
               .run = http::Run::kOnLoop,
               .handler = Health});
  router->Add({.method = http::Method::kGet,
               .pattern = "/readyz",
               .run = http::Run::kOnWorker,
               .handler = WithToken(tokens, AnswerJson([=](const http::RoutedRequest&) {
                                      return Readiness(*tables, *stopping);
                                    }))});
  router->Add({.method = http::Method::kGet,
               .pattern = "/metrics",
               .run = http::Run::kOnWorker,
               .handler = WithToken(
                   tokens, [=](const http::RoutedRequest&) { return Exposition(*metrics); },
                   TokenScope::kMetrics)});
}

}  // namespace tidemark::api
