// /api/v1/document-cache: the upkeep of the cache of documents.
//
//   GET  /api/v1/document-cache            its size, its coverage and what is left to do
//   POST /api/v1/documents/events          notifications of S3 or MinIO about changed objects
//   POST /api/v1/document-cache/backfill   ?since=&until=&customer=&dry_run=&checkpoint=
//   POST /api/v1/document-cache/fsck       the same parameters
//
// A run over all documents is done in pieces, one request each. A reply comes after about two
// seconds. Unless the run is finished, it has a checkpoint for the next request. So no request
// takes long, and a caller ends a run by not sending the next request.
#pragma once

#include "servers/api/documents/routes.h"

namespace tidemark::api {

// All parts outlive the router. When `tokens` is null, callers need no token.
void AddDocumentCacheRoutes(http::Router* router, const DocumentsRoutesParts& parts,
                            TokenFile* tokens);

}  // namespace tidemark::api
