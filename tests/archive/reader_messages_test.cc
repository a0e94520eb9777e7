// Reading channels, messages by time and threads.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/archive/views_world.h"
#include "tests/support/forwarding_tables.h"

namespace tidemark::archive {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string TsOf(int number) { return fmt::format("16000000{:02}.000000", number); }

class ReaderTest : public ::testing::Test {
 protected:
  std::vector<std::string> Read(const MessageQuery& query) {
    return TextsOf(Value(world_.reader.Messages(place_, query)));
  }
  // All pages together.
  std::vector<std::string> ReadAll(MessageQuery query) {
    std::vector<std::string> all;
    do {
      const MessagePage page = Value(world_.reader.Messages(place_, query));
      EXPECT_LE(page.messages.size(), query.limit);
      std::ranges::copy(TextsOf(page), std::back_inserter(all));
      query.after = page.next;
    } while (query.after);
    return all;
  }
  std::vector<std::string> ReadThread(const std::string& thread_ts, uint32_t limit) {
    std::vector<std::string> all;
    std::optional<slack::Timestamp> after;
    do {
      const MessagePage page = Value(world_.reader.Thread(place_, Ts(thread_ts), after, limit));
      EXPECT_LE(page.messages.size(), limit);
      std::ranges::copy(TextsOf(page), std::back_inserter(all));
      after = page.next;
    } while (after);
    return all;
  }

