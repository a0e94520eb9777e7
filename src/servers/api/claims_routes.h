// /api/v1/claims: de-duplication for other programs.
//
//   POST /api/v1/claims           take a claim: {"key":"Ev1"} or {"keys":["Ev1","F1_1.2"], …}
//   POST /api/v1/claims/mark      the one-call form: claimed and completed at once
//   POST /api/v1/claims/renew     these four take {"claim":{…}}, or the whole reply that gave it
//   POST /api/v1/claims/complete
//   POST /api/v1/claims/release
//   POST /api/v1/claims/fail
//   GET  /api/v1/claims           what is remembered, page by page: ?limit=&cursor=
//   GET  /api/v1/claims/possible-duplicates
//                                 what may have been handled twice while the store was away
//
// A duplicate is an answer, not an error: 200 with its outcome. A claim that is no longer the
// caller's is a 409, and the store being away a 503.
#pragma once

#include "apps/dedup/deduplicator.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

// All outlive the router.
void AddClaimsRoutes(http::Router* router, dedup::Deduplicator* dedup, dedup::Claims* claims,
                     TokenFile* tokens);

}  // namespace tidemark::api
