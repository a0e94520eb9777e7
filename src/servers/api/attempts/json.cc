#include "servers/api/attempts/json.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace tidemark::api {

namespace {

// How many identifiers one person may have. Real people have two or three. Each is read for every
// decision, and is a condition in its transaction, which has room for a hundred actions.
constexpr size_t kMaxIdentifiers = 16;

Result<attempts::Name> NameIn(const JsonBody& body) {
  attempts::Name name;
  name.journey = TRY(body.Text("journey"));
  name.count = TRY(body.Text("count_type"));
  name.classifier = TRY(body.TextOr("classifier", attempts::kGeneral));
  name.method = TRY(body.TextOr("method", ""));
  return name;
}

void WriteText(std::string_view key, std::string_view text, JsonWriter* writer) {
  if (text.empty()) return;
  writer->Key(key);
  writer->String(text);
}

void WriteNumber(std::string_view key, uint64_t number, JsonWriter* writer) {
  writer->Key(key);
  writer->Int(static_cast<int64_t>(number));
}

void WriteFields(const attempts::Decision& decision, JsonWriter* writer) {
  using attempts::Verdict;
  // A field that means nothing for this verdict is left out: a page must not take a 0 for an
  // answer.
  writer->Key("verdict");
  writer->String(ToString(decision.verdict));
  WriteNumber("count", decision.count, writer);
  if (decision.verdict == Verdict::kPermitted) {
    WriteNumber("remaining", decision.remaining, writer);
  }
  if (decision.verdict == Verdict::kTemporarilyLocked) {
    writer->Key("remaining_seconds");
    writer->Int(decision.remaining_seconds);
  }
  if (decision.lock) {
    writer->Key("lock");
    Write(*decision.lock, writer);
  }
  if (decision.state) {
    writer->Key("state");
    Write(*decision.state, writer);
  }
  writer->Key("just_reached");
  writer->Bool(decision.just_reached);
  if (decision.blocking.empty()) return;
  writer->Key("blocking");
  writer->BeginArray();
  for (const attempts::Count& count : decision.blocking) Write(count, writer);
  writer->EndArray();
}

}  // namespace

Result<attempts::Subject> SubjectIn(const http::RoutedRequest& routed) {
  const std::string& id = routed.parameters.find("id")->second;
  if (id.find('@') != std::string::npos) {
    return Invalid(
        "the path contains an e-mail address: send it to POST /api/v1/subjects/identify and use "
        "the "
        "id from the reply");
  }
  return attempts::Subject::Parse(id);
}

attempts::Author AuthorOf(const http::RoutedRequest& routed, std::string reason) {
  // Only the commands on a data folder come without a token.
  return {.actor = routed.caller.empty() ? "command line" : routed.caller,
          .request_id = routed.request.id,
          .reason = std::move(reason)};
}

Result<attempts::Author> ParseAuthor(const http::RoutedRequest& routed) {
  if (routed.request.body.empty()) return AuthorOf(routed);
  const JsonBody body = TRY(JsonBody::Parse(routed.request.body, {"reason"}));
  return AuthorOf(routed, TRY(body.TextOr("reason", "")));
}

Result<std::vector<attempts::Subject>> ParseOtherIds(const JsonBody& body) {
  std::vector<attempts::Subject> subjects;
  if (!body.Has("also")) return subjects;
  const std::vector<std::string> ids = TRY(body.KnownTexts("also"));
  if (ids.size() > kMaxIdentifiers) {
    return Invalid(
        fmt::format("the field 'also' has {} ids: name at most {}", ids.size(), kMaxIdentifiers));
  }
  for (const std::string& id : ids) subjects.push_back(TRY(attempts::Subject::Parse(id)));
  return subjects;
}

namespace {

Result<attempts::ReserveRequest> AttemptIn(const http::RoutedRequest& routed,
                                           const JsonBody& body) {
  attempts::ReserveRequest request{.subject = TRY(SubjectIn(routed)), .name = TRY(NameIn(body))};
  request.attempt_id = TRY(body.TextOr("attempt_id", ""));
  request.device = TRY(body.TextOr("device", ""));
  request.notification_type = TRY(body.TextOr("notification_type", ""));
  request.method_type = TRY(body.TextOr("method_type", ""));
  request.by = AuthorOf(routed);
  return request;
}

}  // namespace

Result<attempts::ReserveRequest> ParseReserve(const http::RoutedRequest& routed,
                                              const Secret& key) {
  // Before the body is parsed: an address in the path is the first error to report.
  TRY(SubjectIn(routed));
  const JsonBody body = TRY(JsonBody::Parse(
      routed.request.body, {"journey", "count_type", "classifier", "method", "attempt_id", "device",
                            "notification_type", "method_type", "also", "source"}));
  attempts::ReserveRequest request = TRY(AttemptIn(routed, body));
  request.also = TRY(ParseOtherIds(body));
  if (body.Has("source")) {
    const std::string source = TRY(body.Text("source"));
    request.source = TRY(attempts::Subject::OfSource(source, key));
  }
  return request;
}

