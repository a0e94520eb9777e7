#include "servers/api/documents/cache_routes.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "servers/api/documents/json.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

using documents::Context;
using documents::FsckFinding;
using documents::WalkOptions;
using http::Response;
using http::RoutedRequest;

// How long a piece of a run takes. A command ends after the piece that is running, so this is how
// long a person waits after Ctrl-C.
constexpr std::chrono::seconds kPiece(2);
// The number of findings in one reply.
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
  // When a piece of a run that begins now should end.
  Deadline EndOfPiece() const { return Deadline::After(*parts_.clock, kPiece); }

  const DocumentsRoutesParts parts_;
};

Response CacheRoutes::Stats(const RoutedRequest&) const {
  const auto stats = parts_.documents->Stats(NewContext());
  if (!stats) return ToDocumentProblem(stats.error());
  return http::Json(200, ToJson(*stats));
}

// A sender of events may only look at the status, so 503 says that a record failed. It then sends
// all records again, which is harmless for those that were handled. A notification that cannot be
// parsed gets 400, so that its sender does not take it for handled.
Response CacheRoutes::Events(const RoutedRequest& routed) const {
  const documents::EventReport report =
      parts_.documents->HandleEvents(NewContext(), routed.request.body);
  const int status = report.retry ? 503 : report.understood ? 200 : 400;
  Response response = http::Json(status, ToJson(report));
  if (report.retry) response.headers.Set("Retry-After", "1");
  return response;
}

Response CacheRoutes::Backfill(const RoutedRequest& routed) const {
  Result<WalkOptions> walk = ParseWalk(routed.request.query);
  if (!walk) return ToProblem(walk.error());
  walk->pause = [end = EndOfPiece()] { return end.HasPassed(); };
  const auto report = parts_.documents->Backfill(NewContext(), *walk);
  if (!report) return ToDocumentProblem(report.error());
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
  if (!report) return ToDocumentProblem(report.error());
  return http::Json(200, ToJson(*report, findings));
}

}  // namespace

void AddDocumentCacheRoutes(http::Router* router, const DocumentsRoutesParts& parts,
                            TokenFile* tokens) {
  const auto routes = std::make_shared<const CacheRoutes>(parts);
  const auto add = [&](http::Method method, std::string pattern,
                       Response (CacheRoutes::*work)(const RoutedRequest&) const) {
    const auto handler = [routes, work, workers = parts.workers](const RoutedRequest& routed) {
      return workers->Maintain([routes, work, &routed] { return (routes.get()->*work)(routed); });
    };
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
