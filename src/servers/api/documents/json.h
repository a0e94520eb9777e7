// The JSON and the parameters of the routes of documents: requests are parsed, replies and errors
// are written.
//
// A reply has each document as it is stored, byte for byte. Pure functions; may be called from any
// thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/documents/documents.h"
#include "base/shared_text.h"
#include "http/router.h"

namespace tidemark::api {

struct RangeRequest {
  documents::RangeQuery query;
  documents::Beyond beyond = documents::Beyond::kSearchObjects;
};

// Parses ?from=&to=&type=&customer=&status=&limit=&cursor=&beyond=. Without `to` the range ends
// now; without `from` it has the default length. kInvalid when a parameter is unknown or wrong.
Result<RangeRequest> ParseRange(std::string_view query, EpochSeconds now,
                                std::chrono::seconds default_length);

// The ETag of the version to be replaced, from If-Match or ?expected_etag=; empty, also from
// If-None-Match: *, when there must be no document. nullopt: any version. kInvalid when there are
// several, or another parameter.
Result<std::optional<std::string>> ParseExpected(const http::Request& request);

// Parses ?since=&until=&customer=&dry_run=&checkpoint= of a run over all documents. kInvalid when a
// parameter is unknown or wrong.
Result<documents::WalkOptions> ParseWalk(std::string_view query);

std::string ToJson(const std::string& id, const documents::WriteResult& result);
// Without a copy of the documents.
std::vector<SharedText> ToJson(const documents::ReadReply& reply);
std::vector<SharedText> ToJson(const documents::RangeReply& reply);
std::string ToJson(const documents::EventReport& report);
// A run that is not finished has a `checkpoint` for the next request.
std::string ToJson(const documents::BackfillReport& report);
std::string ToJson(const documents::FsckReport& report,
                   const std::vector<documents::FsckFinding>& findings);
std::string ToJson(const documents::CacheStats& stats);

// A problem with two more members: `error`, one of the seed's error types, and `retryable`. A
// conflict has status 409, or another one where HTTP knows a better.
http::Response ToDocumentProblem(const Error& error, int conflict_status = 409);

}  // namespace tidemark::api
