#include "servers/api/documents/json.h"

#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "http/url.h"
#include "servers/api/json_object.h"
#include "servers/api/moment.h"
#include "servers/api/page.h"

namespace tidemark::api {

namespace {

using documents::Beyond;
using documents::RowPosition;

void WriteText(std::string_view name, std::string_view text, JsonWriter* writer) {
  writer->Key(name);
  writer->String(text);
}

void WriteNumber(std::string_view name, int64_t number, JsonWriter* writer) {
  writer->Key(name);
  writer->Int(number);
}

void WriteBool(std::string_view name, bool value, JsonWriter* writer) {
  writer->Key(name);
  writer->Bool(value);
}

// ---- Requests ----

// "1714557600.CHG-1": the time of creation, and the key in the index.
std::string CursorOf(const RowPosition& position) {
  return fmt::format("{}.{}", position.created_at, position.key);
}

Result<RowPosition> ParseCursor(std::string_view text) {
  RowPosition position;
  const size_t point = text.find('.');
  const std::string_view second = text.substr(0, point);
  const char* const end = second.data() + second.size();
  const auto parsed = std::from_chars(second.data(), end, position.created_at);
  if (point == std::string_view::npos || parsed.ec != std::errc() || parsed.ptr != end) {
    return Invalid(fmt::format(
        "the parameter 'cursor' must be the 'cursor' of the page before, not '{}'", text));
  }
  position.key = text.substr(point + 1);
  return position;
}

Result<Beyond> ParseBeyond(std::string_view text) {
  if (text == "search") return Beyond::kSearchObjects;
  if (text == "flag") return Beyond::kFlag;
  return Invalid(fmt::format("the parameter 'beyond' must be search or flag, not '{}'", text));
}

Result<EpochSeconds> ParseSecond(std::string_view name, std::string_view text, Bound bound) {
  return TRY(ParseMoment(name, text, bound)).seconds();
}

Status Take(const std::string& name, const std::string& value, RangeRequest* request) {
  documents::RangeQuery& query = request->query;
  if (name == "from") {
    query.from = TRY(ParseSecond(name, value, Bound::kStart));
  } else if (name == "to") {
    query.to = TRY(ParseSecond(name, value, Bound::kEnd));
  } else if (name == "type") {
    query.type = value;
  } else if (name == "customer") {
    query.customer = value;
  } else if (name == "status") {
    query.status = value;
  } else if (name == "limit") {
    query.limit = TRY(ParseLimit(value));
  } else if (name == "cursor") {
    query.after = TRY(ParseCursor(value));
  } else if (name == "beyond") {
    request->beyond = TRY(ParseBeyond(value));
  } else {
    return Invalid(fmt::format(
        "there is no parameter '{}'; there are: from, to, type, customer, status, limit, cursor, "
        "beyond",
        name));
  }
  return Done{};
}

Result<bool> ParseFlag(std::string_view name, std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return Invalid(fmt::format("the parameter '{}' must be true or false, not '{}'", name, text));
}

Status Take(const std::string& name, const std::string& value, documents::WalkOptions* walk) {
  if (name == "since") {
    walk->from = TRY(ParseSecond(name, value, Bound::kStart));
  } else if (name == "until") {
    walk->to = TRY(ParseSecond(name, value, Bound::kEnd));
  } else if (name == "customer") {
    walk->customer = value;
  } else if (name == "dry_run") {
    walk->dry_run = TRY(ParseFlag(name, value));
  } else if (name == "checkpoint") {
    walk->checkpoint = value;
  } else {
    return Invalid(
        fmt::format("there is no parameter '{}'; there are: since, until, customer, dry_run, "
                    "checkpoint",
                    name));
  }
  return Done{};
}

// One strong ETag in quotes. "*" and lists are refused: a writer must name the version it has read.
Result<std::string> ParseTag(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  const std::string_view tag = is_quoted ? text.substr(1, text.size() - 2) : "";
  if (!tag.empty() && tag.find('"') == std::string_view::npos) return std::string(tag);
  return Invalid("If-Match must be one ETag in quotes, as the reply to a GET has it");
}

// ---- Replies ----

void WriteCoverage(const documents::Coverage& coverage, JsonWriter* writer) {
  writer->Key("coverage");
  writer->BeginObject();
  WriteBool("complete", coverage.complete, writer);
  WriteNumber("complete_from", coverage.complete_from, writer);
  WriteNumber("complete_to", coverage.complete_to, writer);
  WriteNumber("as_of_ms", coverage.as_of.count(), writer);
  WriteBool("searched_objects", coverage.searched_objects, writer);
  WriteBool("cache_was_away", coverage.cache_was_away, writer);
  WriteNumber("in_flight", static_cast<int64_t>(coverage.in_flight), writer);
  WriteNumber("unreadable", static_cast<int64_t>(coverage.unreadable), writer);
  writer->EndObject();
}

// The members that end the report of a run.
template <typename Report>
void WriteEnd(const Report& report, JsonWriter* writer) {
  WriteBool("finished", report.finished, writer);
  WriteBool("marked", report.marked, writer);
  if (report.finished) return;
  WriteText("checkpoint", report.checkpoint, writer);
}

void WriteCounts(const documents::OperationCounts& counts, JsonWriter* writer) {
  writer->Key("since_start");
  writer->BeginObject();
  WriteNumber("operations", static_cast<int64_t>(counts.operations), writer);
  WriteNumber("hits", static_cast<int64_t>(counts.hits), writer);
  WriteNumber("misses", static_cast<int64_t>(counts.misses), writer);
  WriteNumber("errors", static_cast<int64_t>(counts.errors), writer);
  WriteNumber("throttled", static_cast<int64_t>(counts.throttled), writer);
  writer->EndObject();
}

// The error types that callers know from the seed, and two of ours: conflict and cancelled.
struct ErrorType {
  std::string_view name;
  int status = 503;
};

ErrorType TypeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return {"not_found", 404};
    case ErrorCode::kInvalid:
      return {"validation", 400};
    case ErrorCode::kConflict:
    case ErrorCode::kInUse:
      return {"conflict", 409};
    case ErrorCode::kThrottled:
      return {"throttling"};
    case ErrorCode::kUnreachable:
    case ErrorCode::kUnknown:
      return {"network"};
    case ErrorCode::kCancelled:
      return {"cancelled"};
    case ErrorCode::kUnavailable:
    case ErrorCode::kDenied:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      break;
  }
  return {"unavailable"};
}

}  // namespace

