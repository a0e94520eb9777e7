#include "servers/api/keys/key_routes.h"

#include <functional>
#include <utility>

#include "base/json_body.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

void Audit(const Logger& logger, std::string_view event, std::string_view key,
           const http::RoutedRequest& routed) {
  logger.Log(LogLevel::kAudit, "access keys audit",
             {{"event", event},
              {"key", key},
              {"actor", routed.caller},
              {"request_id", routed.request.id}});
}

Result<http::Response> Create(KeyKeeper& keeper, const http::RoutedRequest& routed,
                              const Logger& logger) {
  const JsonBody body =
      TRY(JsonBody::Parse(routed.request.body, {"name", "read_only", "tables", "writes"}));
  if (body.Has("writes")) {
    return http::Problem(403,
                         "a key that may change Tidemark's own tables is not made over the API: "
                         "stop the server and use `tidemark key create NAME --write TABLE`");
  }
  NewKeyRequest request{.name = TRY(body.Text("name")),
                        .read_only = TRY(body.BoolOr("read_only", false))};
  if (body.Has("tables")) {
    request.tables = TRY(body.Texts("tables"));
    // An empty list would mean all tables, which nobody asks for in this way.
    if (request.tables.empty()) return Invalid("tables is empty: name a table, or leave it out");
  }
  std::string made = TRY(keeper.Create(request));
  Audit(logger, "made", request.name, routed);
  return http::Json(200, std::move(made));
}

Result<http::Response> Revoke(KeyKeeper& keeper, const http::RoutedRequest& routed,
                              const Logger& logger) {
  const std::string& key = routed.parameters.find("key")->second;
  const Status revoked = keeper.Revoke(key);
  if (revoked) {
    Audit(logger, "revoked", key, routed);
    return http::Json(200, "{}");
  }
  if (revoked.error().code != ErrorCode::kNotFound) return revoked.error();
  return http::Problem(404, revoked.error().message);
}

}  // namespace

void AddKeyRoutes(http::Router* router, KeyKeeper* keeper, TokenFile* tokens,
                  const Logger& logger) {
  using KeyWork =
      std::function<Result<http::Response>(KeyKeeper&, const http::RoutedRequest&, const Logger&)>;
  const auto add = [&](http::Method method, std::string pattern, KeyWork work) {
    const auto handle = [keeper, &logger, work = std::move(work)](
                            const http::RoutedRequest& routed) -> Result<http::Response> {
      if (keeper != nullptr) return work(*keeper, routed, logger);
      return Error{ErrorCode::kUnavailable, "this server was started without access keys"};
    };
    router->Add({.method = method,
                 .pattern = std::move(pattern),
                 .run = http::Run::kOnWorker,
                 .handler = WithToken(tokens, AnswerWith(handle))});
  };
  add(http::Method::kGet, "/api/v1/keys",
      [](KeyKeeper& keys, const http::RoutedRequest&, const Logger&) -> Result<http::Response> {
        return http::Json(200, TRY(keys.List()));
      });
  add(http::Method::kPost, "/api/v1/keys", &Create);
  add(http::Method::kDelete, "/api/v1/keys/{key}", &Revoke);
}

}  // namespace tidemark::api
