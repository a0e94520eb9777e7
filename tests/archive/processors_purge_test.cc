// The purge removes messages that were deleted long enough ago from rows, versions and objects, and
// removes nothing else.
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/archive/files.h"
#include "tests/archive/views_world.h"
#include "tests/support/faulty_objects.h"
#include "tests/support/faulty_tables.h"

namespace tidemark::archive {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kTs[] = "1700000000.000100";
constexpr char kObject[] = "slack/T1X/C1X/1700000000.000100/F1X";
constexpr char kLateObject[] = "slack/T1X/C1X/1700000000.000100/F3X";
constexpr char kProcessorsPurgeWithFile[] =
    R"(,"files":[{"id":"F1X","name":"secret.txt","mimetype":"text/plain","size":6,)"
    R"("url_private":"https://files.slack.com/secret.txt"}])";

class PurgeTest : public ::testing::Test {
 protected:
  explicit PurgeTest(DeletedText text = DeletedText::kPurge)
      : world_({.deleted = {.text = text, .purge_after = std::chrono::hours(24)}}) {}

  // A message with an edit and a file, and its neighbour; the first is deleted.
  void PostAndDelete() {
    world_.archive.Post(Posted(kTs, "secret one", kProcessorsPurgeWithFile));
    world_.archive.Post(Changed("1700000010.000000",
                                Inner(kTs, "secret two", Edited("1700000010.000000")),
                                Inner(kTs, "secret one")));
    Value(world_.objects.Put({.key = kObject, .bytes = "secret"}));
    Value(world_.objects.Put({.key = "slack/T1X/C1X/1700000000.000200/F2X", .bytes = "other"}));
    Value(world_.archive.tables().Update(
        {.table = "SlackArchive",
         .key = KeyOf("message#T1X#C1X", kTs),
         .update = "SET files_s3 = :s",
         .values = {{":s", item::StringSet({"s3://b/" + std::string(kObject)})}}}));
    world_.archive.Post(Posted("1700000000.000200", "kept"));
    world_.archive.Post(
        Deleted("1700000020.000000", kTs, Inner(kTs, "secret two", Edited("1700000010.000000"))));
  }
  void Pass(std::chrono::seconds time) { world_.archive.clock().Advance(time); }
  // All rows of the table as text.
  std::string Everything() {
    std::ostringstream text;
    for (const item::Item& row : world_.archive.Rows()) text << ::testing::PrintToString(row);
    return text.str();
  }
  bool HasObject() { return Value(world_.objects.Head(kObject)).has_value(); }

