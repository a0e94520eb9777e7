// /api/v1/existence: the gate's existence check, for other programs. /api/v1/quarantine: the events
// that the gate refused.
//
//   GET    /api/v1/existence?team=T1&user=U1&channel=C1   the verdict, from the table or from Slack
//   DELETE /api/v1/existence?team=T1 | ?user=U1 | ?channel=C1 | all three for the triple
//                                                         forgets what was verified, at once
//   GET    /api/v1/quarantine?limit=&cursor=              signed events that will be checked again
#pragma once

#include "apps/gate/existence.h"
#include "apps/gate/quarantine.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

// All outlive the router.
void AddExistenceRoutes(http::Router* router, gate::Existence* existence, TokenFile* tokens);
void AddQuarantineRoutes(http::Router* router, gate::Quarantine* quarantine, TokenFile* tokens);

}  // namespace tidemark::api
