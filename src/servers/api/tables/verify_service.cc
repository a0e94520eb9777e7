#include "servers/api/tables/verify_service.h"

#include "servers/api/respond.h"

namespace tidemark::api {

void VerifyService::AddRoutes(http::Router* router, TokenFile* tokens) {
  router->Add(
      {.method = http::Method::kPost,
       .pattern = "/api/v1/verification",
       .run = http::Run::kOnWorker,
       .handler = WithToken(tokens, [this](const http::RoutedRequest&) { return Begin(); })});
}

Later<http::Response> VerifyService::Begin() {
  if (!verify_) {
    return ToProblem({ErrorCode::kUnavailable, "this server was started without tables to verify"});
  }
  if (is_running_.exchange(true)) {
    return ToProblem(
        {ErrorCode::kInUse, "the tables are being verified already: wait until that has ended"});
  }
  return thread_.Run([this] {
    Result<std::string> report = verify_(&stop_);
    is_running_ = false;
    return ToResponse(std::move(report));
  });
}

void VerifyService::Stop() {
  stop_ = true;
  thread_.Stop();
}

}  // namespace tidemark::api