// A spend takes neither `also` nor `source`. It cannot be right or wrong, so it is not a guess: its
// limit is for one id, and it does not count for a source.
Result<attempts::ReserveRequest> ParseSpend(const http::RoutedRequest& routed) {
  TRY(SubjectIn(routed));
  const JsonBody body = TRY(JsonBody::Parse(
      routed.request.body, {"journey", "count_type", "classifier", "method", "attempt_id", "device",
                            "notification_type", "method_type"}));
  return AttemptIn(routed, body);
}

Result<attempts::SettleRequest> ParseSettle(const http::RoutedRequest& routed) {
  attempts::Subject subject = TRY(SubjectIn(routed));
  const JsonBody body = TRY(JsonBody::Parse(
      routed.request.body, {"journey", "count_type", "classifier", "method", "attempt_id", "device",
                            "method_type", "right", "lock_seconds", "also"}));
  attempts::SettleRequest request{
      .subject = std::move(subject), .name = {}, .attempt_id = {}, .right = false};
  request.name = TRY(NameIn(body));
  // Required here. In ParseReserve it is optional, because decide uses that too and takes no slot.
  request.attempt_id = TRY(body.Text("attempt_id"));
  request.device = TRY(body.TextOr("device", ""));
  request.method_type = TRY(body.TextOr("method_type", ""));
  // There is no default: a caller that forgets the field must not be taken to say right or wrong.
  if (!body.Has("right"))
    return Invalid("the field 'right' is missing: it should be true or false");
  request.right = TRY(body.BoolOr("right", false));
  if (body.Has("lock_seconds")) {
    request.lock_length = std::chrono::seconds(TRY(body.Integer("lock_seconds")));
  }
  request.also = TRY(ParseOtherIds(body));
  request.by = AuthorOf(routed);
  return request;
}

Result<attempts::IncrementRequest> ParseIncrement(const http::RoutedRequest& routed) {
  attempts::Subject subject = TRY(SubjectIn(routed));
  const JsonBody body = TRY(JsonBody::Parse(
      routed.request.body, {"journey", "count_type", "classifier", "method", "attempt_id",
                            "life_seconds", "notification_type", "method_type"}));
  attempts::IncrementRequest request{.subject = std::move(subject), .name = {}};
  request.name = TRY(NameIn(body));
  request.attempt_id = TRY(body.TextOr("attempt_id", ""));
  if (body.Has("life_seconds")) {
    request.life = std::chrono::seconds(TRY(body.Integer("life_seconds")));
  }
  request.notification_type = TRY(body.TextOr("notification_type", ""));
  request.method_type = TRY(body.TextOr("method_type", ""));
  return request;
}

std::string ToJson(const attempts::Decision& decision) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  WriteFields(decision, &writer);
  writer.EndObject();
  return text;
}

std::string ToJson(const attempts::SettleReply& reply) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("known");
  writer.Bool(reply.known);
  writer.Key("right");
  writer.Bool(reply.right);
  WriteFields(reply.decision, &writer);
  writer.EndObject();
  return text;
}

void Write(const attempts::Count& count, JsonWriter* writer) {
  writer->BeginObject();
  writer->Key("journey");
  writer->String(count.name.journey);
  writer->Key("count_type");
  writer->String(count.name.count);
  writer->Key("classifier");
  writer->String(count.name.classifier);
  WriteText("method", count.name.method, writer);
  WriteText("lane", count.name.lane, writer);
  WriteNumber("count", count.count, writer);
  WriteNumber("under_way", count.under_way, writer);
  writer->Key("until");
  writer->Int(count.until);
  writer->EndObject();
}

void Write(const attempts::Lock& lock, JsonWriter* writer) {
  writer->BeginObject();
  writer->Key("journey");
  writer->String(lock.name.journey);
  writer->Key("classifier");
  writer->String(lock.name.classifier);
  WriteText("method", lock.name.method, writer);
  WriteText("lane", lock.name.lane, writer);
  writer->Key("kind");
  writer->String(ToString(lock.kind));
  WriteText("reason", lock.reason, writer);
  if (lock.until) {
    writer->Key("until");
    writer->Int(*lock.until);
  }
  if (lock.since > 0) {
    writer->Key("since");
    writer->Int(lock.since);
  }
  writer->EndObject();
}

void Write(attempts::AccountState state, JsonWriter* writer) { writer->String(ToString(state)); }

void Write(const attempts::StandingState& state, JsonWriter* writer) {
  writer->BeginObject();
  writer->Key("state");
  Write(state.state, writer);
  WriteText("reason", state.reason, writer);
  writer->Key("since");
  writer->Int(state.since);
  writer->EndObject();
}

void Write(const attempts::StandingDevice& device, JsonWriter* writer) {
  writer->BeginObject();
  WriteText("lane", device.lane, writer);
  writer->Key("succeeded_at");
  writer->BeginArray();
  for (const std::string& classifier : device.succeeded_at) writer->String(classifier);
  writer->EndArray();
  writer->Key("until");
  writer->Int(device.until);
  writer->EndObject();
}

void Write(const attempts::StandingFailures& failures, JsonWriter* writer) {
  writer->BeginObject();
  WriteText("classifier", failures.classifier, writer);
  WriteText("lane", failures.lane, writer);
  WriteNumber("failures", failures.failures, writer);
  writer->EndObject();
}

}  // namespace tidemark::api
