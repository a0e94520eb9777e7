#include "apps/archive/message.h"

#include <gtest/gtest.h>

namespace tidemark::archive {
namespace {

slack::Timestamp At(const char* text) { return slack::Timestamp::Parse(text).value(); }

const Place kPlace{.team = slack::TeamId::Parse("T1X").value(),
                   .channel = slack::ChannelId::Parse("C1X").value()};
const slack::Timestamp kTs = At("1620000000.000200");
const slack::Timestamp kEdit = At("1620000010.000000");

Message Full() {
  return {.place = kPlace,
          .ts = kTs,
          .traits = {.user = "U1X",
                     .bot_id = "B1X",
                     .username = "robot",
                     .subtype = "bot_message",
                     .thread_ts = "1620000000.000100",
                     .files = {{.id = "F1", .name = "a", .size = 3, .is_external = true}}},
          .body = Body{.version = kEdit,
                       .event_ts = At("1620000010.000300"),
                       .inferred = true,
                       .text = "hello",
                       .edited_by = "U2X",
                       .raw_event = "{}"},
          .deleted_ts = At("1620000020.000000"),
          .raw_event_dropped = true,
          .purged = true,
          .revision = 7,
          .files_s3 = {"s3://bucket/a"},
          .files_fetch_failed = true,
          .files_fetch_error = "F2: gone"};
}

// A row is all that is kept: what it does not carry is lost.
TEST(MessageTest, IsItsRow) {
  const auto decoded = DecodeMessage(Encode(Full()));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->traits, Full().traits);
  EXPECT_EQ(decoded->body, Full().body);
  EXPECT_EQ(decoded->deleted_ts, Full().deleted_ts);
  EXPECT_EQ(decoded->files_s3, Full().files_s3);
  EXPECT_EQ(Encode(*decoded), Encode(Full()));
}

TEST(MessageTest, AStubHasNoBody) {
  const item::Item row = Encode(Message{.place = kPlace, .ts = kTs});
  EXPECT_TRUE(row.Contains("stub"));
  EXPECT_FALSE(DecodeMessage(row)->body.has_value());
}

// Versions come from the same bodies and must not gain or lose anything on the way.
TEST(VersionTest, IsItsRow) {
  Body body = *Full().body;
  body.raw_event.clear();
  const auto decoded = DecodeVersion(Encode(Version{.place = kPlace, .ts = kTs, .body = body}));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->body, body);
  EXPECT_EQ(decoded->ts, kTs);
  EXPECT_EQ(decoded->place, kPlace);
}

TEST(MessageTest, RefusesRowsOfOtherKinds) {
  for (const item::Item& row :
       {item::Item(), KeyOf("message#T1X#C1X", "yesterday"),
        KeyOf("channel#T1X#C1X", "1620000000.000200"), item::Item{{"itemId", true}}}) {
    ASSERT_FALSE(DecodeMessage(row).has_value());
    EXPECT_EQ(DecodeMessage(row).error().code, ErrorCode::kCorrupt);
    EXPECT_FALSE(DecodeVersion(row).has_value());
  }
}

// Rows of the program that this one follows have no revision and dates of another form.
TEST(MessageTest, TakesRowsOfAnotherProgramAsFarAsTheyGo) {
  item::Item row = KeyOf("message#T1X#C1X", "1620000000.000200");
  row.Set("text", "hello");
  row.Set("updated_ts", "2025-11-01T00:00:00Z");
  row.Set("deleted", true);
  row.Set("files", item::List{item::Map{{"id", "F2"}}, "junk", item::Map{{"id", "F1"}}});
  const auto message = DecodeMessage(row);
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->body->version, kTs);
  EXPECT_EQ(message->body->text, "hello");
  EXPECT_EQ(message->deleted_ts, kTs);
  EXPECT_EQ(message->revision, 1);
  ASSERT_EQ(message->traits.files.size(), 2U);
  EXPECT_EQ(message->traits.files[0].id, "F1");
}

Body Told(const slack::Timestamp& version, const char* event_ts, bool inferred, const char* text) {
  return {.version = version, .event_ts = At(event_ts), .inferred = inferred, .text = text};
}

// Joining is commutative and idempotent, whatever two bodies meet.
TEST(JoinTest, OfAnyTwoBodiesIsTheSameInBothOrders) {
  const std::vector<Body> bodies = {
      Told(kTs, "1620000000.000200", false, "a"),   Told(kTs, "1620000005.000000", false, "b"),
      Told(kTs, "1620000006.000000", true, "c"),    Told(kTs, "1620000007.000000", true, "d"),
      Told(kEdit, "1620000010.000300", false, "e"), Told(kEdit, "1620000012.000300", true, "f")};
  const auto joined = [](std::initializer_list<Body> told) {
    MessageState state{.message = {.place = kPlace, .ts = kTs}};
    for (const Body& body : told) Join({.ts = kTs, .traits = {}, .body = body}, &state);
    return state;
  };
  for (const Body& left : bodies) {
    for (const Body& right : bodies) {
      const MessageState one = joined({left, right});
      const MessageState other = joined({right, left, right});
      EXPECT_EQ(one.message.body, other.message.body) << *left.text << *right.text;
      EXPECT_EQ(one.older, other.older) << *left.text << *right.text;
    }
  }
}

TEST(JoinTest, OfBodiesToldInPassingTheEarliestCounts) {
  MessageState state{.message = {.place = kPlace, .ts = kTs}};
  Join({.ts = kTs, .traits = {}, .body = Told(kTs, "1620000007.000000", true, "later")}, &state);
  Join({.ts = kTs, .traits = {}, .body = Told(kTs, "1620000006.000000", true, "first")}, &state);
  EXPECT_EQ(state.message.body->text, "first");
}

TEST(JoinTest, OfSeveralDeletionsTheEarliestCounts) {
  MessageState state{.message = {.place = kPlace, .ts = kTs}};
  JoinDeletion(At("1620000030.000000"), &state);
  JoinDeletion(At("1620000020.000000"), &state);
  JoinDeletion(At("1620000040.000000"), &state);
  EXPECT_EQ(state.message.deleted_ts, At("1620000020.000000"));
}

}  // namespace
}  // namespace tidemark::archive
