#include "programs/serve/dynamodb_port.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/replace_file.h"
#include "http/listener.h"
#include "programs/data_folder.h"
#include "programs/output.h"

namespace tidemark::programs {

namespace {

constexpr char kFirstKeyName[] = "first";

// Splits "a, B" into its words, in lower case.
std::vector<std::string> Words(const std::string& list) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : list + ",") {
    if (c != ',' && c != ' ') {
      word += Lower(c);
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

Result<dynamodb::ServiceOptions> ReadPortOptions(const Settings& settings,
                                                 const http::ServerOptions& server,
                                                 dynamodb::OwnTables own_tables) {
  dynamodb::ServiceOptions options{
      .server = server,
      .door = {.region = settings.Text("aws.region"),
               .open = settings.Bool("dynamodb.open"),
               .hosts = Words(settings.Text("dynamodb.hosts")),
               .cors = Words(settings.Text("dynamodb.cors")),
               .older_wording = settings.Bool("dynamodb.older-wording"),
               .own_tables = std::move(own_tables)},
      .workers = static_cast<size_t>(settings.Integer("server.workers"))};
  options.server.listen = settings.Text("dynamodb.listen");
  const auto address =
      TRY(http::ListenAddress::Parse(options.server.listen).WithContext("dynamodb.listen"));
  if (!options.server.tls && !address.IsLoopback() && !settings.Bool("listen-plainly")) {
    return Invalid(fmt::format(
        "dynamodb.listen is {}, which other machines can reach, and TLS is not configured: set "
        "tls.certificate and tls.key, or listen-plainly = true behind a proxy that ends TLS",
        options.server.listen));
  }
  return options;
}

// Whether the file is missing, or has nothing but a key that was written by WriteFirstKey. Another
// file may have the credentials of other services.
bool MayReplace(const std::string& path) {
  std::ifstream file(path);
  if (!file) return !std::filesystem::exists(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  return text.starts_with("[default]\naws_access_key_id = TM") &&
         std::ranges::count(text, '\n') == 3;
}

// Makes a key and writes it into a file, which AWS's programs read with
// AWS_SHARED_CREDENTIALS_FILE. The key is stored after the file: a key whose secret nobody has
// would look as if there had been a first start.
Status WriteFirstKey(dynamodb::AccessKeys& keys, const std::string& path) {
  if (!MayReplace(path)) {
    return Error{ErrorCode::kInUse,
                 fmt::format("there is no access key yet, and the first one would be written to "
                             "{}, which exists: move that file, name another in "
                             "dynamodb.first-key, or make a key with 'tidemark key create NAME'",
                             path)};
  }
  const auto write = [&](const dynamodb::NewAccessKey& made) -> Status {
    const Secret text(fmt::format("[default]\naws_access_key_id = {}\naws_secret_access_key = {}\n",
                                  made.id, made.secret.Reveal()));
    return ReplaceFile(path, text.Reveal()).WithContext("dynamodb.first-key");
  };
  TRY(keys.Create(kFirstKeyName, {}, write));
  PrintMessage(fmt::format(
      "Made the access key '{}' for the DynamoDB port and wrote it to {}, which only you can read. "
      "Use it with: export AWS_SHARED_CREDENTIALS_FILE={}",
      kFirstKeyName, path, path));
  return Done{};
}

Result<dynamodb::AccessKeys*> OpenAccessKeys(const Settings& settings, tables::Tables* tables,
                                             ServedKeys* served) {
  dynamodb::AccessKeys* const keys = TRY(served->Open());
  const bool is_first_start = TRY(dynamodb::ListKeys(*tables)).empty();
  if (is_first_start) TRY(WriteFirstKey(*keys, settings.Text("dynamodb.first-key")));
  return keys;
}

}  // namespace

Result<std::unique_ptr<DynamoDbPort>> DynamoDbPort::Open(
    const Settings& settings, const http::ServerOptions& server, dynamodb::OwnTables own_tables,
    tables::Tables* tables, ServedKeys* served_keys, const Runtime& runtime) {
  if (settings.Text("dynamodb.listen").empty()) return std::unique_ptr<DynamoDbPort>();
  auto options = TRY(ReadPortOptions(settings, server, std::move(own_tables)));
  const bool is_open = options.door.open;
  dynamodb::AccessKeys* keys = nullptr;
  if (!is_open) keys = TRY(OpenAccessKeys(settings, tables, served_keys));
  auto service = TRY(dynamodb::Service::Start(std::move(options), tables, keys, runtime));
  runtime.logger.Log(LogLevel::kInfo, "serving DynamoDB's protocol",
                     {{"dynamodb", service->address()}, {"open", is_open}});
  if (is_open) {
    runtime.logger.Log(LogLevel::kWarning,
                       "dynamodb.open is true: every program on this machine can read and change "
                       "the tables");
  }
  return std::unique_ptr<DynamoDbPort>(new DynamoDbPort(std::move(service)));
}

}  // namespace tidemark::programs
