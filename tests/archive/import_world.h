// ImportWorld is an archive over the model of the tables and an export to fill it from, made of
// texts by file name, as a folder or as a zip file.
//
//   ImportWorld world;
//   ImportReport report = world.Import(SmallExport());
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apps/archive/archive.h"
#include "apps/archive/attributes.h"
#include "apps/archive/channel_index.h"
#include "apps/archive/coverage.h"
#include "apps/archive/import.h"
#include "apps/archive/state.h"
#include "base/check.h"
#include "slack/event.h"
#include "tests/archive/store_event.h"
#include "tests/model/model_tables.h"
#include "tests/support/print_items.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_runtime.h"
#include "tests/support/write_zip.h"

namespace tidemark::archive {

using ExportTexts = std::map<std::string, std::string>;

// A channel with two days, and two users.
inline ExportTexts SmallExport() {
  return {
      {"channels.json", R"([{"id":"C1X","name":"general","created":1500000000,"is_archived":false,)"
                        R"("topic":{"value":"all of it","creator":"U1X","last_set":1500000010},)"
                        R"("purpose":{"value":"","creator":"","last_set":0}}])"},
      {"users.json", R"([{"id":"U1X","team_id":"T1X","name":"ann","updated":1500000001,)"
                     R"("profile":{"real_name":"Ann","display_name":"ann"}},)"
                     R"({"id":"U2X","team_id":"T1X","name":"bob","deleted":true}])"},
      {"general/2021-05-03.json",
       R"([{"type":"message","user":"U1X","text":"root","ts":"1620000000.000100",)"
       R"("thread_ts":"1620000000.000100","reply_count":1,)"
       R"("reactions":[{"name":"tada","users":["U1X","U2X"],"count":2}]},)"
       R"({"type":"message","user":"U2X","text":"reply","ts":"1620000001.000200",)"
       R"("thread_ts":"1620000000.000100"}])"},
      {"general/2021-05-04.json",
       R"([{"type":"message","user":"U1X","text":"new text","ts":"1620090000.000300",)"
       R"("edited":{"user":"U1X","ts":"1620090060.000000"},)"
       R"("files":[{"id":"F1X","name":"a.pdf","size":7,"mode":"hosted",)"
       R"("url_private":"https://files.slack.com/a.pdf?t=xoxe-12-34-abc"}]}])"}};
}

inline void WriteFolder(const ExportTexts& texts, const std::string& folder) {
  for (const auto& [name, text] : texts) {
    const std::filesystem::path path = folder + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
}

using tidemark::testing::WriteZip;

class ImportWorld {
 public:
  ImportWorld() {
    CHECK(archive_.CreateTable().has_value());
    CHECK(state_.CreateTable().has_value());
  }

  Result<ImportReport> TryImport(const std::string& path, const ImportOptions& options = {}) {
    ImportProgress progress;
    return ImportExport(path, options, parts(), &progress);
  }
  ImportReport ImportPath(const std::string& path, const ImportOptions& options = {}) {
    auto report = TryImport(path, options);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report ? *std::move(report) : ImportReport();
  }
  ImportReport Import(const ExportTexts& texts, const ImportOptions& options = {}) {
    const TempFolder folder;
    WriteFolder(texts, folder.path());
    return ImportPath(folder.path(), options);
  }

  // An event of team T1X.
  ArchiveOutcome Post(const std::string& event, ToldChannel told = ToldChannel::kUnknown) {
    const std::string body = fmt::format(
        R"({{"type":"event_callback","team_id":"T1X","event_id":"Ev1","event_time":1620000999,)"
        R"("event":{}}})",
        event);
    const auto envelope = slack::ParseEnvelope(body);
    CHECK(envelope.has_value());
    const auto outcome =
        StoreEvent(archive_, tables_, std::get<slack::EventCallback>(*envelope), told);
    CHECK(outcome.has_value());
    return *outcome;
  }

  std::vector<item::Item> Rows() {
    const auto page = tables_.Scan({.table = "SlackArchive", .consistent = true});
    CHECK(page.has_value() && !page->last);
    return page->items;
  }
  // Empty when there is none.
  item::Item Row(const std::string& item_id, const std::string& timestamp) {
    const auto row = tables_.Get({.table = "SlackArchive", .key = KeyOf(item_id, timestamp)});
    CHECK(row.has_value());
    return row->value_or(item::Item());
  }
  item::Item MessageRow(const std::string& ts) { return Row("message#T1X#C1X", ts); }
  // The channel's only row.
  item::Item ChannelRow(const std::string& channel = "C1X") {
    for (const item::Item& row : Rows()) {
      if (TextIn(row, "itemId") == "channel#T1X#" + channel) return row;
    }
    return {};
  }

  ImportParts parts() {
    return {.archive = &archive_,
            .tables = &tables_,
            .ledger = &ledger_,
            .state = &state_,
            .index = &index_,
            .clock = &test_.clock};
  }

  testing::TestRuntime test_;
  model::ModelTables tables_{test_.clock};
  Archive archive_{{}, &tables_, test_.runtime()};
  Ledger ledger_{"SlackArchive", &tables_};
  State state_{"tidemark-archive-state", &tables_};
  ChannelIndex index_{{}, &tables_, test_.runtime()};
};

}  // namespace tidemark::archive