  ViewsWorld world_;
  const Place place_ = PlaceOf("C1X");
};

// Spec: 001-68
TEST_F(ReaderTest, MessagesAreSortedByTimeAndNotByArrival) {
  for (const int number : {5, 1, 9, 3, 7}) {
    world_.archive.Post(Posted(TsOf(number), std::to_string(number)));
  }
  EXPECT_THAT(Read({}), ElementsAre("1", "3", "5", "7", "9"));
  EXPECT_THAT(Read({.newest_first = true}), ElementsAre("9", "7", "5", "3", "1"));
  EXPECT_THAT(Read({.from = Ts(TsOf(3)), .to = Ts(TsOf(7))}), ElementsAre("3", "5", "7"));
  EXPECT_THAT(Read({.from = Ts(TsOf(4))}), ElementsAre("5", "7", "9"));
  EXPECT_THAT(Read({.to = Ts(TsOf(4)), .newest_first = true}), ElementsAre("3", "1"));
  for (const uint32_t limit : {1u, 2u, 3u, 5u, 9u}) {
    EXPECT_THAT(ReadAll({.limit = limit}), ElementsAre("1", "3", "5", "7", "9"));
    EXPECT_THAT(ReadAll({.to = Ts(TsOf(7)), .newest_first = true, .limit = limit}),
                ElementsAre("7", "5", "3", "1"));
  }
}

// Cursors come from callers. No cursor may cause an error or show messages outside of the range.
TEST_F(ReaderTest, AnyCursorGivesTheMessagesAfterItInTheRange) {
  for (int number = 1; number <= 5; ++number) {
    world_.archive.Post(Posted(TsOf(number), std::to_string(number)));
  }
  for (const bool newest_first : {false, true}) {
    for (int after = 0; after <= 6; ++after) {
      std::vector<std::string> expected;
      for (int number = 2; number <= 4; ++number) {
        if (newest_first ? number < after : number > after) {
          expected.push_back(std::to_string(number));
        }
      }
      if (newest_first) std::ranges::reverse(expected);
      EXPECT_EQ(Read({.from = Ts(TsOf(2)),
                      .to = Ts(TsOf(4)),
                      .newest_first = newest_first,
                      .after = Ts(TsOf(after))}),
                expected)
          << after << newest_first;
    }
  }
  EXPECT_THAT(Read({.from = Ts(TsOf(4)), .to = Ts(TsOf(2))}), IsEmpty());
}

TEST_F(ReaderTest, AMessageBetweenTwoPagesIsNeitherLostNorShownTwice) {
  for (const int number : {1, 3, 5}) world_.archive.Post(Posted(TsOf(number), "m"));
  const MessagePage first = Value(world_.reader.Messages(place_, {.limit = 2}));
  ASSERT_EQ(first.next, Ts(TsOf(3)));
  world_.archive.Post(Posted(TsOf(2), "late"));
  world_.archive.Post(Posted(TsOf(4), "new"));
  EXPECT_THAT(Read({.after = first.next}), ElementsAre("new", "m"));
}

// A page of a large channel must cost as much as a page of a small one.
// Two queries find the ids of the channel, one reads the page, and one for each message looks for
// its replies.
TEST_F(ReaderTest, APageIsABoundedNumberOfReads) {
  class Counting : public testing::ForwardingTables {
   public:
    using ForwardingTables::ForwardingTables;
    Result<tables::Page> Query(const tables::QueryRequest& request) override {
      auto page = ForwardingTables::Query(request);
      scanned += page ? page->scanned : 0;
      ++queries;
      return page;
    }
    uint64_t scanned = 0;
    int queries = 0;
  };
  for (int number = 0; number < 90; ++number) {
    world_.archive.Post(Posted(TsOf(number), std::to_string(number)));
  }
  Counting tables(&world_.archive.tables());
  Reader reader({}, &tables, &world_.index, &world_.archive.clock());
  for (const auto& query :
       {MessageQuery{.limit = 10}, MessageQuery{.from = Ts(TsOf(50)), .limit = 10},
        MessageQuery{.newest_first = true, .after = Ts(TsOf(60)), .limit = 10}}) {
    tables.scanned = 0;
    tables.queries = 0;
    EXPECT_THAT(Value(reader.Messages(place_, query)).messages, SizeIs(10));
    EXPECT_EQ(tables.queries, 3 + 10);
    EXPECT_LE(tables.scanned, 11u);
  }
}

// ---- Threads ----

// Spec: 001-69
TEST_F(ReaderTest, AThreadHasItsRootAndItsRepliesInOrder) {
  world_.archive.Post(Posted(TsOf(3), "second reply", InThread(TsOf(1))));
  world_.archive.Post(Posted(TsOf(1), "root", InThread(TsOf(1))));
  world_.archive.Post(Posted(TsOf(2), "first reply", InThread(TsOf(1))));
  world_.archive.Post(Posted(TsOf(4), "not of the thread"));
  world_.archive.Post(Posted(TsOf(6), "of another", InThread(TsOf(5))));
  for (const uint32_t limit : {1u, 2u, 3u, 100u}) {
    EXPECT_THAT(ReadThread(TsOf(1), limit), ElementsAre("root", "first reply", "second reply"));
  }
}

// A root that had no reply when it was stored has no `parent`.
TEST_F(ReaderTest, ARootThatTheIndexDoesNotKnowIsFoundByItsKey) {
  world_.archive.Post(Posted(TsOf(1), "root"));
  world_.archive.Post(Posted(TsOf(3), "b", InThread(TsOf(1))));
  world_.archive.Post(Posted(TsOf(2), "a", InThread(TsOf(1))));
  for (const uint32_t limit : {1u, 2u, 3u, 100u}) {
    EXPECT_THAT(ReadThread(TsOf(1), limit), ElementsAre("root", "a", "b"));
  }
}

TEST_F(ReaderTest, AThreadWhoseRootWasNeverSeenHasItsReplies) {
  world_.archive.Post(Posted(TsOf(2), "a", InThread(TsOf(1))));
  EXPECT_THAT(ReadThread(TsOf(1), 10), ElementsAre("a"));
  EXPECT_THAT(ReadThread(TsOf(9), 10), IsEmpty());
}

// Spec: 001-70
TEST_F(ReaderTest, ThreadsOfTwoChannelsWithTheSameTsAreSeparate) {
  world_.archive.Post(Posted(TsOf(1), "root", InThread(TsOf(1))));
  world_.archive.Post(PostedIn("C2X", TsOf(1), "other root", InThread(TsOf(1))));
  // Between the replies are more rows of the other channel than a page has.
  for (int number = 2; number < 90; ++number) {
    world_.archive.Post(PostedIn("C2X", TsOf(number), "other", InThread(TsOf(1))));
  }
  world_.archive.Post(Posted(TsOf(50), "reply", InThread(TsOf(1))));
  world_.archive.Post(Posted(TsOf(95), "last", InThread(TsOf(1))));
  for (const uint32_t limit : {1u, 2u, 3u, 100u}) {
    EXPECT_THAT(ReadThread(TsOf(1), limit), ElementsAre("root", "reply", "last"));
  }
}

// ---- Channels ----

// Spec: 001-46
TEST_F(ReaderTest, TheNewestEventOfSeveralRowsCounts) {
  const auto put = [&](const std::string& at, const std::string& name) {
    Channel channel{.place = place_, .name_changes = {{Ts(at), name}}};
    channel.row_timestamp = at;
    channel.last_event_ts = Ts(at);
    Value(world_.archive.tables().Put({.table = "SlackArchive", .item = Encode(channel)}));
  };
  put(TsOf(3), "newest");
  put(TsOf(1), "oldest");
  put(TsOf(2), "middle");
  const auto channel = Value(world_.reader.FindChannel(place_));
  ASSERT_TRUE(channel.has_value());
  EXPECT_EQ(channel->name(), "newest");
  EXPECT_THAT(channel->names_history(), ElementsAre("newest", "middle", "oldest"));
}

TEST_F(ReaderTest, AChannelWithMessagesOnlyIsFound) {
  EXPECT_EQ(Value(world_.reader.FindChannel(place_)), std::nullopt);
  world_.archive.Post(Posted(TsOf(1), "hello"));
  const auto channel = Value(world_.reader.FindChannel(place_));
  ASSERT_TRUE(channel.has_value());
  EXPECT_EQ(channel->place, place_);
  EXPECT_EQ(channel->name(), std::nullopt);
}

TEST_F(ReaderTest, ChannelsComePageByPageInTheOrderOfTheirIds) {
  for (const int number : {4, 2, 0, 3, 1}) {
    world_.Tell(NamedChannelEvent("channel_created", fmt::format("C{}X", number),
                                  fmt::format("channel-{}", number), TsOf(number)));
  }
  world_.Tell(PostedIn("C9X", TsOf(9), "hello"));
  for (const uint32_t limit : {1u, 2u, 6u, 7u}) {
    std::vector<std::string> names;
    std::optional<std::string> after;
    do {
      const Reader::ChannelPage page = Value(world_.reader.Channels(place_.team, after, limit));
      EXPECT_LE(page.channels.size(), limit);
      for (const Channel& channel : page.channels) names.push_back(channel.name().value_or("-"));
      after = page.next;
    } while (after);
    EXPECT_THAT(names,
                ElementsAre("channel-0", "channel-1", "channel-2", "channel-3", "channel-4", "-"));
  }
}

}  // namespace
}  // namespace tidemark::archive
