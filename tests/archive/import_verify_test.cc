// Verifying an archive: a sound one has no problems, and each fault is found.
#include <atomic>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/archive/verify.h"
#include "base/random.h"
#include "objects/directory/directory_objects.h"
#include "tests/archive/import_world.h"

namespace tidemark::archive {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kImportVerifyRoot = "1620000000.000100";
constexpr const char* kWithFile = "1620090000.000300";

class VerifyArchiveTest : public ::testing::Test {
 protected:
  VerifyArchiveTest() { world_.Import(SmallExport()); }

  VerifyReport Verify(objects::Objects* objects = nullptr) {
    std::atomic<uint64_t> rows = 0;
    auto report = VerifyArchive(
        {.tables = &world_.tables_, .objects = objects, .index = &world_.index_}, &rows);
    EXPECT_TRUE(report.has_value());
    EXPECT_EQ(rows, report->rows);
    return *std::move(report);
  }
  void Update(const std::string& item_id, const std::string& timestamp, const std::string& update,
              tables::Values values, tables::Names names = {}) {
    const auto reply = world_.tables_.Update({.table = "SlackArchive",
                                              .key = KeyOf(item_id, timestamp),
                                              .update = update,
                                              .names = std::move(names),
                                              .values = std::move(values)});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
  }
  void ExpectProblem(const std::string& fragment, objects::Objects* objects = nullptr) {
    const VerifyReport report = Verify(objects);
    EXPECT_EQ(report.problems, 1u);
    EXPECT_THAT(report.examples, Contains(HasSubstr(fragment)));
  }

  ImportWorld world_;
};

TEST_F(VerifyArchiveTest, ReportsNoProblemInASoundArchive) {
  world_.Post(R"({"type":"message","subtype":"message_changed","channel":"C1X",)"
              R"("channel_type":"channel","ts":"1620200000.000000","event_ts":"1620200000.000000",)"
              R"("message":{"type":"message","user":"U1X","text":"again","ts":"1620000000.000100",)"
              R"("edited":{"user":"U1X","ts":"1620200000.000000"}}})");
  const VerifyReport report = Verify();
  EXPECT_EQ(report.problems, 0u);
  EXPECT_EQ(report.messages, 3u);
  EXPECT_EQ(report.versions, 1u);
  EXPECT_EQ(report.channels, 1u);
}

TEST_F(VerifyArchiveTest, FindsAWrongParent) {
  Update("message#T1X#C1X", kImportVerifyRoot, "SET #p = :p", {{":p", "thread#T1X#1.2"}},
         {{"#p", "parent"}});
  ExpectProblem("parent");
}

TEST_F(VerifyArchiveTest, FindsAFalseAttribute) {
  Update("message#T1X#C1X", kImportVerifyRoot, "SET deleted = :f", {{":f", false}});
  ExpectProblem("false");
}

TEST_F(VerifyArchiveTest, FindsAVersionWithoutItsMessage) {
  ASSERT_TRUE(world_.tables_
                  .Put({.table = "SlackArchive",
                        .item = {{"itemId", "meta#T1X#versions#C1X#1630000000.000100"},
                                 {"timestamp", "1630000000.000100"},
                                 {"type", "version"},
                                 {"team_id", "T1X"},
                                 {"channel_id", "C1X"},
                                 {"ts", "1630000000.000100"},
                                 {"text", "lost"}}})
                  .has_value());
  ExpectProblem("message is missing");
}

TEST_F(VerifyArchiveTest, FindsAVersionThatIsNotOlder) {
  ASSERT_TRUE(
      world_.tables_
          .Put({.table = "SlackArchive",
                .item = {{"itemId", std::string("meta#T1X#versions#C1X#") + kImportVerifyRoot},
                         {"timestamp", "1630000000.000100"},
                         {"type", "version"},
                         {"team_id", "T1X"},
                         {"channel_id", "C1X"},
                         {"ts", kImportVerifyRoot},
                         {"text", "newer"}}})
          .has_value());
  ExpectProblem("not older");
}

TEST_F(VerifyArchiveTest, FindsAnObjectThatIsMissingOrOfAnotherSize) {
  const TempFolder folder;
  SystemRandom random;
  auto objects =
      directory::DirectoryObjects::Open(folder.path() + "/o", world_.test_.clock, random);
  ASSERT_TRUE(objects.has_value());
  const std::string key = std::string("slack/T1X/C1X/") + kWithFile + "/F1X";
  Update("message#T1X#C1X", kWithFile, "ADD files_s3 :s",
         {{":s", item::StringSet({"s3://slack-archive/" + key})}});
  ExpectProblem("no object");
  ExpectProblem("no object", objects->get());
  ASSERT_TRUE((*objects)->Put({.key = key, .bytes = "six by"}).has_value());
  ExpectProblem("has 6 bytes, not 7", objects->get());
  ASSERT_TRUE((*objects)->Put({.key = key, .bytes = "seven b"}).has_value());
  EXPECT_EQ(Verify(objects->get()).problems, 0u);
}

TEST_F(VerifyArchiveTest, FindsAnIndexThatDiffersFromTheRows) {
  const Place place{*slack::TeamId::Parse("T1X"), *slack::ChannelId::Parse("C1X")};
  ASSERT_TRUE(world_.index_.Set(place, "other").has_value());
  ExpectProblem("does not have C1X as 'general'");
  ASSERT_TRUE(world_.index_.Set(place, "general").has_value());
  ASSERT_TRUE(
      world_.index_.Set({place.team, *slack::ChannelId::Parse("C9X")}, "ghost").has_value());
  ExpectProblem("C9X, which has no rows");
}

}  // namespace
}  // namespace tidemark::archive
