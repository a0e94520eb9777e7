#include "servers/api/dedup/routes.h"

#include <utility>

#include <fmt/format.h>

#include "apps/dedup/row.h"
#include "base/json_body.h"
#include "servers/api/page.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

// An event may be known by several names: Slack's event id, and the file that it shares. All of
// them are claimed together, so that a delivery under another name is a duplicate too.
Result<std::vector<std::string>> KeysOf(const JsonBody& body) {
  if (body.Has("key") == body.Has("keys")) {
    return Invalid("give 'key', or 'keys' when the event has several names, and not both");
  }
  if (body.Has("keys")) return body.Texts("keys");
  return std::vector<std::string>{TRY(body.Text("key"))};
}

Result<dedup::ClaimRequest> ParseClaimRequest(const std::string& text) {
  const JsonBody body = TRY(JsonBody::Parse(
      text, {"key", "keys", "metadata", "lease_seconds", "payload_hash", "repeatable", "nonce"}));
  dedup::ClaimRequest request;
  request.keys = TRY(KeysOf(body));
  request.metadata = TRY(body.TextMap("metadata"));
  // 0 means the lease of the settings. There is an upper bound because some callers give the lease
  // in milliseconds by mistake: that would hold the key for days after its owner died.
  const int64_t lease = TRY(body.IntegerOr("lease_seconds", 0));
  if (lease < 0 || lease > dedup::kMaxLease.count()) {
    return Invalid(fmt::format("the field 'lease_seconds' should be between 1 and {}, not {}",
                               dedup::kMaxLease.count(), lease));
  }
  request.lease = std::chrono::seconds(lease);
  if (body.Has("payload_hash")) request.payload_hash = TRY(body.Text("payload_hash"));
  // Work that may be done twice is taken over when its lease ends. Work that may not (a payment) is
  // reported as "outcome_unknown" instead: only a person can say whether it was done.
  const bool repeatable = TRY(body.BoolOr("repeatable", true));
  request.on_lapse = repeatable ? dedup::OnLapse::kTakeOver : dedup::OnLapse::kReport;
  request.nonce = TRY(body.TextOr("nonce", ""));
  return request;
}

void Write(const dedup::Claim& claim, JsonWriter* writer) {
  writer->BeginObject();
  writer->Key("keys");
  writer->BeginArray();
  for (const std::string& key : claim.keys) writer->String(key);
  writer->EndArray();
  writer->Key("nonce");
  writer->String(claim.nonce);
  writer->Key("generation");
  writer->Int(claim.generation);
  writer->Key("lease_until");
  writer->Int(claim.lease_until);
  writer->Key("expires");
  writer->Int(claim.expires);
  writer->Key("local");
  writer->Bool(claim.local);
  writer->EndObject();
}

// The claim as the client sends it. It is not trusted: the write has the condition that nonce and
// generation still own the key, and a renewal limits `lease_until` to the longest lease.
Result<dedup::Claim> ParseClaim(const JsonBody& body) {
  const JsonBody fields =
      TRY(body.Object("claim", {"keys", "nonce", "generation", "lease_until", "expires", "local"}));
  dedup::Claim claim;
  claim.keys = TRY(fields.Texts("keys"));
  if (claim.keys.empty()) return Invalid("the field 'claim.keys' should name at least one key");
  claim.nonce = TRY(fields.Text("nonce"));
  claim.generation = TRY(fields.Integer("generation"));
  claim.lease_until = TRY(fields.IntegerOr("lease_until", 0));
  claim.expires = TRY(fields.IntegerOr("expires", 0));
  claim.local = TRY(fields.BoolOr("local", false));
  return claim;
}

// A client may send back the whole reply to its claim, so the other fields of it are accepted.
Result<JsonBody> ParseSettling(const std::string& text) {
  return JsonBody::Parse(text, {"claim", "result", "why", "outcome", "fallback"});
}

