#include "programs/serve/token_actions.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "programs/output.h"
#include "programs/settings_file.h"
#include "servers/api/api_tokens.h"

namespace tidemark::programs {

namespace {

// The same setting as the server's, so that a token is created where the server looks for it.
Result<std::string> FindTokensFile(const TokenOptions& options) {
  SettingsOptions sources{.file = options.settings};
  if (options.file) sources.flags["api.tokens"] = *options.file;
  return TRY(LoadSettings(sources)).Text("api.tokens");
}

}  // namespace

Result<ExitCode> CreateApiToken(const TokenOptions& options) {
  const std::string file = TRY(FindTokensFile(options));
  const SystemClock clock;
  SystemRandom random;
  const auto scope =
      options.metrics_only ? api::TokenScope::kMetrics : api::TokenScope::kEverything;
  // The token alone goes to standard output, so that TOKEN=$(tidemark token create x) works. The
  // explanation goes to standard error.
  PrintLine(TRY(api::CreateToken(file, options.name, clock, random, scope)));
  PrintMessage(fmt::format(
      "This token is shown only once; {} stores its hash. Use it as: Authorization: Bearer TOKEN",
      file));
  return ExitCode::kOk;
}

Result<ExitCode> ListApiTokens(const TokenOptions& options) {
  const std::string file = TRY(FindTokensFile(options));
  for (const api::TokenEntry& entry : TRY(api::ListTokens(file))) {
    std::string line;
    JsonWriter writer(&line);
    writer.BeginObject();
    writer.Key("name");
    writer.String(entry.name);
    writer.Key("id");
    writer.String(entry.id);
    writer.Key("created_at");
    writer.Int(entry.created_at);
    writer.Key("metrics_only");
    writer.Bool(entry.scope == api::TokenScope::kMetrics);
    writer.EndObject();
    PrintLine(line);
  }
  return ExitCode::kOk;
}

Result<ExitCode> RevokeApiToken(const TokenOptions& options) {
  const std::string file = TRY(FindTokensFile(options));
  // The server sees the change of the file by itself: no signal and no restart.
  TRY(api::RevokeToken(file, options.name));
  PrintMessage(fmt::format(
      "The token '{}' is revoked. A running server refuses it within a second.", options.name));
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
