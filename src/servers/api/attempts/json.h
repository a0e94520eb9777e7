// Requests and replies of the routes of attempts, as JSON.
#pragma once

#include <string>
#include <vector>

#include "apps/attempts/attempts.h"
#include "base/json.h"
#include "base/json_body.h"
#include "base/result.h"
#include "base/secret.h"
#include "http/router.h"

namespace tidemark::api {

// The "{id}" of the path. kInvalid when it is not valid; the message never contains the id, which
// may be an address that somebody put there.
Result<attempts::Subject> SubjectIn(const http::RoutedRequest& routed);

// The caller's token, the id of the request and, when the body has it, the reason: for the audit
// log.
attempts::Author AuthorOf(const http::RoutedRequest& routed, std::string reason = "");
// From a body that may be empty or have a reason and nothing else.
Result<attempts::Author> ParseAuthor(const http::RoutedRequest& routed);
// The ids in the field "also", which may be missing: other ids of the same person.
Result<std::vector<attempts::Subject>> ParseOtherIds(const JsonBody& body);

// From the body and the path. kInvalid, naming the field, when one is missing or unknown. The key
// is for the hash of the source.
Result<attempts::ReserveRequest> ParseReserve(const http::RoutedRequest& routed, const Secret& key);
Result<attempts::ReserveRequest> ParseSpend(const http::RoutedRequest& routed);
Result<attempts::SettleRequest> ParseSettle(const http::RoutedRequest& routed);
Result<attempts::IncrementRequest> ParseIncrement(const http::RoutedRequest& routed);

// {"verdict":"permitted","count":1,"remaining":5}, or the reason of the refusal and its end.
std::string ToJson(const attempts::Decision& decision);
std::string ToJson(const attempts::SettleReply& reply);

// Each writes one JSON value.
void Write(const attempts::Count& count, JsonWriter* writer);
void Write(const attempts::Lock& lock, JsonWriter* writer);
void Write(attempts::AccountState state, JsonWriter* writer);
void Write(const attempts::StandingState& state, JsonWriter* writer);
void Write(const attempts::StandingDevice& device, JsonWriter* writer);
void Write(const attempts::StandingFailures& failures, JsonWriter* writer);

}  // namespace tidemark::api
