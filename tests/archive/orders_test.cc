// Slack promises no order. What is told of one message ends in the same rows whatever comes first,
// however often it comes, and whoever else writes at the same time.
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

constexpr const char* kTs = "1620000000.000100";
constexpr const char* kEdit1 = "1620000010.000000";
constexpr const char* kEdit2 = "1620000020.000000";

std::string Create() { return Posted(kTs, "one"); }
std::string FirstEdit() {
  return Changed("1620000010.000300", Inner(kTs, "two", Edited(kEdit1)), Inner(kTs, "one"));
}
std::string SecondEdit() {
  return Changed("1620000020.000300", Inner(kTs, "three", Edited(kEdit2)),
                 Inner(kTs, "two", Edited(kEdit1)));
}
std::string Delete() {
  return Deleted("1620000030.000300", kTs, Inner(kTs, "three", Edited(kEdit2)));
}
// A link preview of the first body: no edit, and later than the message's own event.
std::string Unfurl() {
  return Changed("1620000005.000300", Inner(kTs, "one", R"(,"attachments":[{"id":1}])"),
                 Inner(kTs, "one"));
}
// A reply makes the message a thread's root.
std::string Replied() {
  const std::string more = fmt::format(R"(,"thread_ts":"{}","reply_count":1)", kTs);
  return Changed("1620000025.000300", Inner(kTs, "three", Edited(kEdit2) + more),
                 Inner(kTs, "three", Edited(kEdit2)));
}
std::string Buried() {
  return Changed("1620000028.000300", Tombstone(kTs), Inner(kTs, "three", Edited(kEdit2)));
}
std::string DeleteTombstone() { return Deleted("1620000040.000300", kTs, Tombstone(kTs)); }

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

// Every subset too: an event that never comes must not make the others depend on their order.
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
  ExpectOneEndOfAllSubsets({Create(), FirstEdit(), SecondEdit(), Delete()});
}

// The end is the right one, not only the same one.
TEST(OrdersTest, TheEndHasTheNewestTextAllVersionsAndTheDeletion) {
  ForEachOrder({Create(), FirstEdit(), SecondEdit(), Delete()}, [](const Events& order) {
    ArchiveWorld world;
    for (const std::string& event : order) world.Post(event);
    const item::Item row = world.MessageRow(kTs);
    EXPECT_EQ(TextIn(row, "text"), "three");
    EXPECT_EQ(TextIn(row, "updated_ts"), kEdit2);
    EXPECT_TRUE(IsTrueIn(row, "deleted"));
    EXPECT_EQ(TextIn(row, "deleted_ts"), "1620000030.000300");
    EXPECT_FALSE(row.Contains("stub"));
    EXPECT_FALSE(row.Contains("inferred"));
    EXPECT_EQ(TextIn(world.VersionRow(kTs, kTs), "text"), "one");
    EXPECT_EQ(TextIn(world.VersionRow(kTs, kEdit1), "text"), "two");
    EXPECT_FALSE(world.VersionRow(kTs, kTs).Contains("inferred"));
    EXPECT_EQ(world.Rows().size(), 3U);
  });
}

TEST(OrdersTest, LinkPreviewsAndRepliesDoNotDependOnOrder) {
  ExpectOneEnd({Create(), Unfurl(), FirstEdit(), SecondEdit(), Replied(), Delete()});
}

TEST(OrdersTest, TombstonesDoNotDependOnOrder) {
  ExpectOneEnd({Create(), SecondEdit(), Replied(), Buried(), DeleteTombstone()});
}

TEST(OrdersTest, TombstonesOfMessagesNeverSeenDoNotDependOnOrder) {
  ExpectOneEndOfAllSubsets({Unfurl(), Buried(), DeleteTombstone(), Delete()});
}

// Programs edit without saying so: chat.update has no `edited`, and later events show the edited
// text as if it had been there from the start.
TEST(OrdersTest, SilentEditsByProgramsDoNotDependOnOrder) {
  const std::string bot = R"(,"bot_id":"B1X")";
  const Events events = {
      Posted(kTs, "working", bot),
      Changed("1620000010.000300", Inner(kTs, "half", bot), Inner(kTs, "working", bot)),
      Changed("1620000020.000300", Inner(kTs, "done", bot), Inner(kTs, "half", bot)),
      Changed("1620000021.000300", Inner(kTs, "done", bot), Inner(kTs, "done", bot)),
      Deleted("1620000030.000300", kTs, Inner(kTs, "done", bot))};
  ExpectOneEnd(events);
  ArchiveWorld world;
  for (const std::string& event : events) world.Post(event);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"), "done");
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "updated_ts"), "1620000020.000300");
  EXPECT_EQ(TextIn(world.VersionRow(kTs, "1620000010.000300"), "text"), "half");
  EXPECT_EQ(TextIn(world.VersionRow(kTs, kTs), "text"), "working");
}

// Slack repeats what it got no answer to, up to a day later, when much else has come.
// Spec: 001-32
TEST(OrdersTest, ARedeliveryAtAnyPointChangesNothing) {
  const Events events = {Create(), Unfurl(), FirstEdit(), SecondEdit(), Buried()};
  ForEachOrder(events, [](const Events& order) {
    ArchiveWorld world;
    for (size_t posted = 0; posted < order.size(); ++posted) {
      world.Post(order[posted]);
      const auto rows = world.Rows();
      for (size_t again = 0; again <= posted; ++again) {
        ASSERT_EQ(world.Post(order[again]), Outcome::kUnchanged) << order[again];
      }
      ASSERT_EQ(world.Rows(), rows);
    }
  });
}

// Two listeners read the same rows and both write: the second one must notice.
TEST(OrdersTest, ListenersThatRaceLoseNothing) {
  const Events events = {Create(), Unfurl(), FirstEdit(), Delete()};
  const auto expected = RowsAfter(events);
  ForEachOrder(events, [&](const Events& order) {
    for (size_t first = 0; first + 1 < order.size(); ++first) {
      ArchiveWorld world;
      for (size_t i = 0; i < first; ++i) world.Post(order[i]);
      Plan plan = world.PlanOf(order[first]);
      Plan late_plan = world.PlanOf(order[first + 1]);
      ASSERT_TRUE(world.Write(std::move(plan)));
      // An event that changes nothing has nothing to lose.
      if (!late_plan.actions.empty() && !world.Write(std::move(late_plan))) {
        world.Post(order[first + 1]);
      }
      for (size_t i = first + 2; i < order.size(); ++i) world.Post(order[i]);
      if (late_plan.outcome == Outcome::kUnchanged) world.Post(order[first + 1]);
      ASSERT_EQ(world.RowsWithoutRevisions(), expected);
    }
  });
}

TEST(OrdersTest, ListenersOnManyThreadsEndInTheSameState) {
  const Events events = {Create(),  Unfurl(), FirstEdit(), SecondEdit(),
                         Replied(), Buried(), Delete(),    DeleteTombstone()};
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
  for (const std::string& event : order) world.Post(event);
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
