// Requests and replies of the routes of attempts, as JSON.
#pragma once

#include <string>
#include <vector>

#include "apps/attempts/attempts.h"
#include "base/json.h"
#include "base/result.h"
#include "http/router.h"

namespace tidemark::api {

// The "{id}" of the path. kInvalid when it is not valid; the message never contains the id, which
// may be an address that somebody put there.
Result<attempts::Subject> SubjectIn(const http::RoutedRequest& routed);

// From the body and the path. kInvalid, naming the field, when one is missing or unknown.
Result<attempts::ReserveRequest> ParseReserve(const http::RoutedRequest& routed);
Result<attempts::SettleRequest> ParseSettle(const http::RoutedRequest& routed);
Result<attempts::IncrementRequest> ParseIncrement(const http::RoutedRequest& routed);

// {"verdict":"permitted","count":1,"remaining":5}, or the reason of the refusal and its end.
std::string ToJson(const attempts::Decision& decision);
std::string ToJson(const attempts::SettleReply& reply);

// Each writes one JSON value.
void Write(const attempts::Count& count, JsonWriter* writer);
void Write(const attempts::Lock& lock, JsonWriter* writer);
void Write(attempts::AccountState state, JsonWriter* writer);

}  // namespace tidemark::api
