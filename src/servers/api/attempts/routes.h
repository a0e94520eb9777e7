// /api/v1/subjects: counts attempts at passwords and codes for other programs.
//
//   POST   /api/v1/subjects/identify                  {"email":…} → the id of the address
//   GET    /api/v1/subjects/{id}                      counts, locks and states
//   POST   /api/v1/subjects/{id}/attempts/reserve     takes a slot, before the secret is verified
//   POST   /api/v1/subjects/{id}/attempts/settle      ends the attempt: "right" or not
//   POST   /api/v1/subjects/{id}/attempts/spend       takes a slot that is never given back
//   POST   /api/v1/subjects/{id}/attempts/decide      what reserve would decide
//   GET    /api/v1/subjects/{id}/counts               DELETE resets them all
//   POST   /api/v1/subjects/{id}/counts/increment     counts, and sets no lock
//   GET    /api/v1/subjects/{id}/counts/{journey}/{count_type}/{classifier}
//                                                     one count, ?method=; DELETE resets it
//   GET    /api/v1/subjects/{id}/counts/{journey}/{count_type}/{classifier}/sum
//   GET    /api/v1/subjects/{id}/locks                POST sets one
//   DELETE /api/v1/subjects/{id}/locks/{journey}/{classifier}
//                                                     lifts it; ?method=&lane=
//   DELETE /api/v1/subjects/{id}/ceiling              resets the failures in a row
//   GET    /api/v1/subjects/{id}/states               POST sets one, DELETE …/{state} clears it
//   GET    /api/v1/subjects/{id}/email-fraud          POST sets it
//   POST   /api/v1/subjects/{id}/journeys/{journey}/decide
//                                                     for all of a person's ids: {"also":[…]}
//   POST   /api/v1/subjects/{id}/journeys/{journey}/clear
//                                                     the same, when the journey has succeeded
//
// A path with an empty id is answered with 400. The id is the partition key of the table: "ann",
// "pairwise~…", "session~…", "email~…". An address is only given to identify, in the body: paths
// are logged. A refusal is not an error: it is answered with 200 and a verdict. When the store
// fails the answer is a problem (503 or 500) without a verdict.
#pragma once

#include <string>
#include <string_view>

#include "apps/attempts/attempts.h"
#include "base/secret.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

struct AttemptsRoutesParts {
  attempts::Attempts* attempts = nullptr;
  const Secret* email_key = nullptr;           // Empty: addresses are refused.
  const Secret* previous_email_key = nullptr;  // Empty: the key was never changed.
};

// All outlive the router. When `tokens` is null, no token is needed.
void AddAttemptsRoutes(http::Router* router, const AttemptsRoutesParts& parts, TokenFile* tokens);

// The path as it may be logged: after "subjects", in any spelling, only the words of the routes are
// shown. Everything else may be the id of a session, or an address that somebody put there.
std::string PathWithoutSubject(std::string_view path);

}  // namespace tidemark::api
