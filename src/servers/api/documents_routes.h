// /api/v1/documents: changes and announcements, in objects and found by a cache of them.
//
//   PUT    /api/v1/documents/{id}      the body is the document, stored byte for byte
//   GET    /api/v1/documents/{id}      with its ETag, where it came from, and how old that is
//   DELETE /api/v1/documents/{id}
//   GET    /api/v1/documents           ?from=&to=&type=&customer=&status=&limit=&cursor=&beyond=
//
// Who writes may name the version to be replaced: If-Match, If-None-Match: * or ?expected_etag=;
// 412 when another is there. An error says of what type it is and whether to try again.
#pragma once

#include <chrono>
#include <string_view>

#include "apps/documents/documents.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

// Below it bodies are documents, which may be large.
inline constexpr std::string_view kDocumentsPrefix = "/api/v1/documents/";

struct DocumentsRoutesParts {
  documents::Documents* documents = nullptr;
  const Clock* clock = nullptr;
  // How long ranges without a start are: as far back as the cache is sure to reach.
  std::chrono::seconds default_range{0};
  std::stop_token stop = {};  // Requests under way end when it is asked to.
};

// With those of the cache, see documents_cache_routes.h. All outlive the router. Without tokens
// nobody is asked for one.
void AddDocumentsRoutes(http::Router* router, const DocumentsRoutesParts& parts, TokenFile* tokens);

}  // namespace tidemark::api
