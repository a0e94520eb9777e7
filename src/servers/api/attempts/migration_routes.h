// /api/v1/attempts/migration: moving attempts from an old store, for the operator.
//
//   GET  /api/v1/attempts/migration            the phase, when it began, the differences seen
//   POST /api/v1/attempts/migration/advance    the next phase, or why not yet
//   POST /api/v1/attempts/migration/back       the previous phase; {"force":true} does not copy
//   POST /api/v1/attempts/migration/verify     compares both stores; {"copy":true} first copies to
//                                              each store the rows that it lacks
//
// Without an old store they answer 400.
#pragma once

#include "apps/attempts/moving/migration.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

// All outlive the router. The migration is null when there is no old store. When `tokens` is null,
// no token is needed.
void AddMigrationRoutes(http::Router* router, moving::Migration* migration, TokenFile* tokens);

}  // namespace tidemark::api
