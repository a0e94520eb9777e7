// A data folder that an earlier program wrote (tests/data/folder-v1) opens and has all its data.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "item/json.h"
#include "tables/embedded/embedded_tables.h"
#include "tables/pages.h"
#include "tables/stream_reader.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"

namespace tidemark::crash {
namespace {

namespace fs = std::filesystem;
using embedded::EmbeddedTables;
using tables::Paging;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// When the folder was written. Items expire, and stream records are kept for a day.
constexpr EpochSeconds kWrittenAt = 1'794'847'720;

// The lines of a file with the expected items, by table.
std::map<std::string, std::vector<std::string>> ExpectedItems(const fs::path& folder) {
  std::map<std::string, std::vector<std::string>> tables;
  for (const auto& file : fs::directory_iterator(folder)) {
    std::vector<std::string>& lines = tables[file.path().stem().string()];
    std::ifstream stream(file.path());
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
  }
  return tables;
}

class OldFolderTest : public ::testing::Test {
 protected:
  OldFolderTest() {
    fs::copy(fs::path(TIDEMARK_OLD_FOLDER) / "data", copy_, fs::copy_options::recursive);
    Open();
  }

  void Open() {
    tables_.reset();
    auto opened = EmbeddedTables::Open({.folder = copy_, .background = false, .clock = &clock_});
    if (!opened) throw std::runtime_error(opened.error().message);
    tables_ = *std::move(opened);
  }

  std::map<std::string, std::vector<std::string>> StoredItems() {
    std::map<std::string, std::vector<std::string>> stored;
    const auto listed = tables_->ListTables({});
    for (const std::string& table : listed->tables) {
      std::vector<std::string>& lines = stored[table];
      EXPECT_TRUE(tables::ForEachItem(*tables_, tables::ScanRequest{.table = table},
                                      [&](const item::Item& item) -> Result<Paging> {
                                        lines.push_back(item::ToJson(item));
                                        return Paging::kContinue;
                                      })
                      .has_value());
      std::sort(lines.begin(), lines.end());
    }
    return stored;
  }

  // The sort keys that a query of an index of "things" finds.
  std::vector<std::string> Query(const std::string& index, const item::Attribute& partition) {
    const auto found =
        tables::QueryAll(*tables_, {.table = "things", .index = index, .partition = partition});
    EXPECT_TRUE(found.has_value());
    std::vector<std::string> numbers;
    for (const item::Item& item : *found) {
      numbers.push_back(item.Find("n")->As<item::Number>()->ToString());
    }
    return numbers;
  }

  TempFolder folder_;
  const std::string copy_ = folder_.path() + "/data";
  ManualClock clock_{kWrittenAt};
  std::unique_ptr<EmbeddedTables> tables_;
};

TEST_F(OldFolderTest, HoldsEveryItemOfEveryTable) {
  EXPECT_EQ(StoredItems(), ExpectedItems(fs::path(TIDEMARK_OLD_FOLDER) / "expected"));
}

TEST_F(OldFolderTest, IsWhole) {
  const auto report = tables_->Verify();
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_EQ(report->items, 33U);
  EXPECT_EQ(report->index_rows, 18U);
  EXPECT_EQ(report->stream_records, 21U);
}

TEST_F(OldFolderTest, AnswersQueriesOfItsIndexes) {
  EXPECT_THAT(Query("by-color", {"color", "red"}), ElementsAre("1", "2"));
  EXPECT_THAT(Query("by-color", {"color", "green"}), ElementsAre("1"));
  EXPECT_THAT(Query("by-size", {"id", "a"}), ElementsAre("2", "-3.5", "1"));
  EXPECT_THAT(Query("late", {"flavour", "sweet"}), ElementsAre("1"));
}

TEST_F(OldFolderTest, GivesItsStreamFromTheBeginning) {
  tables::StreamReader reader(*tables_, "things");
  const auto page = reader.Read({}, 100);
  ASSERT_TRUE(page.has_value()) << page.error().message;
  using tables::ChangeKind;
  std::vector<ChangeKind> kinds;
  for (const tables::StreamRecord& record : page->records) kinds.push_back(record.kind);
  std::vector<ChangeKind> expected(7, ChangeKind::kInsert);
  expected.insert(expected.end(), {ChangeKind::kModify, ChangeKind::kRemove, ChangeKind::kInsert});
  EXPECT_EQ(kinds, expected);
}

TEST_F(OldFolderTest, KeepsItsDefinitions) {
  const auto things = tables_->DescribeTable("things");
  ASSERT_TRUE(things.has_value()) << things.error().message;
  EXPECT_EQ(things->ttl_attribute, "expires");
  EXPECT_EQ(things->indexes.size(), 3U);
  EXPECT_EQ(tables_->ListTags("things")->at("owner"), "tests");
}

// Expired items are swept, new writes work, and everything is there after reopening.
TEST_F(OldFolderTest, CanBeWorkedOn) {
  const item::Item key{{"id", "c"}, {"n", item::Number::FromInt(1)}};
  EXPECT_TRUE(tables_->Get({.table = "things", .key = key})->has_value());
  clock_.SetNow(4'102'444'801);  // After its time to live.
  ASSERT_TRUE(tables_->Maintain().has_value());
  EXPECT_FALSE(tables_->Get({.table = "things", .key = key})->has_value());
  item::Item added{{"id", "new"}, {"n", item::Number::FromInt(1)}, {"color", "red"}};
  ASSERT_TRUE(tables_->Put({.table = "things", .item = added}).has_value());
  Open();
  EXPECT_THAT(Query("by-color", {"color", "red"}), ElementsAre("1", "1", "2"));
  EXPECT_THAT(Query("by-color", {"color", "green"}), IsEmpty());
  EXPECT_THAT(tables_->Verify()->problems, IsEmpty());
}

}  // namespace
}  // namespace tidemark::crash
