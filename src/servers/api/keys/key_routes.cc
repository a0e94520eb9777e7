#include "servers/api/keys/key_routes.h"

#include <functional>
#include <utility>

#include "base/json_body.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

Result<http::Response> Create(KeyKeeper& keeper, const http::RoutedRequest& routed) {
  const JsonBody body =
      TRY(JsonBody::Parse(routed.request.body, {"name", "read_only", "tables", "writes"}));
  if (body.Has("writes")) {
    return http::Problem(403,
                         "a key that may change Tidemark's own tables is not made over the API: "
                         "stop the server and use `tidemark key create NAME --write TABLE`");
  }
  NewKeyRequest request{.name = TRY(body.Text("name")),
                        .read_only = TRY(body.BoolOr("read_only", false))};
  if (body.Has("tables")) request.tables = TRY(body.Texts("tables"));
  return http::Json(200, TRY(keeper.Create(request)));
}

Result<http::Response> Revoke(KeyKeeper& keeper, const http::RoutedRequest& routed) {
  const Status revoked = keeper.Revoke(routed.parameters.find("key")->second);
  if (revoked) return http::Json(200, "{}");
  if (revoked.error().code != ErrorCode::kNotFound) return revoked.error();
  return http::Problem(404, revoked.error().message);
}

}  // namespace

void AddKeyRoutes(http::Router* router, KeyKeeper* keeper, TokenFile* tokens) {
  using KeyWork = std::function<Result<http::Response>(KeyKeeper&, const http::RoutedRequest&)>;
  const auto add = [&](http::Method method, std::string pattern, KeyWork work) {
    const auto handle = [keeper, work = std::move(work)](
                            const http::RoutedRequest& routed) -> Result<http::Response> {
      if (keeper != nullptr) return work(*keeper, routed);
      return Error{ErrorCode::kUnavailable, "this server was started without access keys"};
    };
    router->Add({.method = method,
                 .pattern = std::move(pattern),
                 .run = http::Run::kOnWorker,
                 .handler = WithToken(tokens, AnswerWith(handle))});
  };
  add(http::Method::kGet, "/api/v1/keys",
      [](KeyKeeper& keys, const http::RoutedRequest&) -> Result<http::Response> {
        return http::Json(200, TRY(keys.List()));
      });
  add(http::Method::kPost, "/api/v1/keys", &Create);
  add(http::Method::kDelete, "/api/v1/keys/{key}", &Revoke);
}

}  // namespace tidemark::api
