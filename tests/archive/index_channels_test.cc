// The channel index: where entries go, how shards are measured and numbered, and how it is rebuilt.
#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "item/size.h"
#include "tests/archive/views_world.h"

namespace tidemark::archive {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

Place Numbered(int number) { return PlaceOf(fmt::format("C{:04}", number)); }

class IndexTest : public ::testing::Test {
 protected:
  // Shards of this many bytes.
  ChannelIndex& Index(size_t shard_bytes) {
    index_.emplace(ChannelIndexOptions{.shard_bytes = shard_bytes, .warn_bytes = 1000},
                   &world_.archive.tables(),
                   Runtime{.clock = world_.archive.clock(),
                           .random = world_.beside.random,
                           .sleeper = world_.beside.sleeper,
                           .logger = logger_,
                           .metrics = world_.beside.metrics});
    return *index_;
  }
  // The rows of the shards in the order of the table.
  std::vector<item::Item> Rows(const std::string& team = "T1X") {
    std::vector<item::Item> rows;
    for (const item::Item& row : world_.archive.Rows()) {
      if (TextIn(row, "itemId") == "channelindex#" + team) rows.push_back(row);
    }
    return rows;
  }
  item::Item Shard(const std::string& number) {
    return world_.archive.Row("channelindex#T1X", number);
  }
  // Empty when there is no such row.
  static item::Map Names(const item::Item& row) {
    const item::Value* const names = row.Find("channels_map");
    return names != nullptr ? *names->As<item::Map>() : item::Map();
  }
  void PutShard(const std::string& number, item::Map names) {
    Value(world_.archive.tables().Put({.table = "SlackArchive",
                                       .item = {{"itemId", "channelindex#T1X"},
                                                {"timestamp", number},
                                                {"type", "channelindex"},
                                                {"channels_map", std::move(names)},
                                                {"revision", item::Number::FromInt(1)}}}));
  }
  const slack::TeamId team_ = PlaceOf("C1X").team;

