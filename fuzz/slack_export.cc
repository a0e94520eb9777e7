// Exports: an export with any files is read completely or reported as faulty. Every row is news,
// left out or bad, and no token of a link stays in the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "apps/archive/export_reader.h"
#include "apps/archive/import.h"
#include "apps/archive/import_row.h"
#include "base/check.h"
#include "slack/event.h"

namespace tidemark::archive {
namespace {

// The input is split at zero bytes. The parts are the files of an export.
class FuzzedFiles final : public ExportFiles {
 public:
  static std::unique_ptr<FuzzedFiles> From(std::string_view input) {
    const std::vector<std::string> names = {"channels.json",           "dms.json",
                                            "general/2021-05-03.json", "groups.json",
                                            "secret/2021-05-03.json",  "users.json"};
    std::vector<ExportFile> files;
    std::vector<std::string> texts;
    for (const std::string& name : names) {
      const size_t end = input.find('\0');
      texts.emplace_back(input.substr(0, end));
      files.push_back({name, texts.back().size(), files.size()});
      if (end == std::string_view::npos) break;
      input.remove_prefix(end + 1);
    }
    return std::unique_ptr<FuzzedFiles>(new FuzzedFiles(std::move(files), std::move(texts)));
  }

  Status Read(const ExportFile& file, const Take& take) override {
    std::string_view text = texts_[file.index];
    // The file is given in pieces, as from a zip file.
    while (!text.empty()) {
      TRY(take(text.substr(0, 7)));
      text.remove_prefix(std::min<size_t>(7, text.size()));
    }
    return Done{};
  }

 private:
  FuzzedFiles(std::vector<ExportFile> files, std::vector<std::string> texts)
      : ExportFiles(std::move(files)), texts_(std::move(texts)) {}
  std::vector<std::string> texts_;
};

void ReadRow(std::string_view text, const ImportContext& context) {
  const std::string clean = WithoutLinkTokens(text);
  CHECK(clean.find("t=xoxe-") == std::string::npos);
  const auto document = slack::ParseBody(clean);
  if (!document) return;
  const ImportedRow row = ReadImportedRow(document->root(), context);
  if (const auto* message = std::get_if<ImportedMessage>(&row)) {
    CHECK(message->news.channel == context.place.channel);
    for (const Observation& observation : message->news.observations) {
      CHECK(observation.ts == message->news.ts);
    }
    for (const ReactionNews& reaction : message->reactions) {
      CHECK(reaction.reaction.find('#') == std::string::npos);
    }
  }
  if (const auto* bad = std::get_if<BadRow>(&row)) CHECK(!bad->reason.empty());
}

void ReadExport(std::string_view input) {
  Problems problems;
  auto reader = ExportReader::Open(FuzzedFiles::From(input), &problems);
  CHECK(reader.has_value());
  for (const ExportWorkspace& workspace : (*reader)->workspaces()) {
    (void)FindTeam(workspace, {}, reader->get()).has_value();
    for (const ExportConversation& conversation : workspace.conversations) {
      const ImportContext context{.place = {*slack::TeamId::Parse("T1X"), conversation.channel},
                                  .is_public = conversation.kind == ConversationKind::kPublic,
                                  .now = slack::Timestamp::FromSeconds(1'700'000'000)};
      for (const ExportFile& day : conversation.days) {
        (*reader)->ReadRows(day, [&](std::string_view row) { ReadRow(row, context); });
      }
    }
  }
  CHECK(problems.examples().size() <= kMaxProblemExamples);
}

}  // namespace
}  // namespace tidemark::archive

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tidemark::archive::ReadExport({reinterpret_cast<const char*>(data), size});
  return 0;
}
