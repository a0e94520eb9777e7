// /api/v1/subjects: attempts at passwords and codes, counted for other programs.
//
//   POST   /api/v1/subjects/identify                  {"email":…} → the id that stands for it
//   GET    /api/v1/subjects/{id}                      all that is known: counts, locks, states
//   POST   /api/v1/subjects/{id}/attempts/reserve     a slot, before the secret is verified
//   POST   /api/v1/subjects/{id}/attempts/settle      what came of it: "right" or not
//   POST   /api/v1/subjects/{id}/attempts/spend       a slot for what has no outcome
//   POST   /api/v1/subjects/{id}/attempts/decide      what reserve would say
//   GET    /api/v1/subjects/{id}/counts               DELETE resets them all
//   POST   /api/v1/subjects/{id}/counts/increment     counts, and locks nobody
//   GET    /api/v1/subjects/{id}/counts/{journey}/{count_type}/{classifier}
//                                                     one count, ?method=; DELETE resets it
//   GET    /api/v1/subjects/{id}/counts/{journey}/{count_type}/{classifier}/sum
//   GET    /api/v1/subjects/{id}/locks                POST sets one
//   DELETE /api/v1/subjects/{id}/locks/{journey}/{classifier}
//                                                     lifts it; ?method=&lane=
//   DELETE /api/v1/subjects/{id}/ceiling              lifts what failures in a row have locked
//   GET    /api/v1/subjects/{id}/states               POST sets one, DELETE …/{state} clears it
//   GET    /api/v1/subjects/{id}/email-fraud          POST sets it
//   POST   /api/v1/subjects/{id}/journeys/{journey}/decide
//                                                     for all of a person's ids: {"also":[…]}
//   POST   /api/v1/subjects/{id}/journeys/{journey}/clear
//                                                     likewise, once all of it has succeeded
//
// A path with nothing where the id belongs is answered with 400: nobody was asked about. The id is
// that of the table: "ann", "pairwise~…", "session~…", "email~…". An address is given to identify
// alone, in a body. A refusal is an answer, not an error: 200 with its verdict. What cannot be
// decided is a problem (503, 500), whatever the store said, and has no verdict.
#pragma once

#include "apps/attempts/attempts.h"
#include "base/secret.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

struct AttemptsRoutesParts {
  attempts::Attempts* attempts = nullptr;
  const Secret* email_key = nullptr;  // May be empty: then addresses are refused.
};

// All outlive the router. Without tokens nobody is asked for one.
void AddAttemptsRoutes(http::Router* router, const AttemptsRoutesParts& parts, TokenFile* tokens);

// The path as it may be logged: behind "subjects", however that is spelt, nothing but words of the
// routes is shown. Anything else may be the id of a session, or an address by mistake.
std::string PathWithoutSubject(std::string_view path);

}  // namespace tidemark::api