  ViewsWorld world_;
  std::ostringstream log_;
  Logger logger_{{}, world_.archive.clock(), &log_};
  std::optional<ChannelIndex> index_;
};

// Spec: 001-13
TEST_F(IndexTest, AShardsKeyIsTheTeamsAndItsNumber) {
  Value(Index(1000).Set(PlaceOf("C1X"), "general"));
  const item::Item row = Shard("000000");
  EXPECT_EQ(TextIn(row, "type"), "channelindex");
  EXPECT_EQ(TextIn(Names(row), "C1X"), "general");
  EXPECT_EQ(Rows().size(), 1u);
}

TEST_F(IndexTest, TeamsHaveIndexesOfTheirOwn) {
  Value(Index(1000).Set(PlaceOf("C1X"), "general"));
  Value(index_->Set(PlaceOf("C1X", "T2X"), "other"));
  EXPECT_THAT(Value(index_->All(team_)), ElementsAre(Pair("C1X", "general")));
  EXPECT_EQ(Value(index_->Find(PlaceOf("C1X", "T2X"))), "other");
  EXPECT_EQ(Value(index_->Find(PlaceOf("C2X"))), std::nullopt);
}

// Spec: 001-63
TEST_F(IndexTest, AnEntryOverTheLimitGoesIntoANewShard) {
  // Three bytes for each character: counted in characters it would fit.
  const std::string name = "日本語日本語日本語日本語";
  Value(Index(400).Set(Numbered(0), name));
  int count = 1;
  while (Rows().size() == 1) {
    const item::Item before = Shard("000000");
    ASSERT_LE(item::SizeBytes(before), 400u);
    Value(index_->Set(Numbered(count++), name));
    if (Rows().size() > 1) {
      EXPECT_EQ(Shard("000000"), before);
    }
  }
  item::Item larger = Shard("000000");
  larger.Find("channels_map")->As<item::Map>()->Set("C0099", name);
  EXPECT_GT(item::SizeBytes(larger), 400u) << "the shard had room";
  EXPECT_EQ(Names(Shard("000001")).size(), 1u);
  EXPECT_EQ(Value(index_->NewestShard(team_)), 1u);
}

// Spec: 001-62
TEST_F(IndexTest, ARenameStaysInTheShardThatHoldsTheChannel) {
  Index(200);
  int count = 0;
  while (Value(index_->NewestShard(team_)).value_or(0) < 3) {
    Value(index_->Set(Numbered(count++), "name"));
  }
  // The new name is longer and the shard is full. The channel stays in its shard.
  Value(index_->Set(Numbered(0), "a-much-longer-name-than-it-had-before"));
  EXPECT_EQ(TextIn(Names(Shard("000000")), "C0000"), "a-much-longer-name-than-it-had-before");
  int holders = 0;
  for (const item::Item& row : Rows()) holders += Names(row).Contains("C0000") ? 1 : 0;
  EXPECT_EQ(holders, 1);
  EXPECT_EQ(Value(index_->NewestShard(team_)), 3u);
}

// Spec: 001-64
TEST_F(IndexTest, TheNewestOfTwelveShardsIsTheTwelfth) {
  Index(120);
  for (int i = 0; i < 12; ++i) Value(index_->Set(Numbered(i), std::string(60, 'n')));
  EXPECT_EQ(Value(index_->NewestShard(team_)), 11u);
  std::vector<std::string> in_order;
  for (const item::Item& row : Rows()) in_order.push_back(TextIn(row, "timestamp"));
  ASSERT_EQ(in_order.size(), 12u);
  EXPECT_EQ(in_order[9], "000009");
  EXPECT_EQ(in_order[11], "000011");
  Value(index_->Set(Numbered(12), std::string(60, 'n')));
  EXPECT_TRUE(Names(Shard("000012")).Contains("C0012"));
}

// Rows with the seed's numbering are read as well.
TEST_F(IndexTest, NumbersWithoutZerosAreComparedAsNumbers) {
  PutShard("9", {{"C1X", "nine"}});
  PutShard("10", {{"C2X", "ten"}});
  EXPECT_EQ(Value(Index(1000).NewestShard(team_)), 10u);
  Value(index_->Set(PlaceOf("C3X"), "new"));
  EXPECT_TRUE(Names(Shard("10")).Contains("C3X"));
}

// Spec: 001-71
TEST_F(IndexTest, ReadsAllShardsOfAnySize) {
  // Together more than one page of a query, which has 1 MB.
  for (int i = 0; i < 4; ++i) {
    PutShard(fmt::format("{:06}", i), {{fmt::format("C{}X", i), fmt::format("name-{}", i)},
                                       {fmt::format("C{}Y", i), std::string(340'000, 'x')}});
  }
  Index(350 * 1024);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Value(index_->Find(PlaceOf(fmt::format("C{}X", i)))), fmt::format("name-{}", i));
  }
  EXPECT_EQ(Value(index_->All(team_)).size(), 8u);
  EXPECT_EQ(Value(index_->NewestShard(team_)), 3u);
  // A change is seen at once.
  Value(index_->Set(PlaceOf("C0X"), "renamed"));
  EXPECT_EQ(Value(index_->Find(PlaceOf("C0X"))), "renamed");
}

// An item cannot be larger, and refusing would stop the processor for ever.
TEST_F(IndexTest, AChannelMovesWhenNoItemCouldHoldItsNewName) {
  PutShard("000000", {{"C1X", "short"}, {"C2X", std::string(408'000, 'x')}});
  Value(Index(350 * 1024).Set(PlaceOf("C1X"), std::string(1'000, 'n')));
  EXPECT_FALSE(Names(Shard("000000")).Contains("C1X"));
  EXPECT_TRUE(Names(Shard("000000")).Contains("C2X"));
  EXPECT_EQ(TextIn(Names(Shard("000001")), "C1X"), std::string(1'000, 'n'));
}

TEST_F(IndexTest, AChannelMovesIntoTheNewestShardWhenThatHasRoom) {
  PutShard("000000", {{"C1X", "short"}, {"C2X", std::string(408'000, 'x')}});
  PutShard("000001", {{"C3X", "three"}});
  Value(Index(350 * 1024).Set(PlaceOf("C1X"), std::string(1'000, 'n')));
  EXPECT_FALSE(Names(Shard("000000")).Contains("C1X"));
  EXPECT_TRUE(Names(Shard("000001")).Contains("C1X"));
}

TEST_F(IndexTest, ASecondSetOfTheSameNameWritesNothing) {
  Value(Index(1000).Set(PlaceOf("C1X"), "general"));
  const item::Item row = Shard("000000");
  Value(index_->Set(PlaceOf("C1X"), "general"));
  EXPECT_EQ(Shard("000000"), row);
}

// A message shows that the channel exists. It must not remove its name.
TEST_F(IndexTest, AMentionNeverReplacesAName) {
  Value(Index(1000).Mention(PlaceOf("C1X")));
  EXPECT_EQ(Value(index_->Find(PlaceOf("C1X"))), "");
  Value(index_->Set(PlaceOf("C1X"), "general"));
  Value(index_->Mention(PlaceOf("C1X")));
  EXPECT_EQ(Value(index_->Find(PlaceOf("C1X"))), "general");
}

TEST_F(IndexTest, AShardThatGrowsLargeIsLoggedOnce) {
  Index(10'000);
  for (int i = 0; i < 40; ++i) Value(index_->Set(Numbered(i), std::string(60, 'n')));
  const std::string log = log_.str();
  EXPECT_THAT(log, HasSubstr("channelindex#T1X"));
  EXPECT_EQ(log.find("shard of the channel index"), log.rfind("shard of the channel index"));
}

TEST_F(IndexTest, ADamagedShardIsReportedNotOverwritten) {
  PutShard("zero", {{"C1X", "general"}});
  const auto found = Index(1000).Find(PlaceOf("C1X"));
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(found.error().message, HasSubstr("channelindex#T1X"));
}

TEST_F(IndexTest, NamesADeletedChannelByItsLastName) {
  Channel channel{.place = PlaceOf("C1X")};
  EXPECT_EQ(IndexName(channel), "");
  channel.name_changes = {{Ts("1600000002.000000"), "new"}, {Ts("1600000001.000000"), "old"}};
  EXPECT_EQ(IndexName(channel), "new");
  channel.deleted = true;
  EXPECT_EQ(IndexName(channel), "deleted_new");
}

// ---- Rebuilding ----

class RebuildTest : public IndexTest {
 protected:
  RebuildTest() {
    for (int i = 0; i < 30; ++i) {
      world_.archive.Post(NamedChannelEvent("channel_created", fmt::format("C{:04}", i),
                                            fmt::format("channel-{}", i), "1600000000.000000"));
    }
    world_.archive.Post(ChannelEvent("channel_deleted", "C0003", "1600000005.000000"));
    // A channel with only a message, and a channel of another team.
    world_.archive.Post(PostedIn("C0050", "1600000001.000000", "hello"));
    Index(300);
  }
  void Remove(const item::Item& row) {
    Value(world_.archive.tables().Delete(
        {.table = "SlackArchive", .key = KeyOf(TextIn(row, "itemId"), TextIn(row, "timestamp"))}));
  }
  ChannelIndex::RebuildReport Rebuild() { return Value(index_->Rebuild(team_, nullptr)); }
};

TEST_F(RebuildTest, RebuildsALostIndexFromTheRows) {
  Rebuild();
  const ChannelIndex::Names former = Value(index_->All(team_));
  EXPECT_EQ(former.size(), 31u);
  EXPECT_EQ(former.at("C0007"), "channel-7");
  EXPECT_EQ(former.at("C0003"), "deleted_channel-3");
  EXPECT_EQ(former.at("C0050"), "");
  for (const item::Item& row : Rows()) Remove(row);
  EXPECT_THAT(Value(index_->All(team_)), IsEmpty());
  uint64_t rows = 0;
  const auto report = Value(index_->Rebuild(team_, [&](uint64_t read) { rows = read; }));
  EXPECT_EQ(Value(index_->All(team_)), former);
  EXPECT_EQ(report.channels, 31u);
  EXPECT_EQ(report.changed, 31u);
  EXPECT_EQ(report.shards, Rows().size());
  EXPECT_GT(report.shards, 1u);
  EXPECT_EQ(rows, world_.archive.Rows().size() - Rows().size());
  for (const item::Item& row : Rows()) EXPECT_LE(item::SizeBytes(row), 300u);
}

TEST_F(RebuildTest, LeavesACorrectIndexAsItIs) {
  Rebuild();
  const auto before = Rows();
  EXPECT_EQ(Rebuild().changed, 0u);
  EXPECT_EQ(Rows(), before);
}

TEST_F(RebuildTest, RemovesWrongDoubleAndSurplusEntries) {
  Rebuild();
  const ChannelIndex::Names right = Value(index_->All(team_));
  const uint32_t newest = *Value(index_->NewestShard(team_));
  PutShard(fmt::format("{:06}", newest + 1), {{"C0000", "double"}, {"C0099", "never-was"}});
  PutShard(fmt::format("{:06}", newest + 2), {{"C0098", "never-was"}});
  Value(index_->Set(PlaceOf("C0004"), "wrong"));
  const auto report = Rebuild();
  EXPECT_EQ(report.changed, 4u);
  EXPECT_EQ(Value(index_->All(team_)), right);
  EXPECT_EQ(Value(index_->NewestShard(team_)), newest);
  EXPECT_EQ(report.shards, newest + 1);
}

}  // namespace
}  // namespace tidemark::archive
