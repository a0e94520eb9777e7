// The channel index under several writers, in every order of their calls to the tables: no entry
// is lost, no channel is in two shards, and no shard exceeds its limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "item/size.h"
#include "tests/archive/views_world.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/schedule.h"

namespace tidemark::archive {
namespace {

using testing::Explore;
using testing::Schedule;

constexpr size_t kMaxRuns = 40'000;

// Writers whose every call to the tables is a step of the schedule.
class Stage {
 public:
  Stage(Schedule* schedule, size_t shard_bytes)
      : index(ChannelIndexOptions{.shard_bytes = shard_bytes}, &tables, world.runtime()) {
    tables.decide = [this, schedule](testing::Operation) {
      if (stepping) schedule->Step();
      return std::optional<testing::Fault>();
    };
  }

  void Run(Schedule* schedule, std::vector<std::function<void()>> actors) {
    stepping = true;
    schedule->Run(std::move(actors));
    stepping = false;
  }
  std::function<void()> Setting(const std::string& channel, const std::string& name) {
    return [this, channel, name] { Value(index.Set(PlaceOf(channel), name)); };
  }

  // The names, when no channel is in two shards and no shard is too large.
  ChannelIndex::Names Verify(size_t shard_bytes) {
    ChannelIndex::Names names;
    for (const item::Item& row : world.Rows()) {
      if (!TextIn(row, "itemId").starts_with("channelindex#")) continue;
      EXPECT_LE(item::SizeBytes(row), shard_bytes);
      for (const item::Attribute& entry : *row.Find("channels_map")->As<item::Map>()) {
        const bool is_new = names.emplace(entry.name, *entry.value.As<std::string>()).second;
        EXPECT_TRUE(is_new) << entry.name << " is in two shards";
      }
    }
    return names;
  }

  ArchiveWorld world;
  testing::FaultyTables tables{&world.tables()};
  ChannelIndex index;
  bool stepping = false;
};

// Spec: 001-65
TEST(IndexConcurrencyTest, TwoWritersOfOneShardBothSucceed) {
  const size_t runs = Explore(kMaxRuns, [](Schedule& schedule) {
    Stage stage(&schedule, 1000);
    Value(stage.index.Set(PlaceOf("C0X"), "zero"));
    stage.Run(&schedule, {stage.Setting("C1X", "one"), stage.Setting("C2X", "two")});
    EXPECT_EQ(stage.Verify(1000),
              (ChannelIndex::Names{{"C0X", "zero"}, {"C1X", "one"}, {"C2X", "two"}}));
  });
  EXPECT_GT(runs, 1u);
}

TEST(IndexConcurrencyTest, TheFirstShardIsMadeOnce) {
  Explore(kMaxRuns, [](Schedule& schedule) {
    Stage stage(&schedule, 1000);
    stage.Run(&schedule, {stage.Setting("C1X", "one"), stage.Setting("C2X", "two")});
    EXPECT_EQ(stage.Verify(1000).size(), 2u);
  });
}

// The shard has room for the short name and not for the long one: the two writers disagree on
// where the channel goes.
TEST(IndexConcurrencyTest, AChannelIsNeverInTwoShardsWhenAShardIsFull) {
  Explore(kMaxRuns, [](Schedule& schedule) {
    Stage stage(&schedule, 150);
    Value(stage.index.Set(PlaceOf("C0X"), std::string(30, 'n')));
    stage.Run(&schedule, {stage.Setting("C1X", "one"), stage.Setting("C1X", std::string(40, 'n'))});
    EXPECT_EQ(stage.Verify(200).size(), 2u);
  });
}

// There is room for one of the two.
TEST(IndexConcurrencyTest, TwoNewChannelsDoNotBothFillTheLastRoom) {
  Explore(kMaxRuns, [](Schedule& schedule) {
    Stage stage(&schedule, 150);
    Value(stage.index.Set(PlaceOf("C0X"), std::string(20, 'n')));
    stage.Run(&schedule, {stage.Setting("C1X", std::string(20, 'n')),
                          stage.Setting("C2X", std::string(20, 'n'))});
    EXPECT_EQ(stage.Verify(150).size(), 3u);
  });
}

TEST(IndexConcurrencyTest, AMentionBesideASetLeavesTheName) {
  Explore(kMaxRuns, [](Schedule& schedule) {
    Stage stage(&schedule, 1000);
    Value(stage.index.Set(PlaceOf("C0X"), "zero"));
    stage.Run(&schedule,
              {stage.Setting("C1X", "one"), [&] { Value(stage.index.Mention(PlaceOf("C1X"))); }});
    EXPECT_EQ(stage.Verify(1000).at("C1X"), "one");
  });
}

// A rename that is stored and entered at any moment of a rebuild.
TEST(IndexConcurrencyTest, ARebuildLosesNothingThatIsSetAtTheSameTime) {
  Explore(kMaxRuns, [](Schedule& schedule) {
    Stage stage(&schedule, 1000);
    stage.world.Post(NamedChannelEvent("channel_created", "C0X", "zero", "1600000000.000000"));
    stage.world.Post(NamedChannelEvent("channel_created", "C1X", "one", "1600000000.000000"));
    Value(stage.index.Set(PlaceOf("C1X"), "one"));
    stage.Run(&schedule, {[&] { Value(stage.index.Rebuild(PlaceOf("C1X").team, nullptr)); },
                          [&] {
                            stage.world.Post(NamedChannelEvent("channel_rename", "C1X", "uno",
                                                               "1600000001.000000"));
                            Value(stage.index.Set(PlaceOf("C1X"), "uno"));
                          }});
    EXPECT_EQ(stage.Verify(1000), (ChannelIndex::Names{{"C0X", "zero"}, {"C1X", "uno"}}));
  });
}

TEST(IndexConcurrencyTest, AChannelThatAppearsDuringARebuildStays) {
  Explore(kMaxRuns, [](Schedule& schedule) {
    Stage stage(&schedule, 1000);
    stage.world.Post(NamedChannelEvent("channel_created", "C0X", "zero", "1600000000.000000"));
    stage.Run(&schedule, {[&] { Value(stage.index.Rebuild(PlaceOf("C1X").team, nullptr)); },
                          [&] {
                            stage.world.Post(NamedChannelEvent("channel_created", "C1X", "one",
                                                               "1600000000.000000"));
                            Value(stage.index.Set(PlaceOf("C1X"), "one"));
                          }});
    EXPECT_EQ(stage.Verify(1000), (ChannelIndex::Names{{"C0X", "zero"}, {"C1X", "one"}}));
  });
}

// Calls fail or lose their replies: repeating Set leads to the right result.
TEST(IndexConcurrencyTest, ASetIsSafeToRepeatAfterAnyFault) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    ArchiveWorld world;
    testing::FaultyTables tables(&world.tables());
    ChannelIndex index({.shard_bytes = 150}, &tables, world.runtime());
    tables.decide =
        testing::RandomFaults({.seed = seed, .throttled_percent = 20, .lost_percent = 20});
    for (int i = 0; i < 6; ++i) {
      while (!index.Set(PlaceOf(fmt::format("C{}X", i % 5)), fmt::format("name-{}", i))) continue;
    }
    tables.decide = nullptr;
    const ChannelIndex::Names expected{{"C0X", "name-5"},
                                       {"C1X", "name-1"},
                                       {"C2X", "name-2"},
                                       {"C3X", "name-3"},
                                       {"C4X", "name-4"}};
    EXPECT_EQ(Value(index.All(PlaceOf("C0X").team)), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tidemark::archive
