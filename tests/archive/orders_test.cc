// Slack does not promise an order. The events of one message must lead to the same rows in every
// order, with repeated deliveries, and with concurrent writers.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/archive/archive_world.h"
#include "tests/support/threads.h"

namespace tidemark::archive {
namespace {

using Events = std::vector<std::string>;

constexpr const char* kOrdersTs = "1620000000.000100";
constexpr const char* kEdit1 = "1620000010.000000";
constexpr const char* kEdit2 = "1620000020.000000";

std::string Create() { return Posted(kOrdersTs, "one"); }
std::string FirstEdit() {
  return Changed("1620000010.000300", Inner(kOrdersTs, "two", Edited(kEdit1)),
                 Inner(kOrdersTs, "one"));
}
std::string SecondEdit() {
  return Changed("1620000020.000300", Inner(kOrdersTs, "three", Edited(kEdit2)),
                 Inner(kOrdersTs, "two", Edited(kEdit1)));
}
std::string OrdersDelete() {
  return Deleted("1620000030.000300", kOrdersTs, Inner(kOrdersTs, "three", Edited(kEdit2)));
}
// A link preview of the first body: not an edit, and later than the message's own event.
std::string Unfurl() {
  return Changed(
      "1620000005.000300",
      Inner(kOrdersTs, "one", R"(,"attachments":[{"id":1,"from_url":"https://example.com/"}])"),
      Inner(kOrdersTs, "one"));
}
// A reply makes the message the root of a thread.
std::string Replied() {
  const std::string more = fmt::format(R"(,"thread_ts":"{}","reply_count":1)", kOrdersTs);
  return Changed("1620000025.000300", Inner(kOrdersTs, "three", Edited(kEdit2) + more),
                 Inner(kOrdersTs, "three", Edited(kEdit2)));
}
std::string Buried() {
  return Changed("1620000028.000300", Tombstone(kOrdersTs),
                 Inner(kOrdersTs, "three", Edited(kEdit2)));
}
std::string DeleteTombstone() {
  return Deleted("1620000040.000300", kOrdersTs, Tombstone(kOrdersTs));
}

std::string AsText(const Events& events) {
  std::string text = "events in this order:\n";
  for (const std::string& event : events) text += event + "\n";
  return text;
}

void ForEachOrder(Events events, const std::function<void(const Events&)>& visit) {
  std::sort(events.begin(), events.end());
  do {
    SCOPED_TRACE(AsText(events));
    visit(events);
    if (::testing::Test::HasFailure()) return;
  } while (std::next_permutation(events.begin(), events.end()));
}

std::vector<item::Item> RowsAfter(const Events& events) {
  ArchiveWorld world;
  for (const std::string& event : events) world.Post(event);
  return world.RowsWithoutRevisions();
}

void ExpectOneEnd(const Events& events) {
  const auto expected = RowsAfter(events);
  ASSERT_FALSE(expected.empty());
  ForEachOrder(events, [&](const Events& order) { ASSERT_EQ(RowsAfter(order), expected); });
}

// Every subset as well: without one event the others must not depend on their order.
void ExpectOneEndOfAllSubsets(const Events& events) {
  for (size_t chosen = 1; chosen < size_t{1} << events.size(); ++chosen) {
    Events subset;
    for (size_t i = 0; i < events.size(); ++i) {
      if (chosen >> i & 1) subset.push_back(events[i]);
    }
    ExpectOneEnd(subset);
    if (::testing::Test::HasFailure()) return;
  }
}

// Spec: 001-27, 001-28, 001-31
TEST(OrdersTest, CreateEditsAndDeleteEndInOneStateInAllOrders) {
  ExpectOneEndOfAllSubsets({Create(), FirstEdit(), SecondEdit(), OrdersDelete()});
}

// The result is also correct, not only the same.
TEST(OrdersTest, TheEndHasTheNewestTextAllVersionsAndTheDeletion) {
  ForEachOrder({Create(), FirstEdit(), SecondEdit(), OrdersDelete()}, [](const Events& order) {
    ArchiveWorld world;
    for (const std::string& event : order) world.Post(event);
    const item::Item row = world.MessageRow(kOrdersTs);
    EXPECT_EQ(TextIn(row, "text"), "three");
    EXPECT_EQ(TextIn(row, "updated_ts"), kEdit2);
    EXPECT_TRUE(IsTrueIn(row, "deleted"));
    EXPECT_EQ(TextIn(row, "deleted_ts"), "1620000030.000300");
    EXPECT_FALSE(row.Contains("stub"));
    EXPECT_FALSE(row.Contains("inferred"));
    EXPECT_EQ(TextIn(world.VersionRow(kOrdersTs, kOrdersTs), "text"), "one");
    EXPECT_EQ(TextIn(world.VersionRow(kOrdersTs, kEdit1), "text"), "two");
    EXPECT_FALSE(world.VersionRow(kOrdersTs, kOrdersTs).Contains("inferred"));
    EXPECT_EQ(world.Rows().size(), 3U);
  });
}

TEST(OrdersTest, LinkPreviewsAndRepliesDoNotDependOnOrder) {
  ExpectOneEnd({Create(), Unfurl(), FirstEdit(), SecondEdit(), Replied(), OrdersDelete()});
}

TEST(OrdersTest, TombstonesDoNotDependOnOrder) {
  ExpectOneEnd({Create(), SecondEdit(), Replied(), Buried(), DeleteTombstone()});
}

TEST(OrdersTest, TombstonesOfMessagesNeverSeenDoNotDependOnOrder) {
  ExpectOneEndOfAllSubsets({Unfurl(), Buried(), DeleteTombstone(), OrdersDelete()});
}

// Bots edit without an edit time: chat.update has no `edited`, and later events show the edited
// text as if it had been there from the start.
TEST(OrdersTest, SilentEditsByProgramsDoNotDependOnOrder) {
  const std::string bot = R"(,"bot_id":"B1X")";
  const Events events = {
      Posted(kOrdersTs, "working", bot),
      Changed("1620000010.000300", Inner(kOrdersTs, "half", bot), Inner(kOrdersTs, "working", bot)),
      Changed("1620000020.000300", Inner(kOrdersTs, "done", bot), Inner(kOrdersTs, "half", bot)),
      Changed("1620000021.000300", Inner(kOrdersTs, "done", bot), Inner(kOrdersTs, "done", bot)),
      Deleted("1620000030.000300", kOrdersTs, Inner(kOrdersTs, "done", bot))};
  ExpectOneEnd(events);
  ArchiveWorld world;
  for (const std::string& event : events) world.Post(event);
  EXPECT_EQ(TextIn(world.MessageRow(kOrdersTs), "text"), "done");
  EXPECT_EQ(TextIn(world.MessageRow(kOrdersTs), "updated_ts"), "1620000020.000300");
  EXPECT_EQ(TextIn(world.VersionRow(kOrdersTs, "1620000010.000300"), "text"), "half");
  EXPECT_EQ(TextIn(world.VersionRow(kOrdersTs, kOrdersTs), "text"), "working");
}

// Slack gives the times of edits in whole seconds, so all of these are of the same time or before
// the post.
// Review: A1
TEST(OrdersTest, EditsWithinTheSecondOfThePostDoNotDependOnOrder) {
  const std::string ts = "1620000000.100000";
  const std::string edited = Edited("1620000000.000000");
  const std::string preview = R"(,"attachments":[{"id":1,"from_url":"https://example.com/"}])";
  const Events events = {
      Posted(ts, "one"), Changed("1620000000.200000", Inner(ts, "two", edited), Inner(ts, "one")),
      Changed("1620000000.300000", Inner(ts, "three", edited), Inner(ts, "two", edited)),
      Changed("1620000000.400000", Inner(ts, "three", edited + preview),
              Inner(ts, "three", edited)),
      Deleted("1620000030.000300", ts, Inner(ts, "three", edited))};
  ExpectOneEndOfAllSubsets(events);
  ArchiveWorld world;
  for (const std::string& event : events) world.Post(event);
  EXPECT_EQ(TextIn(world.MessageRow(ts), "text"), "three");
  EXPECT_EQ(TextIn(world.VersionRow(ts, "1620000000.000000"), "text"), "two");
  EXPECT_EQ(TextIn(world.VersionRow(ts, ts), "text"), "one");
}

// Two edits may have the same time, and their events need not show what was before. The last edit
// is of a later second, so the rows of the others are not read by their second.
TEST(OrdersTest, EditsOfTheSameTimeDoNotDependOnOrder) {
  const std::string edited = Edited(kEdit1);
  const Events events = {
      Create(), Changed("1620000010.200000", Inner(kOrdersTs, "two", edited), ""),
      Changed("1620000010.700000", Inner(kOrdersTs, "three", edited), ""),
      Changed("1620000011.300000", Inner(kOrdersTs, "two", edited), ""), SecondEdit()};
  ExpectOneEnd(events);
  ForEachOrder(events, [&](const Events& order) {
    ArchiveWorld world;
    for (const std::string& event : order) world.Post(event);
    for (const std::string& event : order) {
      ASSERT_EQ(world.Post(event), ArchiveOutcome::kUnchanged) << event;
    }
  });
  ArchiveWorld world;
  for (const std::string& event : events) world.Post(event);
  EXPECT_EQ(TextIn(world.VersionRow(kOrdersTs, kEdit1), "text"), "two");
  EXPECT_EQ(TextIn(world.VersionRow(kOrdersTs, "1620000010.700000"), "text"), "three");
  EXPECT_EQ(TextIn(world.VersionRow(kOrdersTs, "1620000011.300000"), "text"), "two");
  EXPECT_EQ(TextIn(world.MessageRow(kOrdersTs), "text"), "three");
}

// Slack repeats an event without an answer up to a day later, after many other events.
// Spec: 001-32
TEST(OrdersTest, ARedeliveryAtAnyPointChangesNothing) {
  const Events events = {Create(), Unfurl(), FirstEdit(), SecondEdit(), Buried()};
  ForEachOrder(events, [](const Events& order) {
    ArchiveWorld world;
    for (size_t posted = 0; posted < order.size(); ++posted) {
      world.Post(order[posted]);
      const auto rows = world.Rows();
      for (size_t again = 0; again <= posted; ++again) {
        ASSERT_EQ(world.Post(order[again]), ArchiveOutcome::kUnchanged) << order[again];
      }
      ASSERT_EQ(world.Rows(), rows);
    }
  });
}

// Two listeners read the same rows and both write: the second write must be refused.
TEST(OrdersTest, ConcurrentListenersLoseNothing) {
  const Events events = {Create(), Unfurl(), FirstEdit(), OrdersDelete()};
  const auto expected = RowsAfter(events);
  ForEachOrder(events, [&](const Events& order) {
    for (size_t first = 0; first + 1 < order.size(); ++first) {
      ArchiveWorld world;
      for (size_t i = 0; i < first; ++i) world.Post(order[i]);
      Plan plan = world.PlanOf(order[first]);
      Plan late_plan = world.PlanOf(order[first + 1]);
      ASSERT_TRUE(world.Write(std::move(plan)));
      // An event that changes nothing cannot be lost.
      if (!late_plan.actions.empty() && !world.Write(std::move(late_plan))) {
        world.Post(order[first + 1]);
      }
      for (size_t i = first + 2; i < order.size(); ++i) world.Post(order[i]);
      if (late_plan.outcome == ArchiveOutcome::kUnchanged) world.Post(order[first + 1]);
      ASSERT_EQ(world.RowsWithoutRevisions(), expected);
    }
  });
}

TEST(OrdersTest, ListenersOnManyThreadsEndInTheSameState) {
  const Events events = {Create(),  Unfurl(), FirstEdit(),    SecondEdit(),
                         Replied(), Buried(), OrdersDelete(), DeleteTombstone()};
  const auto expected = RowsAfter(events);
  for (int round = 0; round < 5; ++round) {
    ArchiveWorld world;
    tidemark::testing::RunThreads(4, [&](int thread) {
      Events order = events;
      std::rotate(order.begin(), order.begin() + 2 * thread, order.end());
      for (const std::string& event : order) world.Post(event);
    });
    ASSERT_EQ(world.RowsWithoutRevisions(), expected);
  }
}

// ---- Channels ----

std::string ChannelEvent(std::string_view type, std::string_view event_ts, std::string_view more) {
  return fmt::format(R"({{"type":"{}","event_ts":"{}"{}}})", type, event_ts, more);
}

std::string Rename(std::string_view event_ts, std::string_view name) {
  return ChannelEvent("channel_rename", event_ts,
                      fmt::format(R"(,"channel":{{"id":"C1X","name":"{}"}})", name));
}

const std::string kCreated =
    ChannelEvent("channel_created", "1620000001.000000",
                 R"(,"channel":{"id":"C1X","name":"first","is_private":false})");
const std::string kArchived =
    ChannelEvent("channel_archive", "1620000004.000000", R"(,"channel":"C1X")");
const std::string kUnarchived =
    ChannelEvent("channel_unarchive", "1620000005.000000", R"(,"channel":"C1X")");

// Without its key, which is the time of the event that came first.
item::Item ChannelAfter(const Events& order) {
  ArchiveWorld world;
  for (const std::string& event : order) world.PostOfPublic(event);
  EXPECT_EQ(world.Rows().size(), 1U);
  item::Item row = world.RowsWithoutRevisions().front();
  row.Erase("timestamp");
  return row;
}

// Spec: 001-37
TEST(OrdersTest, RenamesAndArchivingEndInOneStateInAllOrders) {
  const Events events = {kCreated, Rename("1620000002.000000", "second"),
                         Rename("1620000003.000000", "third"), kArchived, kUnarchived};
  const item::Item expected = ChannelAfter(events);
  EXPECT_EQ(TextIn(expected, "name"), "third");
  EXPECT_EQ(*expected.Find("names_history"), item::Value(item::List{"third", "second", "first"}));
  EXPECT_FALSE(expected.Contains("archived"));
  ForEachOrder(events, [&](const Events& order) { ASSERT_EQ(ChannelAfter(order), expected); });
}

TEST(OrdersTest, ConversionsOfAChannelEndInOneStateInAllOrders) {
  const Events events = {
      kCreated, Rename("1620000002.000000", "second"),
      ChannelEvent("channel_convert_to_private", "1620000006.000000", R"(,"channel":"C1X")"),
      ChannelEvent("channel_convert_to_public", "1620000007.000000", R"(,"channel":"C1X")"),
      ChannelEvent("channel_convert_to_private", "1620000008.000000", R"(,"channel":"C1X")")};
  const item::Item expected = ChannelAfter(events);
  EXPECT_EQ(TextIn(expected, "visibility"), "private");
  EXPECT_TRUE(IsTrueIn(expected, "was_public"));
  ForEachOrder(events, [&](const Events& order) { ASSERT_EQ(ChannelAfter(order), expected); });
}

}  // namespace
}  // namespace tidemark::archive
