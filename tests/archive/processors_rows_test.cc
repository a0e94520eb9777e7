// The work that follows the archive's change stream: the channel index, the teams, and the
// beginning of coverage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/archive/import_row.h"
#include "apps/archive/import_writer.h"
#include "apps/archive/processors.h"
#include "tests/archive/views_world.h"
#include "tests/support/faulty_tables.h"

namespace tidemark::archive {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// At the time of the world's clock.
constexpr char kNow[] = "1700000000.000100";

class RowsTest : public ::testing::Test {
 protected:
  ChannelIndex::Names Index() { return Value(world_.index.All(place_.team)); }
  std::vector<CoverageNews> Marks() { return Value(world_.ledger.ChannelMarks(place_)); }
  item::Item Shard() { return world_.archive.Row("channelindex#T1X", "000000"); }

  ViewsWorld world_;
  const Place place_ = PlaceOf("C1X");
};

// Spec: 001-60
TEST_F(RowsTest, ANewChannelIsEnteredIntoTheIndex) {
  world_.Tell(NamedChannelEvent("channel_created", "C1X", "general", kNow));
  EXPECT_THAT(Index(), ElementsAre(Pair("C1X", "general")));
}

// Spec: 001-61
TEST_F(RowsTest, RenamesAndTheDeletionAreEnteredOnce) {
  world_.Tell(NamedChannelEvent("channel_created", "C1X", "general", "1700000000.000000"));
  world_.Tell(NamedChannelEvent("channel_rename", "C1X", "plaza", "1700000001.000000"));
  EXPECT_THAT(Index(), ElementsAre(Pair("C1X", "plaza")));
  world_.Tell(ChannelEvent("channel_deleted", "C1X", "1700000002.000000"));
  EXPECT_THAT(Index(), ElementsAre(Pair("C1X", "deleted_plaza")));
  // Sent again, changed in another way, and handled again from the beginning.
  world_.Tell(ChannelEvent("channel_deleted", "C1X", "1700000003.000000"));
  world_.Tell(ChannelEvent("channel_archive", "C1X", "1700000004.000000"));
  Value(world_.archive.tables().Delete(
      {.table = "tidemark-consumers", .key = {{"consumer", std::string(kRowsConsumer)}}}));
  world_.Restart();
  world_.StepRows();
  EXPECT_THAT(Index(), ElementsAre(Pair("C1X", "deleted_plaza")));
}

TEST_F(RowsTest, ARenameThatComesLateChangesNothing) {
  world_.Tell(NamedChannelEvent("channel_rename", "C1X", "third", "1700000003.000000"));
  world_.Tell(NamedChannelEvent("channel_rename", "C1X", "second", "1700000002.000000"));
  EXPECT_THAT(Index(), ElementsAre(Pair("C1X", "third")));
}

// Spec: 001-66
TEST_F(RowsTest, IndexRowsAndOtherRowsCauseNoWork) {
  world_.Tell(NamedChannelEvent("channel_created", "C1X", "general", kNow));
  const item::Item shard = Shard();
  Value(world_.archive.tables().Put({.table = "SlackArchive",
                                     .item = {{"itemId", "channelindex#T1X"},
                                              {"timestamp", "000007"},
                                              {"channels_map", item::Map{{"C9X", "theirs"}}}}}));
  Value(world_.archive.tables().Put(
      {.table = "SlackArchive",
       .item = {{"itemId", "meta#T1X#moved#C1X"}, {"timestamp", kNow}, {"name", "meta"}}}));
  world_.StepRows();
  EXPECT_EQ(Shard(), shard);
  // The write of the index itself came back through the stream and caused no work.
  const size_t rows = world_.archive.Rows().size();
  for (int i = 0; i < 3; ++i) world_.StepRows();
  EXPECT_EQ(world_.archive.Rows().size(), rows);
  const auto status = Value(ReadProcessorStatus(world_.archive.tables(), world_.archive.clock(),
                                                "SlackArchive", std::string(kRowsConsumer)));
  EXPECT_EQ(status.lag_seconds, 0);
  EXPECT_TRUE(status.held);
}

TEST_F(RowsTest, AMessageNamesItsChannelAndTeam) {
  world_.Tell(Posted(kNow, "hello"));
  EXPECT_THAT(Index(), ElementsAre(Pair("C1X", "")));
  EXPECT_THAT(Value(world_.state.Teams()), ElementsAre(place_.team));
  world_.Tell(NamedChannelEvent("channel_rename", "C1X", "general", "1700000001.000000"));
  world_.Tell(Posted("1700000002.000000", "more"));
  world_.Restart();
  world_.Tell(Posted("1700000003.000000", "more"));
  EXPECT_THAT(Index(), ElementsAre(Pair("C1X", "general")));
}

// ---- Where coverage begins ----

TEST_F(RowsTest, CoverageBeginsAtTheFirstMessageSeen) {
  world_.Tell(Posted(kNow, "first"));
  world_.Tell(Posted("1700000005.000000", "second"));
  world_.Restart();
  world_.Tell(Posted("1700000006.000000", "third"));
  ASSERT_THAT(Marks(), SizeIs(1));
  EXPECT_EQ(Marks()[0].kind, CoverageKind::kBegan);
  EXPECT_EQ(Marks()[0].from, Ts(kNow));
  EXPECT_EQ(Marks()[0].reason, "first message seen");
}

// An edit of an old message does not show that later messages were received.
TEST_F(RowsTest, AnOldMessageIsNotABeginning) {
  world_.Tell(Changed(kNow, Inner("1690000000.000000", "new", Edited(kNow)),
                      Inner("1690000000.000000", "old")));
  EXPECT_THAT(Marks(), IsEmpty());
  world_.Tell(Posted("1700000001.000000", "live"));
  ASSERT_THAT(Marks(), SizeIs(1));
  EXPECT_EQ(Marks()[0].from, Ts("1700000001.000000"));
}

// An export may be of a minute ago. Nobody listened to Slack when its messages were posted.
TEST_F(RowsTest, AnImportedMessageDoesNotBeginCoverage) {
  const auto imported = JsonDocument::Parse(
      fmt::format(R"({{"type":"message","user":"U1X","text":"x","ts":"{}"}})", kNow));
  const ImportedRow row =
      ReadImportedRow(imported->root(), {.place = PlaceOf("C1X"), .now = Ts(kNow)});
  const auto* const message = std::get_if<ImportedMessage>(&row);
  ASSERT_NE(message, nullptr);
  ImportWriter writer(&world_.archive.archive(), &world_.archive.tables(), ImportMode::kStore);
  ASSERT_TRUE(writer.StoreMessages(PlaceOf("C1X"), {*message}, nullptr).has_value());
  ASSERT_TRUE(world_.StepRows());
  EXPECT_THAT(Marks(), IsEmpty());
  world_.Tell(Posted("1700000001.000000", "live"));
  ASSERT_THAT(Marks(), SizeIs(1));
}

TEST_F(RowsTest, NoSecondBeginningAfterTheBotJoined) {
  world_.archive.PostOfPublic(
      R"({"type":"member_joined_channel","channel":"C1X","channel_type":"C","user":"UBOT",)"
      R"("team":"T1X","event_ts":"1699999000.000000"})");
  world_.Tell(Posted(kNow, "first"));
  ASSERT_THAT(Marks(), SizeIs(1));
  EXPECT_EQ(Marks()[0].from, Ts("1699999000.000000"));
}

// ---- Cost, faults and several processes ----

TEST_F(RowsTest, AnotherMessageOfAKnownChannelCausesNoCalls) {
  testing::FaultyTables tables(&world_.archive.tables());
  ChannelIndex index({}, &tables, world_.archive.runtime());
  Ledger ledger("SlackArchive", &tables);
  State state("tidemark-archive-state", &tables);
  Processors processors({}, {.tables = &world_.archive.tables(),
                             .state = &state,
                             .index = &index,
                             .ledger = &ledger,
                             .runtime = world_.beside.runtime()});
  world_.archive.Post(Posted(kNow, "first"));
  Value(processors.StepRows());
  int calls = 0;
  tables.decide = [&](testing::Operation) {
    ++calls;
    return std::optional<testing::Fault>();
  };
  for (int i = 1; i < 10; ++i) {
    world_.archive.Post(Posted(fmt::format("170000000{}.000000", i), "more"));
  }
  Value(processors.StepRows());
  EXPECT_EQ(calls, 0);
}

TEST_F(RowsTest, ARecordThatFailedIsHandledAgain) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ViewsWorld world;
    testing::FaultyTables tables(&world.archive.tables());
    ChannelIndex index({}, &tables, world.archive.runtime());
    Ledger ledger("SlackArchive", &tables);
    Processors processors({}, {.tables = &tables,
                               .state = &world.state,
                               .index = &index,
                               .ledger = &ledger,
                               .runtime = world.beside.runtime()});
    world.archive.Post(NamedChannelEvent("channel_created", "C1X", "general", kNow));
    world.archive.Post(PostedIn("C2X", kNow, "hello"));
    tables.decide =
        testing::RandomFaults({.seed = seed, .throttled_percent = 20, .lost_percent = 20});
    for (int i = 0; i < 30; ++i) static_cast<void>(processors.StepRows());
    tables.decide = nullptr;
    Value(processors.StepRows());
    EXPECT_THAT(Value(index.All(place_.team)), ElementsAre(Pair("C1X", "general"), Pair("C2X", "")))
        << "seed " << seed;
    EXPECT_THAT(Value(ledger.ChannelMarks(PlaceOf("C2X"))), SizeIs(1));
  }
}

