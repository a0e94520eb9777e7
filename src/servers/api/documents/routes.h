// /api/v1/documents: changes and announcements.
//
//   PUT    /api/v1/documents/{id}      the body is the document, stored byte for byte
//   GET    /api/v1/documents/{id}      with its ETag, its source, and how old that answer is
//   DELETE /api/v1/documents/{id}
//   GET    /api/v1/documents           ?from=&to=&type=&customer=&status=&limit=&cursor=&beyond=
//
// A writer may name the version to be replaced: If-Match, If-None-Match: * or ?expected_etag=. The
// reply is 412 when another version is there. An error has its type and whether a retry may help.
#pragma once

#include <chrono>
#include <stop_token>
#include <string_view>

#include "apps/documents/documents.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "servers/api/documents/workers.h"

namespace tidemark::api {

// Requests below this path have documents as bodies, which may be large.
inline constexpr std::string_view kDocumentsPrefix = "/api/v1/documents/";

struct DocumentsRoutesParts {
  documents::Documents* documents = nullptr;
  const Clock* clock = nullptr;
  // The length of a range without a start: as far back as the cache is sure to reach.
  std::chrono::seconds default_range{0};
  DocumentsWorkers* workers = nullptr;
  std::stop_token stop = {};  // A stop ends the requests that are under way.
};

// Adds these routes and those of cache_routes.h. All parts outlive the router. When `tokens` is
// null, callers need no token.
void AddDocumentsRoutes(http::Router* router, const DocumentsRoutesParts& parts, TokenFile* tokens);

}  // namespace tidemark::api
