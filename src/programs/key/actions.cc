#include "programs/key/actions.h"

#include <memory>

#include <fmt/format.h>

#include "base/json.h"
#include "programs/output.h"
#include "programs/program_runtime.h"
#include "servers/dynamodb/access_keys.h"

namespace tidemark::programs {

namespace {

// A data folder that no server has open.
struct OpenedFolder {
  Settings settings;
  std::unique_ptr<embedded::EmbeddedTables> tables;
};

Result<OpenedFolder> OpenFolder(const KeyOptions& options, Use use) {
  OpenedFolder opened{.settings = TRY(LoadSettings(options.folder)),
                      .tables = TRY(OpenDataFolder(options.folder, use))};
  TRY(dynamodb::EnsureKeysTable(*opened.tables));
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
  if (entry.is_damaged) {
    writer.Key("damaged");
    writer.Bool(true);
  }
  writer.EndObject();
  return line;
}

}  // namespace

Result<ExitCode> CreateAccessKey(const KeyOptions& options) {
  const OpenedFolder folder = TRY(OpenFolder(options, Use::kCreate));
  ProgramRuntime program(LogOptionsOf(folder.settings));
  const auto keys = TRY(dynamodb::AccessKeys::Open(
      folder.tables.get(), FindSealKeyFile(folder.settings), program.runtime()));
  const dynamodb::NewAccessKey made = TRY(
      keys->Create(options.name, {.read_only = options.read_only,
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
  const OpenedFolder folder = TRY(OpenFolder(options, Use::kWrite));
  for (const dynamodb::AccessKeyEntry& entry : TRY(dynamodb::ListKeys(*folder.tables))) {
    PrintLine(ToJson(entry));
  }
  return ExitCode::kOk;
}

Result<ExitCode> RevokeAccessKey(const KeyOptions& options) {
  const OpenedFolder folder = TRY(OpenFolder(options, Use::kWrite));
  TRY(dynamodb::RevokeKey(*folder.tables, options.name));
  PrintMessage(fmt::format("The access key '{}' is revoked.", options.name));
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