std::string ToJson(const dedup::ClaimReply& reply) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("outcome");
  writer.String(ToString(reply.outcome));
  writer.Key("fallback");
  writer.Bool(reply.fallback);
  if (reply.claim) {
    writer.Key("claim");
    Write(*reply.claim, &writer);
  }
  if (!reply.reason.empty()) {
    writer.Key("reason");
    writer.String(reply.reason);
  }
  if (reply.lease_until) {
    writer.Key("lease_until");
    writer.Int(*reply.lease_until);
  }
  if (reply.result) {
    writer.Key("result");
    writer.String(*reply.result);
  }
  writer.EndObject();
  return text;
}

// Every outcome is 200 with its name, also a duplicate: for the client it is an ordinary answer.
// It is an error only if the store is not available and the policy forbids to decide without it.
Result<std::string> Answer(Result<dedup::ClaimReply> result) {
  const dedup::ClaimReply reply = TRY(std::move(result));
  if (reply.outcome == dedup::ClaimOutcome::kRefused) {
    return Error{ErrorCode::kUnavailable,
                 "the store of claims is not available, and the policy is to refuse; retry later"};
  }
  return ToJson(reply);
}

// A superseded claim is 409, so that a client that ignores the body still sees that its result does
// not count: somebody else may have done the work in the meantime.
Result<std::string> Answer(Result<dedup::SettleOutcome> result, const dedup::Claim& claim) {
  if (TRY(std::move(result)) == dedup::SettleOutcome::kSuperseded) {
    return Error{ErrorCode::kConflict,
                 "the claim is no longer yours: its lease ended and another took it, or it was "
                 "settled; do not report success"};
  }
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("claim");
  Write(claim, &writer);
  writer.EndObject();
  return text;
}

// Take or Mark. They are called for every event, so they keep no thread waiting for the disk.
using BeginClaim = Later<dedup::ClaimReply> (dedup::Deduplicator::*)(dedup::ClaimRequest,
                                                                     WorkerPool*);
http::RouteHandler Begin(dedup::Deduplicator* dedup, BeginClaim begin, WorkerPool* workers) {
  return [=](const http::RoutedRequest& routed) -> Later<http::Response> {
    auto request = ParseClaimRequest(routed.request.body);
    if (!request) return ToProblem(request.error());
    return (dedup->*begin)(*std::move(request), workers).Then([](Result<dedup::ClaimReply> reply) {
      return ToResponse(Answer(std::move(reply)));
    });
  };
}

// These run on a worker: they wait for the disk.
Work Renew(dedup::Deduplicator* dedup) {
  return [dedup](const http::RoutedRequest& routed) -> Result<std::string> {
    const JsonBody body = TRY(ParseSettling(routed.request.body));
    dedup::Claim claim = TRY(ParseClaim(body));
    // Into the claim, with its new end. It must run before the claim is written below.
    auto renewed = dedup->Renew(&claim);
    return Answer(std::move(renewed), claim);
  };
}

Work Complete(dedup::Deduplicator* dedup) {
  return [dedup](const http::RoutedRequest& routed) -> Result<std::string> {
    const JsonBody body = TRY(ParseSettling(routed.request.body));
    const dedup::Claim claim = TRY(ParseClaim(body));
    return Answer(dedup->Complete(claim, TRY(body.TextOr("result", ""))), claim);
  };
}

Work Release(dedup::Deduplicator* dedup) {
  return [dedup](const http::RoutedRequest& routed) -> Result<std::string> {
    const JsonBody body = TRY(ParseSettling(routed.request.body));
    const dedup::Claim claim = TRY(ParseClaim(body));
    return Answer(dedup->Release(claim), claim);
  };
}

Work Fail(dedup::Deduplicator* dedup) {
  return [dedup](const http::RoutedRequest& routed) -> Result<std::string> {
    const JsonBody body = TRY(ParseSettling(routed.request.body));
    const dedup::Claim claim = TRY(ParseClaim(body));
    return Answer(dedup->Fail(claim, TRY(body.TextOr("why", ""))), claim);
  };
}

