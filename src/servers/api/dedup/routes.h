// /api/v1/claims: de-duplication for other programs.
//
//   POST /api/v1/claims           take a claim: {"key":"Ev1"} or {"keys":["Ev1","F1_1.2"], …}
//   POST /api/v1/claims/mark      the one-call form: claimed and completed at once
//   POST /api/v1/claims/renew     these four take {"claim":{…}}, or the whole reply that gave it
//   POST /api/v1/claims/complete
//   POST /api/v1/claims/release
//   POST /api/v1/claims/fail
//   GET  /api/v1/claims           the stored claims, page by page: ?limit=&cursor=
//   GET  /api/v1/claims/possible-duplicates
//                                 what may have been handled twice while the store was unavailable
//
// A duplicate is not an error: the answer is 200 with its outcome. A claim that was superseded
// gives 409, and a store that is unavailable gives 503.
#pragma once

#include "apps/dedup/deduplicator.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

// All outlive the router.
struct ClaimsParts {
  dedup::Deduplicator* dedup = nullptr;
  dedup::Claims* claims = nullptr;  // The same claims.
  // The marks of the front door, in their own table. Only the report of possible duplicates reads
  // them.
  const dedup::Deduplicator* events = nullptr;
};
void AddClaimsRoutes(http::Router* router, const ClaimsParts& parts, TokenFile* tokens);

}  // namespace tidemark::api