Result<RangeRequest> ParseRange(std::string_view query, EpochSeconds now,
                                std::chrono::seconds default_length) {
  RangeRequest request{.query = {.to = now}};
  bool has_start = false;
  for (const auto& [name, value] : TRY(http::ParseQuery(query))) {
    TRY(Take(name, value, &request));
    has_start = has_start || name == "from";
  }
  if (!has_start) request.query.from = request.query.to - default_length.count();
  return request;
}

Result<documents::WalkOptions> ParseWalk(std::string_view query) {
  documents::WalkOptions walk;
  for (const auto& [name, value] : TRY(http::ParseQuery(query))) TRY(Take(name, value, &walk));
  return walk;
}

Result<std::optional<std::string>> ParseExpected(const http::Request& request) {
  std::vector<std::string> expected;
  for (const std::string_view value : request.headers.FindAll("If-Match")) {
    expected.push_back(TRY(ParseTag(value)));
  }
  for (const std::string_view value : request.headers.FindAll("If-None-Match")) {
    if (value != "*")
      return Invalid("If-None-Match must be *, which means: only when there is no document");
    expected.emplace_back();
  }
  for (const auto& [name, value] : TRY(http::ParseQuery(request.query))) {
    if (name != "expected_etag") {
      return Invalid(
          fmt::format("there is no parameter '{}'; the only one is expected_etag", name));
    }
    expected.push_back(value);
  }
  if (expected.size() > 1)
    return Invalid(
        "the version to be replaced is given twice: use If-Match, If-None-Match or expected_etag");
  if (expected.empty()) return std::optional<std::string>();
  return std::optional<std::string>(std::move(expected.front()));
}

std::string ToJson(const std::string& id, const documents::WriteResult& result) {
  return ObjectOf([&](JsonWriter* writer) {
    WriteText("id", id, writer);
    WriteText("etag", result.etag, writer);
    WriteBool("changed", result.changed, writer);
    WriteBool("cached", result.cached, writer);
    WriteBool("dry_run", result.dry_run, writer);
  });
}

std::vector<SharedText> ToJson(const documents::ReadReply& reply) {
  const bool is_cached = reply.source == documents::ReadSource::kCache;
  std::string start = ObjectOf([&](JsonWriter* writer) {
    WriteText("id", reply.document.id(), writer);
    WriteText("etag", reply.etag, writer);
    WriteText("source", is_cached ? "cache" : "object", writer);
    WriteNumber("age_ms", reply.age.count(), writer);
  });
  start.back() = ',';  // The document follows as one more member.
  return {ShareText(start + R"("document":)"), reply.document.shared_json(), ShareText("}")};
}

