#include "apps/archive/message.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark::archive {
namespace {

slack::Timestamp At(const char* text) { return slack::Timestamp::Parse(text).value(); }

const Place kMessagePlace{.team = slack::TeamId::Parse("T1X").value(),
                          .channel = slack::ChannelId::Parse("C1X").value()};
const slack::Timestamp kMessageTs = At("1620000000.000200");
const slack::Timestamp kEdit = At("1620000010.000000");

Message Full() {
  return {.place = kMessagePlace,
          .ts = kMessageTs,
          .traits = {.user = "U1X",
                     .bot_id = "B1X",
                     .username = "robot",
                     .subtype = "bot_message",
                     .thread_ts = "1620000000.000100",
                     .files = {{.id = "F1",
                                .name = "a",
                                .size = 3,
                                .is_external = true,
                                .seen_ts = "1620000010.000300"}}},
          .body = Body{.version = kEdit,
                       .event_ts = At("1620000010.000300"),
                       .inferred = true,
                       .text = "hello",
                       .edited_by = "U2X",
                       .raw_event = "{}",
                       .raw_event_dropped = true},
          .deleted_ts = At("1620000020.000000"),
          .purged = true,
          .revision = 7,
          .files_s3 = {"s3://bucket/a"},
          .files_fetch_failed = true,
          .files_fetch_error = "F2: gone",
          .files_info = {{.id = "F3", .name = "told by files.info"}}};
}

// Only the row is stored, so it must have every field.
TEST(MessageTest, IsItsRow) {
  const auto decoded = DecodeMessage(Encode(Full()));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->traits, Full().traits);
  EXPECT_EQ(decoded->body, Full().body);
  EXPECT_EQ(decoded->deleted_ts, Full().deleted_ts);
  EXPECT_EQ(decoded->files_s3, Full().files_s3);
  EXPECT_EQ(decoded->files_info, Full().files_info);
  EXPECT_EQ(Encode(*decoded), Encode(Full()));
}

// A person renames a file after the post. The names sort the other way round than the events.
// Review: A7
TEST(MessageTest, AFileHasTheNameThatTheLatestEventShows) {
  const Traits posted{.files = {{.id = "F1", .name = "zebra.txt", .seen_ts = "1620000000.000200"}}};
  const Traits edited{.files = {{.id = "F1", .name = "ant.txt", .seen_ts = "1620000010.000300"}}};
  const Traits again{.files = {{.id = "F1", .name = "bee.txt", .seen_ts = "1620000020.000300"}}};
  std::vector<const Traits*> order = {&posted, &edited, &again};
  std::ranges::sort(order);
  do {
    // Through the row after each step: what it does not keep cannot be compared later.
    Message message{.place = kMessagePlace, .ts = kMessageTs};
    for (const Traits* const told : order) {
      Join(*told, &message.traits);
      message = DecodeMessage(Encode(message)).value();
    }
    EXPECT_EQ(message.traits.files.at(0).name, "bee.txt");
  } while (std::ranges::next_permutation(order).found);
}

// Review: A7
TEST(MessageTest, AFileThatEventsOnlyNameIsShownAsFilesInfoSays) {
  Message message{.place = kMessagePlace, .ts = kMessageTs};
  message.traits.files = {{.id = "F1", .mode = "file_access"}, {.id = "F2", .name = "own"}};
  message.files_info = {{.id = "F1", .name = "plan.pdf", .mimetype = "application/pdf", .size = 9},
                        {.id = "F2", .name = "other"}};
  const std::vector<FileMeta> shown = ShownFiles(message);
  EXPECT_EQ(shown[0].name, "plan.pdf");
  EXPECT_EQ(shown[0].mimetype, "application/pdf");
  EXPECT_EQ(shown[0].size, 9);
  EXPECT_EQ(shown[1].name, "own");
}

TEST(MessageTest, AStubHasNoBody) {
  const item::Item row = Encode(Message{.place = kMessagePlace, .ts = kMessageTs});
  EXPECT_TRUE(row.Contains("stub"));
  EXPECT_FALSE(DecodeMessage(row)->body.has_value());
}

// Encoding and decoding a version must not change its body.
TEST(VersionTest, IsItsRow) {
  Body body = *Full().body;
  body.raw_event.clear();
  const auto decoded =
      DecodeVersion(Encode(Version{.place = kMessagePlace, .ts = kMessageTs, .body = body}));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->body, body);
  EXPECT_EQ(decoded->ts, kMessageTs);
  EXPECT_EQ(decoded->place, kMessagePlace);
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

// Rows of the seed's program have no revision, and dates of another format.
TEST(MessageTest, ReadsWhatIsValidInRowsOfAnotherProgram) {
  item::Item row = KeyOf("message#T1X#C1X", "1620000000.000200");
  row.Set("text", "hello");
  row.Set("updated_ts", "2025-11-01T00:00:00Z");
  row.Set("deleted", true);
  row.Set("files", item::List{item::Map{{"id", "F2"}}, "junk", item::Map{{"id", "F1"}}});
  const auto message = DecodeMessage(row);
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->body->version, kMessageTs);
  EXPECT_EQ(message->body->text, "hello");
  EXPECT_EQ(message->deleted_ts, kMessageTs);
  EXPECT_EQ(message->revision, 1);
  ASSERT_EQ(message->traits.files.size(), 2U);
  EXPECT_EQ(message->traits.files[0].id, "F1");
}

Body Told(const slack::Timestamp& version, const char* event_ts, bool inferred, const char* text) {
  return {.version = version, .event_ts = At(event_ts), .inferred = inferred, .text = text};
}

// Joining is commutative and idempotent for any two bodies.
TEST(JoinTest, GivesTheSameForTwoBodiesInBothOrders) {
  const std::vector<Body> bodies = {Told(kMessageTs, "1620000000.000200", false, "a"),
                                    Told(kMessageTs, "1620000005.000000", false, "b"),
                                    Told(kMessageTs, "1620000006.000000", true, "c"),
                                    Told(kMessageTs, "1620000007.000000", true, "d"),
                                    Told(kEdit, "1620000010.000300", false, "e"),
                                    Told(kEdit, "1620000012.000300", true, "f")};
  const auto joined = [](std::initializer_list<Body> told) {
    MessageState state{.message = {.place = kMessagePlace, .ts = kMessageTs}};
    for (const Body& body : told) Join({.ts = kMessageTs, .traits = {}, .body = body}, &state);
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

TEST(JoinTest, OfTwoInferredBodiesTheEarlierCounts) {
  MessageState state{.message = {.place = kMessagePlace, .ts = kMessageTs}};
  Join({.ts = kMessageTs,
        .traits = {},
        .body = Told(kMessageTs, "1620000007.000000", true, "later")},
       &state);
  Join({.ts = kMessageTs,
        .traits = {},
        .body = Told(kMessageTs, "1620000006.000000", true, "first")},
       &state);
  EXPECT_EQ(state.message.body->text, "first");
}

TEST(JoinTest, OfSeveralDeletionsTheEarliestCounts) {
  MessageState state{.message = {.place = kMessagePlace, .ts = kMessageTs}};
  JoinDeletion(At("1620000030.000000"), &state);
  JoinDeletion(At("1620000020.000000"), &state);
  JoinDeletion(At("1620000040.000000"), &state);
  EXPECT_EQ(state.message.deleted_ts, At("1620000020.000000"));
}

}  // namespace
}  // namespace tidemark::archive
