#include "servers/api/documents_cache_routes.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "servers/api/documents_json.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

using documents::Context;
using documents::FsckFinding;
using documents::WalkOptions;
using http::Response;
using http::RoutedRequest;

// How long a piece of a run takes: as long as people are ready to wait for a command to stop.
constexpr std::chrono::seconds kPiece(2);
// Findings in one answer.
constexpr size_t kMaxFindings = 1000;

class CacheRoutes {
 public:
  explicit CacheRoutes(DocumentsRoutesParts parts) : parts_(std::move(parts)) {}

  Response Stats(const RoutedRequest& routed) const;
  Response Events(const RoutedRequest& routed) const;
  Response Backfill(const RoutedRequest& routed) const;
  Response Fsck(const RoutedRequest& routed) const;

 private:
  Context NewContext() const { return parts_.documents->NewContext(parts_.stop); }
  // When the piece of a run that begins now is to end.
  Deadline EndOfPiece() const { return Deadline::After(*parts_.clock, kPiece); }

  const DocumentsRoutesParts parts_;
};

Response CacheRoutes::Stats(const RoutedRequest&) const {
  const auto stats = parts_.documents->Stats(NewContext());
  if (!stats) return ToProblem(stats.error(), /*is_conditional=*/false);
  return http::Json(200, ToJson(*stats));
}

// Who sends events may know only the status: it says whether to send them again, which is harmless
// for those that were handled.
Response CacheRoutes::Events(const RoutedRequest& routed) const {
  const documents::EventReport report =
      parts_.documents->HandleEvents(NewContext(), routed.request.body);
  Response response = http::Json(report.retry ? 503 : 200, ToJson(report));
  if (report.retry) response.headers.Set("Retry-After", "1");
  return response;
}

Response CacheRoutes::Backfill(const RoutedRequest& routed) const {
  Result<WalkOptions> walk = ParseWalk(routed.request.query);
  if (!walk) return ToProblem(walk.error());
  walk->pause = [end = EndOfPiece()] { return end.HasPassed(); };
  const auto report = parts_.documents->Backfill(NewContext(), *walk);
  if (!report) return ToProblem(report.error(), /*is_conditional=*/false);
  return http::Json(200, ToJson(*report));
}

Response CacheRoutes::Fsck(const RoutedRequest& routed) const {
  Result<WalkOptions> walk = ParseWalk(routed.request.query);
  if (!walk) return ToProblem(walk.error());
  std::vector<FsckFinding> findings;
  walk->pause = [&findings, end = EndOfPiece()] {
    return findings.size() >= kMaxFindings || end.HasPassed();
  };
  const auto report = parts_.documents->Fsck(
      NewContext(), *walk, [&](const FsckFinding& finding) { findings.push_back(finding); });
  if (!report) return ToProblem(report.error(), /*is_conditional=*/false);
  return http::Json(200, ToJson(*report, findings));
}

}  // namespace

void AddDocumentCacheRoutes(http::Router* router, const DocumentsRoutesParts& parts,
                            TokenFile* tokens) {
  const auto routes = std::make_shared<const CacheRoutes>(parts);
  const auto add = [&](http::Method method, std::string pattern,
                       Response (CacheRoutes::*work)(const RoutedRequest&) const) {
    const auto handler = std::bind_front(work, routes);
    router->Add({.method = method,
                 .pattern = std::move(pattern),
                 .run = http::Run::kOnWorker,
                 .handler = tokens == nullptr ? handler : WithToken(tokens, handler)});
  };
  using http::Method;
  add(Method::kGet, "/api/v1/document-cache", &CacheRoutes::Stats);
  add(Method::kPost, "/api/v1/documents/events", &CacheRoutes::Events);
  add(Method::kPost, "/api/v1/document-cache/backfill", &CacheRoutes::Backfill);
  add(Method::kPost, "/api/v1/document-cache/fsck", &CacheRoutes::Fsck);
}

}  // namespace tidemark::api
