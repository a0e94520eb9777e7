// /api/v1/document-cache: what keeps the cache of documents right.
//
//   GET  /api/v1/document-cache            how it stands
//   POST /api/v1/documents/events          what S3 or MinIO say of objects that changed
//   POST /api/v1/document-cache/backfill   ?since=&until=&customer=&dry_run=&checkpoint=
//   POST /api/v1/document-cache/fsck       likewise
//
// Runs over all documents are asked for piece by piece: each answer comes after a moment and,
// unless the run is finished, says the checkpoint by which to ask for the next one. So nobody waits
// for long, and whoever stops asking ends the run.
#pragma once

#include "servers/api/documents_routes.h"

namespace tidemark::api {

// All outlive the router. Without tokens nobody is asked for one.
void AddDocumentCacheRoutes(http::Router* router, const DocumentsRoutesParts& parts,
                            TokenFile* tokens);

}  // namespace tidemark::api
