#include "apps/archive/channel.h"

#include <gtest/gtest.h>

#include "apps/archive/attributes.h"

namespace tidemark::archive {
namespace {

slack::Timestamp At(int second) { return slack::Timestamp::FromSeconds(1'620'000'000 + second); }

const Place kPlace{.team = slack::TeamId::Parse("T1X").value(),
                   .channel = slack::ChannelId::Parse("C1X").value()};

Channel New() { return {.place = kPlace, .row_timestamp = At(1).text()}; }
ChannelNews NewsAt(int second) { return {.channel = kPlace.channel, .event_ts = At(second)}; }

// Only the row is stored, so it must have every field.
TEST(ChannelTest, IsItsRow) {
  Channel channel = New();
  channel.name_changes = {{At(3), "new"}, {At(2), "old"}};
  channel.visibility = {Visibility::kPrivate, At(4)};
  channel.was_public = true;
  channel.archived = {true, At(5)};
  channel.deleted = true;
  channel.topic = {"", At(6)};
  channel.purpose = {"all", At(7)};
  channel.prev_channel_id = "G1X";
  channel.raw_event = "{}";
  channel.last_event_ts = At(7);
  channel.revision = 3;
  const auto decoded = DecodeChannel(Encode(channel));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(Encode(*decoded), Encode(channel));
  EXPECT_EQ(decoded->visibility, channel.visibility);
  EXPECT_EQ(decoded->archived, channel.archived);
  EXPECT_EQ(decoded->topic, channel.topic);
  EXPECT_EQ(decoded->name_changes, channel.name_changes);
}

// A channel that is not archived has no attribute for that, but a time: an older event must not
// undo it.
TEST(ChannelTest, RemembersWhenItWasUnarchived) {
  Channel channel = New();
  ChannelNews unarchived = NewsAt(5);
  unarchived.archived = false;
  Join(unarchived, &channel);
  const auto decoded = DecodeChannel(Encode(channel));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->archived, (Register<bool>{false, At(5)}));
}

// A listing that a clock dated ahead is the present name until its time. Meanwhile each further
// listing says another name, and would fill the history with copies of it.
TEST(ChannelTest, AListingRepeatsNoNameOfItsTime) {
  const auto join = [](int second, const std::string& name, bool is_listing, Channel* channel) {
    ChannelNews news = NewsAt(second);
    news.name = name;
    news.is_listing = is_listing;
    Join(news, channel);
  };
  Channel channel = New();
  join(1000, "old", true, &channel);
  join(10, "new", false, &channel);
  for (int second = 20; second < 30; ++second) join(second, "new", true, &channel);
  EXPECT_EQ(channel.name_changes, (std::vector<NameChange>{{At(1000), "old"}, {At(10), "new"}}));
  // A channel that gets an earlier name back is told apart from a repetition.
  join(40, "newer", true, &channel);
  join(50, "new", true, &channel);
  EXPECT_EQ(channel.name_changes.size(), 4u);
  // After that time the list is right.
  join(1001, "new", true, &channel);
  EXPECT_EQ(channel.name(), "new");
}

// A visibility that is only implied by the kind of an event loses to an event that states it.
TEST(ChannelTest, AnImpliedValueLosesToAnEvent) {
  ChannelNews implied = NewsAt(9);
  implied.implies_public = true;
  ChannelNews told = NewsAt(2);
  told.visibility = Visibility::kPrivate;
  for (const bool implied_first : {true, false}) {
    Channel channel = New();
    Join(implied_first ? implied : told, &channel);
    Join(implied_first ? told : implied, &channel);
    EXPECT_EQ(channel.visibility.value, Visibility::kPrivate);
    EXPECT_TRUE(channel.EverPublic());
  }
}

TEST(ChannelTest, ImpliedVisibilityHasNoTimeInItsRow) {
  Channel channel = New();
  ChannelNews implied = NewsAt(9);
  implied.implies_public = true;
  Join(implied, &channel);
  const auto decoded = DecodeChannel(Encode(channel));
  EXPECT_EQ(decoded->visibility, (Register<Visibility>{Visibility::kPublic, std::nullopt}));
}

TEST(ChannelTest, KeepsTheNewestOfManyNameChanges) {
  Channel channel = New();
  for (int i = 60; i > 0; --i) {
    ChannelNews rename = NewsAt(i);
    rename.name = std::to_string(i);
    Join(rename, &channel);
  }
  EXPECT_EQ(channel.name(), "60");
  EXPECT_EQ(channel.name_changes.size(), kMaxNameChanges);
  EXPECT_EQ(channel.names_history().size(), kMaxNames);
  EXPECT_EQ(channel.names_history().back(), "41");
}

// Rows of the seed's program have no times for their fields.
TEST(ChannelTest, ARowWithoutTimesHasTheTimeOfItsKey) {
  item::Item row = KeyOf("channel#T1X#C1X", At(4).text());
  row.Set("name", "general");
  row.Set("archived", true);
  row.Set("topic", "news");
  const auto channel = DecodeChannel(row);
  ASSERT_TRUE(channel.has_value());
  EXPECT_EQ(channel->name_changes, (std::vector<NameChange>{{At(4), "general"}}));
  EXPECT_EQ(channel->archived, (Register<bool>{true, At(4)}));
  EXPECT_EQ(channel->topic, (Register<std::string>{"news", At(4)}));
  EXPECT_EQ(channel->visibility, Register<Visibility>());
}

TEST(ChannelTest, RefusesRowsOfOtherKinds) {
  for (const item::Item& row :
       {item::Item(), KeyOf("channel#T1X#C1X", "1"), KeyOf("channelindex#T1X", "000000")}) {
    ASSERT_FALSE(DecodeChannel(row).has_value());
    EXPECT_EQ(DecodeChannel(row).error().code, ErrorCode::kCorrupt);
  }
}

// Spec: 001-46
TEST(ChannelTest, TheNewestOfSeveralRowsIsTheOneToWrite) {
  Channel first = New();
  ChannelNews created = NewsAt(1);
  created.name = "first";
  created.topic = "old";
  Join(created, &first);
  Channel second = New();
  second.row_timestamp = At(2).text();
  ChannelNews renamed = NewsAt(2);
  renamed.name = "second";
  Join(renamed, &second);
  for (const auto& rows :
       {std::vector{Encode(first), Encode(second)}, std::vector{Encode(second), Encode(first)}}) {
    const auto joined = JoinRows(rows);
    ASSERT_TRUE(joined.has_value());
    EXPECT_EQ(joined->row_timestamp, At(2).text());
    EXPECT_EQ(joined->name(), "second");
    EXPECT_EQ(joined->topic.value, "old");
  }
}

}  // namespace
}  // namespace tidemark::archive
