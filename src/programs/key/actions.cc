#include "programs/key/actions.h"

#include <memory>

#include <fmt/format.h>

#include "base/json.h"
#include "programs/output.h"
#include "programs/program_runtime.h"
#include "servers/dynamodb/access_keys.h"

namespace tidemark::programs {

namespace {

// The keys of a data folder that no server has open.
struct OpenedKeys {
  std::unique_ptr<ProgramRuntime> program;
  std::unique_ptr<embedded::EmbeddedTables> tables;
  std::unique_ptr<dynamodb::AccessKeys> keys;
};

Result<OpenedKeys> OpenKeys(const KeyOptions& options, Use use) {
  const Settings settings = TRY(LoadSettings(options.folder));
  OpenedKeys opened;
  opened.program = std::make_unique<ProgramRuntime>(LogOptionsOf(settings));
  const Runtime runtime = opened.program->runtime();
  Secret seal_key = TRY(dynamodb::ReadSealKey(settings.Text("dynamodb.key-file"), runtime.random));
  opened.tables = TRY(OpenDataFolder(options.folder, use));
  opened.keys =
      std::make_unique<dynamodb::AccessKeys>(opened.tables.get(), std::move(seal_key), runtime);
  TRY(opened.keys->CreateTable());
  return opened;
}

void WriteNames(std::string_view member, const std::set<std::string>& names, JsonWriter* writer) {
  writer->Key(member);
  writer->BeginArray();
  for (const std::string& name : names) writer->String(name);
  writer->EndArray();
}

std::string ToJson(const dynamodb::AccessKeyEntry& entry) {
  std::string line;
  JsonWriter writer(&line);
  writer.BeginObject();
  writer.Key("name");
  writer.String(entry.name);
  writer.Key("id");
  writer.String(entry.id);
  writer.Key("created_at");
  writer.Int(entry.created_at);
  writer.Key("read_only");
  writer.Bool(entry.rights.read_only);
  WriteNames("tables", entry.rights.tables, &writer);
  WriteNames("writes", entry.rights.own_writes, &writer);
  writer.EndObject();
  return line;
}

}  // namespace

Result<ExitCode> CreateAccessKey(const KeyOptions& options) {
  const OpenedKeys opened = TRY(OpenKeys(options, Use::kCreate));
  const dynamodb::NewAccessKey made = TRY(opened.keys->Create(
      options.name, {.read_only = options.read_only,
                     .tables = {options.tables.begin(), options.tables.end()},
                     .own_writes = {options.writes.begin(), options.writes.end()}}));
  PrintText(fmt::format("AWS_ACCESS_KEY_ID={}\nAWS_SECRET_ACCESS_KEY={}\n", made.id,
                        made.secret.Reveal()));
  PrintMessage(
      "The secret is shown only once. AWS's programs and SDKs read these two variables from the "
      "environment.");
  return ExitCode::kOk;
}

Result<ExitCode> ListAccessKeys(const KeyOptions& options) {
  const OpenedKeys opened = TRY(OpenKeys(options, Use::kWrite));
  for (const dynamodb::AccessKeyEntry& entry : TRY(opened.keys->List())) {
    PrintLine(ToJson(entry));
  }
  return ExitCode::kOk;
}

Result<ExitCode> RevokeAccessKey(const KeyOptions& options) {
  const OpenedKeys opened = TRY(OpenKeys(options, Use::kWrite));
  TRY(opened.keys->Revoke(options.name));
  PrintMessage(fmt::format("The access key '{}' is revoked.", options.name));
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
