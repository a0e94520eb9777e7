#include "programs/tables/verify_action.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "programs/interruption.h"
#include "programs/output.h"
#include "programs/progress.h"

namespace tidemark::programs {

namespace {

// A server answers when it has read every row.
constexpr std::chrono::hours kServersPatience(24);

// Calls `verify`, which takes long, and shows for how long.
template <typename Report>
Result<Report> WithProgress(bool shows_progress, const std::function<Result<Report>()>& verify) {
  const auto started = std::chrono::steady_clock::now();
  const Progress progress(shows_progress, [&] {
    const auto length = std::chrono::steady_clock::now() - started;
    return fmt::format("verifying for {} s",
                       std::chrono::duration_cast<std::chrono::seconds>(length).count());
  });
  return verify();
}

Result<ExitCode> Conclude(const std::vector<std::string>& problems) {
  if (problems.empty()) return ExitCode::kOk;
  return Error{ErrorCode::kCorrupt,
               fmt::format("verification found {} problem{}; the first is: {}. Restore a backup",
                           problems.size(), problems.size() == 1 ? "" : "s", problems.front())};
}

Result<ExitCode> VerifyFolder(const FolderOptions& options) {
  auto tables = OpenDataFolder(options, Use::kRead);
  if (!tables) return WithServerHint(std::move(tables).error());
  const Interruption interruption;
  const auto report = TRY(WithProgress<embedded::VerifyReport>(
      options.progress, [&] { return (*tables)->Verify(interruption.flag()); }));
  PrintLine(ToJson(report));
  return Conclude(report.problems);
}

Result<ExitCode> VerifyServer(const SourceOptions& options) {
  const auto source = TRY(OpenServerSource(options));
  const JsonDocument report = TRY(WithProgress<JsonDocument>(options.folder.progress, [&] {
    return source->Send({.method = http::Method::kPost,
                         .path = "/api/v1/verification",
                         .patience = kServersPatience});
  }));
  PrintLine(ToText(report.root()));
  std::vector<std::string> problems;
  if (const auto found = report.root().Find("problems")) {
    for (const Json problem : found->Elements()) {
      problems.emplace_back(problem.AsString().value_or(""));
    }
  }
  return Conclude(problems);
}

}  // namespace

Result<ExitCode> VerifyTables(const VerifyOptions& options) {
  return options.source.server ? VerifyServer(options.source) : VerifyFolder(options.source.folder);
}

}  // namespace tidemark::programs
