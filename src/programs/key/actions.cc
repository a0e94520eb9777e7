#include "programs/key/actions.h"

#include <memory>

#include <fmt/format.h>

#include "base/json.h"
#include "http/url.h"
#include "programs/key/served_keys.h"
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
  const FolderOptions& folder = options.source.folder;
  Settings settings = TRY(LoadSettings(folder));
  auto tables = OpenDataFolder(folder, use);
  if (!tables) return WithServerHint(std::move(tables).error());
  TRY(dynamodb::EnsureKeysTable(**tables));
  return OpenedFolder{.settings = std::move(settings), .tables = *std::move(tables)};
}

constexpr char kKeysPath[] = "/api/v1/keys";

void PrintNewKey(std::string_view id, std::string_view secret) {
  PrintText(fmt::format("AWS_ACCESS_KEY_ID={}\nAWS_SECRET_ACCESS_KEY={}\n", id, secret));
  PrintMessage(
      "The secret is shown only once. AWS's programs and SDKs read these two variables from the "
      "environment.");
}

std::string RequestFor(const KeyOptions& options) {
  std::string body;
  JsonWriter writer(&body);
  const auto write_names = [&](std::string_view member, const std::vector<std::string>& names) {
    if (names.empty()) return;
    writer.Key(member);
    writer.BeginArray();
    for (const std::string& name : names) writer.String(name);
    writer.EndArray();
  };
  writer.BeginObject();
  writer.Key("name");
  writer.String(options.name);
  writer.Key("read_only");
  writer.Bool(options.read_only);
  write_names("tables", options.tables);
  write_names("writes", options.writes);
  writer.EndObject();
  return body;
}

Result<ExitCode> CreateAtServer(const KeyOptions& options) {
  const auto source = TRY(OpenServerSource(options.source));
  const JsonDocument made = TRY(source->Send(
      {.method = http::Method::kPost, .path = kKeysPath, .body = RequestFor(options)}));
  PrintNewKey(TextIn(made.root(), "id"), TextIn(made.root(), "secret"));
  return ExitCode::kOk;
}

Result<ExitCode> ListAtServer(const KeyOptions& options) {
  const auto source = TRY(OpenServerSource(options.source));
  const JsonDocument listed = TRY(source->Need(kKeysPath));
  const auto keys = listed.root().Find("keys");
  if (!keys) return Error{ErrorCode::kUnknown, "the answer of the server has no keys"};
  for (const Json key : keys->Elements()) PrintLine(ToText(key));
  return ExitCode::kOk;
}

Status RevokeAtServer(const KeyOptions& options) {
  const auto source = TRY(OpenServerSource(options.source));
  TRY(source->Send({.method = http::Method::kDelete,
                    .path = fmt::format("{}/{}", kKeysPath, http::PercentEncode(options.name))}));
  return Done{};
}

Status RevokeInFolder(const KeyOptions& options) {
  const OpenedFolder folder = TRY(OpenFolder(options, Use::kWrite));
  TRY(dynamodb::RevokeKey(*folder.tables, options.name));
  return Done{};
}

}  // namespace

Result<ExitCode> CreateAccessKey(const KeyOptions& options) {
  if (options.source.server) return CreateAtServer(options);
  const OpenedFolder folder = TRY(OpenFolder(options, Use::kCreate));
  ProgramRuntime program(LogOptionsOf(folder.settings));
  const auto keys = TRY(dynamodb::AccessKeys::Open(
      folder.tables.get(), FindSealKeyFile(folder.settings), program.runtime()));
  const dynamodb::NewAccessKey made = TRY(
      keys->Create(options.name, {.read_only = options.read_only,
                                  .tables = {options.tables.begin(), options.tables.end()},
                                  .own_writes = {options.writes.begin(), options.writes.end()}}));
  PrintNewKey(made.id, made.secret.Reveal());
  return ExitCode::kOk;
}

Result<ExitCode> ListAccessKeys(const KeyOptions& options) {
  if (options.source.server) return ListAtServer(options);
  const OpenedFolder folder = TRY(OpenFolder(options, Use::kWrite));
  for (const dynamodb::AccessKeyEntry& entry : TRY(dynamodb::ListKeys(*folder.tables))) {
    PrintLine(ToJson(entry));
  }
  return ExitCode::kOk;
}

Result<ExitCode> RevokeAccessKey(const KeyOptions& options) {
  TRY(options.source.server ? RevokeAtServer(options) : RevokeInFolder(options));
  PrintMessage(fmt::format("The access key '{}' is revoked.", options.name));
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
