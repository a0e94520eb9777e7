#include "programs/tables/verify_action.h"

#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "programs/output.h"
#include "programs/progress.h"

namespace tidemark::programs {

namespace {

Result<embedded::VerifyReport> Verify(embedded::EmbeddedTables& tables, bool shows_progress) {
  auto started = std::chrono::steady_clock::now();
  Progress progress(shows_progress, [&] {
    auto length = std::chrono::steady_clock::now() - started;
    return fmt::format("verifying for {} s",
                       std::chrono::duration_cast<std::chrono::seconds>(length).count());
  });
  return tables.Verify();
}

}  // namespace

Result<ExitCode> VerifyFolder(const VerifyOptions& options) {
  std::unique_ptr<embedded::EmbeddedTables> tables =
      TRY(OpenDataFolder(options.folder, Use::kRead));
  const embedded::VerifyReport report = TRY(Verify(*tables, options.folder.progress));
  PrintLine(ToJson(report));
  if (report.problems.empty()) return ExitCode::kOk;
  return Error{ErrorCode::kCorrupt,
               fmt::format("verification found {} problems; the first is: {}. Restore a backup",
                           report.problems.size(), report.problems.front())};
}

}  // namespace tidemark::programs
