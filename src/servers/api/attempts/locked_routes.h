// /api/v1/attempts/locked: all locked subjects, for after an attack on many of them.
//
//   GET  /api/v1/attempts/locked    the next page of them, ?cursor=
//   POST /api/v1/attempts/unlock    lifts the locks that rules have set within a time
//
// Both read the whole table page by page: the reply has "next" when there is more.
#pragma once

#include "apps/attempts/account_table.h"
#include "apps/attempts/attempts.h"
#include "apps/attempts/moving/migration.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

struct LockedRoutesParts {
  attempts::Attempts* attempts = nullptr;
  attempts::AccountTable* table = nullptr;
  moving::Migration* migration = nullptr;  // Null: there is no old store.
};

// All outlive the router. When `tokens` is null, no token is needed.
void AddLockedRoutes(http::Router* router, const LockedRoutesParts& parts, TokenFile* tokens);

}  // namespace tidemark::api