// Rows that the seed's own code wrote lack the newer attributes. They are left out, not shown as 0.
void WriteIfKnown(std::string_view name, int64_t value, JsonWriter* writer) {
  if (value == 0) return;
  writer->Key(name);
  writer->Int(value);
}

void Write(const dedup::Row& row, JsonWriter* writer) {
  writer->BeginObject();
  writer->Key("key");
  writer->String(row.key);
  writer->Key("status");
  writer->String(dedup::ToString(row.status));
  WriteIfKnown("processed_at", row.processed_at, writer);
  WriteIfKnown("completed_at", row.completed_at, writer);
  WriteIfKnown("generation", row.generation, writer);
  WriteIfKnown("failures", row.failures, writer);
  WriteIfKnown("ttl", row.expires.value_or(0), writer);
  writer->EndObject();
}

std::string ToJson(const dedup::Claims::HistoryPage& page) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("claims");
  writer.BeginArray();
  for (const dedup::Row& row : page.rows) Write(row, &writer);
  writer.EndArray();
  if (page.last) {
    writer.Key("cursor");
    writer.String(*page.last);
  }
  writer.EndObject();
  return text;
}

// A page may have fewer rows than the limit, also none, and still a cursor: rows that have expired
// and rows about contents are left out after the page was read.
Work List(dedup::Claims* claims) {
  return [claims](const http::RoutedRequest& routed) -> Result<std::string> {
    const PageRequest page = TRY(ParsePage(routed.request.query));
    return ToJson(TRY(claims->ListHistory(page.cursor, page.limit)));
  };
}

std::string ToJson(const std::vector<dedup::PossibleDuplicate>& duplicates) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("possible_duplicates");
  writer.BeginArray();
  for (const dedup::PossibleDuplicate& duplicate : duplicates) {
    writer.BeginObject();
    writer.Key("key");
    writer.String(duplicate.key);
    writer.Key("reason");
    writer.String(duplicate.reason);
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  return text;
}

// From the memory of this process: the last thousand keys that may have been handled twice because
// the store was not available. A restart forgets them, so each is also counted and logged when it
// happens.
Work Report(const ClaimsParts& parts) {
  return [parts](const http::RoutedRequest&) -> Result<std::string> {
    std::vector<dedup::PossibleDuplicate> duplicates = parts.dedup->PossibleDuplicates();
    for (dedup::PossibleDuplicate& event : parts.events->PossibleDuplicates()) {
      duplicates.push_back(std::move(event));
    }
    return ToJson(duplicates);
  };
}

}  // namespace

void AddClaimsRoutes(http::Router* router, const ClaimsParts& parts, TokenFile* tokens) {
  dedup::Deduplicator* dedup = parts.dedup;
  const auto add = [&](http::Method method, std::string pattern, Work work) {
    router->Add({.method = method,
                 .pattern = std::move(pattern),
                 .run = http::Run::kOnWorker,
                 .handler = WithToken(tokens, AnswerJson(std::move(work)))});
  };
  const auto add_begin = [&](std::string pattern, BeginClaim begin) {
    router->Add({.method = http::Method::kPost,
                 .pattern = std::move(pattern),
                 .run = dedup->BeginsWithoutBlocking() ? http::Run::kOnLoop : http::Run::kOnWorker,
                 .handler = WithToken(tokens, Begin(dedup, begin, &router->workers()))});
  };
  add(http::Method::kGet, "/api/v1/claims", List(parts.claims));
  add(http::Method::kGet, "/api/v1/claims/possible-duplicates", Report(parts));
  add_begin("/api/v1/claims", &dedup::Deduplicator::Take);
  add_begin("/api/v1/claims/mark", &dedup::Deduplicator::Mark);
  add(http::Method::kPost, "/api/v1/claims/renew", Renew(dedup));
  add(http::Method::kPost, "/api/v1/claims/complete", Complete(dedup));
  add(http::Method::kPost, "/api/v1/claims/release", Release(dedup));
  add(http::Method::kPost, "/api/v1/claims/fail", Fail(dedup));
}

}  // namespace tidemark::api