  ViewsWorld world_;
};

TEST_F(PurgeTest, NothingIsLeftOfWhatWasDeletedLongAgo) {
  PostAndDelete();
  EXPECT_THAT(Everything(), HasSubstr("secret"));
  Pass(std::chrono::hours(25));
  world_.StepRows();
  EXPECT_THAT(Everything(), Not(HasSubstr("secret")));
  EXPECT_FALSE(HasObject());
  const item::Item row = world_.archive.MessageRow(kTs);
  EXPECT_TRUE(IsTrueIn(row, "deleted"));
  EXPECT_TRUE(IsTrueIn(row, "purged"));
  EXPECT_EQ(TextIn(row, "user"), "U1X");
  // The other message is as it was.
  EXPECT_THAT(Everything(), HasSubstr("kept"));
  EXPECT_TRUE(Value(world_.objects.Head("slack/T1X/C1X/1700000000.000200/F2X")).has_value());
}

TEST_F(PurgeTest, BeforeItsTimeNothingIsRemoved) {
  PostAndDelete();
  Pass(std::chrono::hours(23));
  world_.StepRows();
  EXPECT_THAT(Everything(), HasSubstr("secret two"));
  EXPECT_TRUE(HasObject());
}

// A sweep reads the whole table, so it runs once an hour.
TEST_F(PurgeTest, SweepsOnceAnHour) {
  world_.StepRows();
  PostAndDelete();
  world_.archive.clock().SetNow(1'700'000'000 + 86'400 * 2);
  world_.StepRows();
  EXPECT_THAT(Everything(), HasSubstr("secret"));
  Pass(std::chrono::minutes(61));
  world_.StepRows();
  EXPECT_THAT(Everything(), Not(HasSubstr("secret")));
}

// Slack's retries and late edits may bring the text again.
TEST_F(PurgeTest, TextThatArrivesAfterThePurgeIsPurgedAgain) {
  PostAndDelete();
  Pass(std::chrono::hours(25));
  world_.StepRows();
  world_.archive.Post(Posted(kTs, "secret one", kProcessorsPurgeWithFile));
  world_.archive.Post(Changed("1700000005.000000",
                              Inner(kTs, "secret half", Edited("1700000005.000000")),
                              Inner(kTs, "secret one")));
  EXPECT_EQ(TextsOf(Value(world_.reader.Messages(PlaceOf("C1X"), {})))[0], "-");
  Pass(std::chrono::hours(2));
  world_.StepRows();
  EXPECT_THAT(Everything(), Not(HasSubstr("secret")));
}

TEST_F(PurgeTest, APurgedMessageIsNotPurgedAgain) {
  PostAndDelete();
  Pass(std::chrono::hours(25));
  world_.StepRows();
  const item::Item row = world_.archive.MessageRow(kTs);
  Pass(std::chrono::hours(2));
  world_.StepRows();
  EXPECT_EQ(world_.archive.MessageRow(kTs), row);
}

// The file processor has loaded the message before the purge. It finishes a file in the middle of
// the purge: after the objects were deleted, and before the row is emptied.
class LateFileTest : public PurgeTest, public ::testing::WithParamInterface<bool> {
 protected:
  void RecordLateFile() {
    Value(world_.objects.Put({.key = kLateObject, .bytes = "secret"}));
    const Message message = Value(DecodeMessage(world_.archive.MessageRow(kTs)));
    const auto recorded = Value(world_.archive.tables().Update(
        UpdateOfFiles("SlackArchive", message, {.uris = {"s3://b/" + std::string(kLateObject)}})));
    EXPECT_TRUE(recorded.applied);
  }
  bool HasLateObject() { return Value(world_.objects.Head(kLateObject)).has_value(); }
};

TEST_P(LateFileTest, AFileThatIsRecordedDuringThePurgeGoesWithTheNextSweep) {
  PostAndDelete();
  if (GetParam()) {
    Value(world_.archive.tables().Update({.table = "SlackArchive",
                                          .key = KeyOf("message#T1X#C1X", kTs),
                                          .update = "REMOVE files_s3"}));
  }
  testing::FaultyObjects objects(&world_.objects);
  bool is_recorded = false;
  objects.after = [&](testing::ObjectOperation operation) {
    if (operation != testing::ObjectOperation::kList || std::exchange(is_recorded, true)) return;
    RecordLateFile();
  };
  Processors processors({.deleted = {.text = DeletedText::kPurge}},
                        {.tables = &world_.archive.tables(),
                         .state = &world_.state,
                         .index = &world_.index,
                         .ledger = &world_.ledger,
                         .objects = &objects,
                         .runtime = world_.beside.runtime()});
  Pass(std::chrono::hours(24 * 31));
  Value(processors.StepRows());
  EXPECT_TRUE(HasLateObject());
  EXPECT_THAT(Everything(), HasSubstr(kLateObject));
  Pass(std::chrono::hours(2));
  Value(processors.StepRows());
  EXPECT_FALSE(HasLateObject());
  EXPECT_FALSE(HasObject());
  EXPECT_THAT(Everything(), Not(HasSubstr("secret")));
  EXPECT_THAT(Everything(), Not(HasSubstr("F3X")));
}
INSTANTIATE_TEST_SUITE_P(IsTheFirst, LateFileTest, ::testing::Bool());

class PurgeFaultsTest : public PurgeTest, public ::testing::WithParamInterface<uint64_t> {};

// The row names what has to be removed, so it is emptied last.
TEST_P(PurgeFaultsTest, APurgeThatFailedHalfwayIsFinishedLater) {
  PostAndDelete();
  testing::FaultyTables tables(&world_.archive.tables());
  tables.decide =
      testing::RandomFaults({.seed = GetParam(), .throttled_percent = 15, .lost_percent = 15});
  Processors processors({.deleted = {.text = DeletedText::kPurge}},
                        {.tables = &tables,
                         .state = &world_.state,
                         .index = &world_.index,
                         .ledger = &world_.ledger,
                         .objects = &world_.objects,
                         .runtime = world_.beside.runtime()});
  Pass(std::chrono::hours(24 * 31));
  for (int i = 0; i < 40; ++i) {
    static_cast<void>(processors.StepRows());
    Pass(std::chrono::hours(1));
  }
  EXPECT_THAT(Everything(), Not(HasSubstr("secret")));
  EXPECT_FALSE(HasObject());
}
INSTANTIATE_TEST_SUITE_P(Seeds, PurgeFaultsTest, ::testing::Range<uint64_t>(0, 20));

class NoPurgeTest : public PurgeTest {
 protected:
  NoPurgeTest() : PurgeTest(DeletedText::kRedact) {}
};

TEST_F(NoPurgeTest, RedactedTextStaysStored) {
  PostAndDelete();
  Pass(std::chrono::hours(24 * 365));
  world_.StepRows();
  EXPECT_THAT(Everything(), HasSubstr("secret"));
  EXPECT_TRUE(HasObject());
}

TEST_F(PurgeTest, CountsWhatItPurged) {
  Processors processors({.deleted = {.text = DeletedText::kPurge}},
                        {.tables = &world_.archive.tables(),
                         .state = &world_.state,
                         .index = &world_.index,
                         .ledger = &world_.ledger,
                         .runtime = world_.beside.runtime()});
  PostAndDelete();
  Pass(std::chrono::hours(24 * 31));
  Value(processors.StepRows());
  EXPECT_THAT(world_.beside.metrics.Expose(), HasSubstr("tidemark_archive_purged_total 1"));
  EXPECT_THAT(world_.beside.metrics.Expose(),
              HasSubstr("tidemark_archive_lag_seconds{processor=\"rows\"} 0"));
}

}  // namespace
}  // namespace tidemark::archive