std::vector<SharedText> ToJson(const documents::RangeReply& reply) {
  std::string end = ObjectOf([&](JsonWriter* writer) {
    WriteCoverage(reply.coverage, writer);
    if (reply.last) WriteText("cursor", CursorOf(*reply.last), writer);
  });
  end.front() = ',';  // These members follow after the documents.
  const SharedText comma = ShareText(",");
  std::vector<SharedText> parts{ShareText(R"({"documents":[)")};
  parts.reserve(2 * reply.documents.size() + 2);
  for (const auto& document : reply.documents) {
    if (parts.size() > 1) parts.push_back(comma);
    parts.push_back(document.shared_json());
  }
  parts.push_back(ShareText("]" + end));
  return parts;
}

std::string ToJson(const documents::EventReport& report) {
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("records");
    writer->BeginArray();
    for (const documents::RecordReport& record : report.records) {
      writer->BeginObject();
      WriteText("key", record.key, writer);
      WriteText("fate", ToString(record.fate), writer);
      if (!record.why.empty()) WriteText("why", record.why, writer);
      writer->EndObject();
    }
    writer->EndArray();
    WriteBool("retry", report.retry, writer);
  });
}

std::string ToJson(const documents::BackfillReport& report) {
  return ObjectOf([&](JsonWriter* writer) {
    WriteNumber("checked", static_cast<int64_t>(report.checked), writer);
    WriteNumber("cached", static_cast<int64_t>(report.cached), writer);
    WriteNumber("unchanged", static_cast<int64_t>(report.unchanged), writer);
    WriteNumber("skipped", static_cast<int64_t>(report.skipped), writer);
    WriteNumber("invalid", static_cast<int64_t>(report.invalid), writer);
    WriteNumber("failed", static_cast<int64_t>(report.failed), writer);
    WriteEnd(report, writer);
  });
}

std::string ToJson(const documents::FsckReport& report,
                   const std::vector<documents::FsckFinding>& findings) {
  return ObjectOf([&](JsonWriter* writer) {
    WriteNumber("checked", static_cast<int64_t>(report.checked), writer);
    WriteNumber("equal", static_cast<int64_t>(report.equal), writer);
    WriteNumber("repaired", static_cast<int64_t>(report.repaired), writer);
    WriteNumber("in_flight", static_cast<int64_t>(report.in_flight), writer);
    WriteNumber("differing", static_cast<int64_t>(report.differing), writer);
    writer->Key("findings");
    writer->BeginArray();
    for (const documents::FsckFinding& finding : findings) {
      writer->BeginObject();
      WriteText("id", finding.id, writer);
      WriteText("what", finding.what, writer);
      WriteBool("repaired", finding.repaired, writer);
      writer->EndObject();
    }
    writer->EndArray();
    WriteEnd(report, writer);
  });
}

std::string ToJson(const documents::CacheStats& stats) {
  return ObjectOf([&](JsonWriter* writer) {
    WriteNumber("items", static_cast<int64_t>(stats.table.items), writer);
    WriteNumber("size_bytes", static_cast<int64_t>(stats.table.size_bytes), writer);
    WriteNumber("first_writes", static_cast<int64_t>(stats.first_writes), writer);
    WriteNumber("repairs", static_cast<int64_t>(stats.repairs), writer);
    WriteBool("compared", stats.compared, writer);
    if (stats.coverage) {
      WriteNumber("complete_from", stats.coverage->complete_from, writer);
      WriteNumber("as_of_ms", stats.coverage->as_of.count(), writer);
    }
    WriteCounts(stats.counts, writer);
  });
}

http::Response ToDocumentProblem(const Error& error, int conflict_status) {
  const ErrorType type = TypeOf(error.code);
  const int status = type.status == 409 ? conflict_status : type.status;
  http::Response response = http::Problem(status, error.message);
  response.body.pop_back();
  // The same request is refused again: its caller must read the version that is there first.
  const bool may_succeed_later = status != 412 && documents::IsRetryable(error.code);
  response.body += fmt::format(R"(,"error":"{}","retryable":{}}})", type.name, may_succeed_later);
  if (response.status == 503) response.headers.Set("Retry-After", "1");
  return response;
}

}  // namespace tidemark::api
