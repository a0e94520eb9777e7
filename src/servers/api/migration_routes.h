// /api/v1/attempts/migration: moving attempts from an old store, for the operator.
//
//   GET  /api/v1/attempts/migration            the phase, since when, what differed
//   POST /api/v1/attempts/migration/advance    the next phase, or why not yet
//   POST /api/v1/attempts/migration/back       the one before; {"force":true} without copying
//   POST /api/v1/attempts/migration/verify     compares all of both stores; {"copy":true} first
//                                              copies to each what it lacks
//
// Without an old store they answer 400.
#pragma once

#include "apps/attempts/moving/migration.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

// All outlive the router; the migration may be null. Without tokens nobody is asked for one.
void AddMigrationRoutes(http::Router* router, moving::Migration* migration, TokenFile* tokens);

}  // namespace tidemark::api
