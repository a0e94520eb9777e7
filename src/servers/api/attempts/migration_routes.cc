#include "servers/api/attempts/migration_routes.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/json_body.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

using http::RoutedRequest;
using Answer = Result<std::string>;

void WriteInt(std::string_view name, int64_t value, JsonWriter* writer) {
  writer->Key(name);
  writer->Int(value);
}

void WriteStatus(const moving::MigrationStatus& status, JsonWriter* writer) {
  writer->Key("phase");
  writer->String(ToString(status.record.phase));
  WriteInt("epoch", static_cast<int64_t>(status.record.epoch), writer);
  WriteInt("since", status.record.since, writer);
  WriteInt("drift", static_cast<int64_t>(status.drift.count), writer);
  WriteInt("last_drift_at", status.drift.last_at, writer);
  WriteInt("ready_at", status.ready_at, writer);
  WriteInt("visited", static_cast<int64_t>(status.visited), writer);
  WriteInt("visited_per_second", static_cast<int64_t>(status.per_second), writer);
}

std::string StatusJson(const moving::MigrationStatus& status) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  WriteStatus(status, &writer);
  writer.EndObject();
  return text;
}

std::string MoveJson(const moving::Move& move) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("moved");
  writer.Bool(move.held_by.empty() && !move.is_more);
  writer.Key("held_by");
  writer.String(move.held_by);
  WriteStatus(move.status, &writer);
  writer.Key("more");
  writer.Bool(move.is_more);
  writer.EndObject();
  return text;
}

std::string ComparisonJson(const moving::Comparison& comparison) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  WriteInt("subjects", static_cast<int64_t>(comparison.subjects), &writer);
  WriteInt("rows", static_cast<int64_t>(comparison.rows), &writer);
  WriteInt("permanent", static_cast<int64_t>(comparison.permanent), &writer);
  WriteInt("differing", static_cast<int64_t>(comparison.differing), &writer);
  writer.Key("example");
  writer.String(comparison.example);
  WriteInt("changing", static_cast<int64_t>(comparison.changing), &writer);
  writer.EndObject();
  return text;
}

// What a step may be told.
struct StepOptions {
  bool flag = false;
  moving::Slice slice = std::nullopt;
};

// From a body that may be missing. `flag` is the name of the boolean field; "" when there is none.
Result<StepOptions> ParseStep(const RoutedRequest& routed, std::string_view flag) {
  // Proxies give up on an answer after a minute or so.
  constexpr int64_t kMaxSeconds = 60;
  StepOptions options;
  if (routed.request.body.empty()) return options;
  const JsonBody body = TRY(JsonBody::Parse(routed.request.body, {flag, "for_seconds"}));
  options.flag = TRY(body.BoolOr(flag, false));
  if (!body.Has("for_seconds")) return options;
  const int64_t seconds = TRY(body.Integer("for_seconds"));
  if (seconds < 1 || seconds > kMaxSeconds) {
    return Invalid(fmt::format("the field 'for_seconds' should be between 1 and {}, not {}",
                               kMaxSeconds, seconds));
  }
  options.slice = std::chrono::seconds(seconds);
  return options;
}

Answer ShowStatus(moving::Migration& migration, const RoutedRequest&) {
  return StatusJson(TRY(migration.GetStatus()));
}

Answer Advance(moving::Migration& migration, const RoutedRequest& routed) {
  const StepOptions options = TRY(ParseStep(routed, ""));
  return MoveJson(TRY(migration.Advance(options.slice)));
}

Answer Back(moving::Migration& migration, const RoutedRequest& routed) {
  const StepOptions options = TRY(ParseStep(routed, "force"));
  return MoveJson(
      TRY(migration.Back(options.flag ? moving::Force::kYes : moving::Force::kNo, options.slice)));
}

Answer Verify(moving::Migration& migration, const RoutedRequest& routed) {
  const StepOptions options = TRY(ParseStep(routed, "copy"));
  const auto found = TRY(
      migration.Verify(options.flag ? moving::Copying::kYes : moving::Copying::kNo, options.slice));
  if (found) return ComparisonJson(*found);
  // The same shape as a step that is not done, so that one loop of a caller serves both.
  return MoveJson({.status = TRY(migration.GetStatus()), .is_more = true});
}

}  // namespace

void AddMigrationRoutes(http::Router* router, moving::Migration* migration, TokenFile* tokens) {
  using Step = Answer (*)(moving::Migration&, const RoutedRequest&);
  const auto add = [&](http::Method method, const char* path, Step step) {
    auto answer = AnswerJson([migration, step](const RoutedRequest& routed) -> Answer {
      if (migration != nullptr) return step(*migration, routed);
      return Invalid("attempts.old.url is not set: there is no old store to move from");
    });
    if (tokens != nullptr) answer = WithToken(tokens, std::move(answer));
    router->Add({.method = method, .pattern = path, .handler = std::move(answer)});
  };
  add(http::Method::kGet, "/api/v1/attempts/migration", &ShowStatus);
  add(http::Method::kPost, "/api/v1/attempts/migration/advance", &Advance);
  add(http::Method::kPost, "/api/v1/attempts/migration/back", &Back);
  add(http::Method::kPost, "/api/v1/attempts/migration/verify", &Verify);
}

}  // namespace tidemark::api
