#include "servers/api/attempts/migration_routes.h"

#include <utility>

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
  writer.Bool(move.held_by.empty());
  writer.Key("held_by");
  writer.String(move.held_by);
  WriteStatus(move.status, &writer);
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

// A boolean field of the body. Field and body may be missing; the default is false.
Result<bool> FlagIn(const RoutedRequest& routed, std::string_view field) {
  if (routed.request.body.empty()) return false;
  const JsonBody body = TRY(JsonBody::Parse(routed.request.body, {field}));
  return body.BoolOr(field, false);
}

Answer ShowStatus(moving::Migration& migration, const RoutedRequest&) {
  return StatusJson(TRY(migration.GetStatus()));
}

Answer Advance(moving::Migration& migration, const RoutedRequest&) {
  return MoveJson(TRY(migration.Advance()));
}

Answer Back(moving::Migration& migration, const RoutedRequest& routed) {
  const bool by_force = TRY(FlagIn(routed, "force"));
  return MoveJson(TRY(migration.Back(by_force ? moving::Force::kYes : moving::Force::kNo)));
}

Answer Verify(moving::Migration& migration, const RoutedRequest& routed) {
  const bool copies = TRY(FlagIn(routed, "copy"));
  return ComparisonJson(
      TRY(migration.Verify(copies ? moving::Copying::kYes : moving::Copying::kNo)));
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