// One damaged row must not hold up the records after it.
TEST_F(RowsTest, ADamagedShardDoesNotStopTheProcessor) {
  Value(world_.archive.tables().Put(
      {.table = "SlackArchive",
       .item = {{"itemId", "channelindex#T1X"}, {"timestamp", "no number"}}}));
  world_.archive.Post(NamedChannelEvent("channel_created", "C1X", "general", kNow));
  world_.archive.Post(
      fmt::format(R"({{"type":"team_rename","name":"new","event_ts":"{}"}})", kNow));
  EXPECT_TRUE(world_.StepRows());
}

TEST_F(RowsTest, OfTwoProcessesOneDoesTheWork) {
  Processors other({}, {.tables = &world_.archive.tables(),
                        .state = &world_.state,
                        .index = &world_.index,
                        .ledger = &world_.ledger,
                        .runtime = world_.beside.runtime()});
  world_.StepRows();
  world_.archive.Post(NamedChannelEvent("channel_created", "C1X", "general", kNow));
  Value(other.StepRows());
  EXPECT_THAT(Index(), IsEmpty());
  // A lease that was given back can be taken at once.
  world_.processors.reset();
  Value(other.StepRows());
  EXPECT_THAT(Index(), SizeIs(1));
}

TEST_F(RowsTest, AfterStopNothingIsHandled) {
  world_.processors->Stop();
  world_.archive.Post(NamedChannelEvent("channel_created", "C1X", "general", kNow));
  Value(world_.processors->StepRows());
  EXPECT_THAT(Index(), IsEmpty());
}

TEST_F(RowsTest, TheStatusTellsHowOldTheOldestUnhandledChangeIs) {
  const auto status = [&] {
    return Value(ReadProcessorStatus(world_.archive.tables(), world_.archive.clock(),
                                     "SlackArchive", std::string(kRowsConsumer)));
  };
  EXPECT_EQ(status().lag_seconds, 0);
  EXPECT_FALSE(status().held);
  world_.archive.Post(NamedChannelEvent("channel_created", "C1X", "general", kNow));
  world_.archive.clock().Advance(std::chrono::seconds(90));
  world_.archive.Post(Posted("1700000090.000000", "hello"));
  EXPECT_EQ(status().lag_seconds, 90);
  EXPECT_EQ(status().last_change_at, std::nullopt);
  world_.StepRows();
  world_.StepRows();
  EXPECT_EQ(status().lag_seconds, 0);
  EXPECT_EQ(status().last_change_at, 1'700'000'090);
}

}  // namespace
}  // namespace tidemark::archive
