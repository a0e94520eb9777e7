// Documents as the API speaks of them: requests from what callers send, replies to JSON.
//
// Documents stand in replies as they are stored, byte for byte. Pure functions; may be called from
// any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/documents/documents.h"
#include "http/router.h"

namespace tidemark::api {

struct RangeRequest {
  documents::RangeQuery query;
  documents::Beyond beyond = documents::Beyond::kSearchObjects;
};

// Of ?from=&to=&type=&customer=&status=&limit=&cursor=&beyond=; without `to` until now, without
// `from` this long. kInvalid when there is another parameter, or one makes no sense.
Result<RangeRequest> ParseRange(std::string_view query, EpochSeconds now,
                                std::chrono::seconds default_length);

// The version that is to be replaced: of If-Match, If-None-Match: *, or ?expected_etag=, which is
// empty when there must be none. nullopt: whatever there is. kInvalid when there are several, or
// another parameter.
Result<std::optional<std::string>> ParseExpected(const http::Request& request);

// A run over all documents, of ?since=&until=&customer=&dry_run=&checkpoint=. kInvalid when there
// is another parameter, or one makes no sense.
Result<documents::WalkOptions> ParseWalk(std::string_view query);

std::string ToJson(const std::string& id, const documents::WriteResult& result);
std::string ToJson(const documents::ReadReply& reply);
std::string ToJson(const documents::RangeReply& reply);
std::string ToJson(const documents::EventReport& report);
// An unfinished run's `checkpoint` is that of ParseWalk.
std::string ToJson(const documents::BackfillReport& report);
std::string ToJson(const documents::FsckReport& report,
                   const std::vector<documents::FsckFinding>& findings);
std::string ToJson(const documents::CacheStats& stats);

// A problem that also says what kind of error it is and whether trying again may help.
http::Response ToProblem(const documents::CacheError& error, bool is_conditional);

}  // namespace tidemark::api
