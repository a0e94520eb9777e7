// Requests about attempts as JSON, and what is answered to them.
#pragma once

#include <string>
#include <vector>

#include "apps/attempts/attempts.h"
#include "base/json.h"
#include "base/result.h"
#include "http/router.h"

namespace tidemark::api {

// Of the path: "{id}", as it stands in the table. kInvalid when it is none; the message never has
// the id, which may be an address by mistake.
Result<attempts::Subject> SubjectIn(const http::RoutedRequest& routed);

// Of the body and the path. kInvalid, naming the field, when something is missing or not known.
Result<attempts::ReserveRequest> ParseReserve(const http::RoutedRequest& routed);
Result<attempts::SettleRequest> ParseSettle(const http::RoutedRequest& routed);
Result<attempts::IncrementRequest> ParseIncrement(const http::RoutedRequest& routed);

// {"verdict":"permitted","count":1,"remaining":5}, or why not and until when.
std::string ToJson(const attempts::Decision& decision);
std::string ToJson(const attempts::SettleReply& reply);

// Each as one value.
void Write(const attempts::Count& count, JsonWriter* writer);
void Write(const attempts::Lock& lock, JsonWriter* writer);
void Write(attempts::AccountState state, JsonWriter* writer);

}  // namespace tidemark::api
