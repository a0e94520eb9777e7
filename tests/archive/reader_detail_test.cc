// One message with all that is known of it, what the policy hides of a deleted one, and permalinks
// across changes of a channel's id.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/archive/views_world.h"

namespace tidemark::archive {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kReaderDetailTs[] = "1699999000.000100";

std::string Reacted(std::string_view type, std::string_view reaction, std::string_view user,
                    std::string_view at) {
  return fmt::format(R"({{"type":"{}","user":"{}","reaction":"{}","item":{{"type":"message",)"
                     R"("channel":"C1X","ts":"{}"}},"event_ts":"{}"}})",
                     type, user, reaction, kReaderDetailTs, at);
}

std::string Pinned(std::string_view type, std::string_view at) {
  return fmt::format(R"({{"type":"{}","user":"U1X","channel_id":"C1X","item":{{"type":"message",)"
                     R"("channel":"C1X","message":{{"ts":"{}"}}}},"event_ts":"{}"}})",
                     type, kReaderDetailTs, at);
}

std::string UserChanged(std::string_view name, std::string_view at) {
  return fmt::format(
      R"({{"type":"user_change","user":{{"id":"U1X","name":"ann","profile":)"
      R"({{"display_name":"{}","real_name":"Ann","image_72":"https://a.test/{}"}}}},)"
      R"("event_ts":"{}"}})",
      name, name, at);
}

constexpr char kReaderDetailWithFile[] =
    R"(,"files":[{"id":"F1X","name":"secret.txt","mimetype":"text/plain","size":3,)"
    R"("url_private":"https://files.slack.com/secret.txt"}])";

class DetailTest : public ::testing::Test {
 protected:
  void Open(const DeletedPolicy& policy) { world_.emplace(ViewsWorld::Options{.deleted = policy}); }
  void PostAndEdit() {
    world_->archive.Post(Posted(kReaderDetailTs, "first", kReaderDetailWithFile));
    world_->archive.Post(Changed("1699999010.000000",
                                 Inner(kReaderDetailTs, "second", Edited("1699999010.000000")),
                                 Inner(kReaderDetailTs, "first")));
  }
  void Delete(const char* at = "1699999020.000000") {
    world_->archive.Post(Deleted(at, kReaderDetailTs,
                                 Inner(kReaderDetailTs, "second", Edited("1699999010.000000"))));
  }
  MessageDetail Detail() {
    auto detail = Value(world_->reader.Detail(place_, Ts(kReaderDetailTs)));
    CHECK(detail.has_value());
    return *std::move(detail);
  }

  const Place place_ = PlaceOf("C1X");
  std::optional<ViewsWorld> world_ = std::make_optional<ViewsWorld>();
};

TEST_F(DetailTest, HasAllVersionsTheShownOneLast) {
  PostAndEdit();
  const MessageDetail detail = Detail();
  ASSERT_THAT(detail.versions, SizeIs(2));
  EXPECT_EQ(detail.versions[0].text, "first");
  EXPECT_EQ(detail.versions[0].version, Ts(kReaderDetailTs));
  EXPECT_EQ(detail.versions[1].text, "second");
  EXPECT_EQ(detail.versions[1].version, Ts("1699999010.000000"));
  EXPECT_EQ(detail.message.body->text, "second");
  EXPECT_EQ(Value(world_->reader.Detail(place_, Ts("1699999000.000101"))), std::nullopt);
}

TEST_F(DetailTest, HasTheReactionsThatAreThereNow) {
  world_->archive.Post(Posted(kReaderDetailTs, "hello"));
  world_->archive.Post(Reacted("reaction_added", "tada", "U2X", "1699999003.000000"));
  world_->archive.Post(Reacted("reaction_added", "eyes", "U3X", "1699999001.000000"));
  world_->archive.Post(Reacted("reaction_added", "tada", "U1X", "1699999002.000000"));
  world_->archive.Post(Reacted("reaction_added", "gone", "U1X", "1699999004.000000"));
  world_->archive.Post(Reacted("reaction_removed", "gone", "U1X", "1699999005.000000"));
  const auto reactions = Detail().reactions;
  ASSERT_THAT(reactions, SizeIs(2));
  EXPECT_EQ(reactions[0].reaction, "eyes");
  EXPECT_EQ(reactions[1].reaction, "tada");
  EXPECT_THAT(reactions[1].users, ElementsAre("U1X", "U2X"));
}

TEST_F(DetailTest, IsPinnedUntilThePinIsTakenAway) {
  world_->archive.Post(Posted(kReaderDetailTs, "hello"));
  EXPECT_FALSE(Detail().pinned);
  world_->archive.Post(Pinned("pin_added", "1699999001.000000"));
  EXPECT_TRUE(Detail().pinned);
  world_->archive.Post(Pinned("pin_removed", "1699999002.000000"));
  EXPECT_FALSE(Detail().pinned);
}

// The author is shown as they were when they wrote the message.
TEST_F(DetailTest, TheAuthorIsShownAsTheyWereThen) {
  world_->archive.Post(Posted(kReaderDetailTs, "hello"));
  EXPECT_EQ(Detail().author, std::nullopt);
  world_->archive.Post(UserChanged("later", "1699999900.000000"));
  EXPECT_EQ(Detail().author->display_name, "later") << "better than nothing";
  world_->archive.Post(UserChanged("then", "1699998000.000000"));
  world_->archive.Post(UserChanged("before", "1699997000.000000"));
  const auto author = Detail().author;
  ASSERT_TRUE(author.has_value());
  EXPECT_EQ(author->display_name, "then");
  EXPECT_EQ(author->user, "U1X");
  EXPECT_EQ(author->avatar, "https://a.test/then");
}

// ---- What is seen of a deleted message ----

// Everything that a reader can get of the message, as one text.
std::string AllOf(ViewsWorld* world, const Place& place) {
  std::string all;
  const auto add = [&](const Message& message) {
    if (message.body) all += message.body->text.value_or("") + message.body->raw_event;
    for (const FileMeta& file : message.traits.files) all += file.name;
    for (const std::string& uri : message.files_s3) all += uri;
    all += message.files_fetch_error;
  };
  for (const Message& message : Value(world->reader.Messages(place, {})).messages) add(message);
  for (const Message& message :
       Value(world->reader.Thread(place, Ts(kReaderDetailTs), std::nullopt, 10)).messages) {
    add(message);
  }
  add(*Value(world->reader.FindMessage(place, Ts(kReaderDetailTs))));
  const auto detail = *Value(world->reader.Detail(place, Ts(kReaderDetailTs)));
  add(detail.message);
  for (const Body& body : detail.versions) all += body.text.value_or("") + body.raw_event;
  return all;
}

TEST_F(DetailTest, ADeletedMessageIsShownWhenThePolicySaysSo) {
  Open({.text = DeletedText::kShow});
  PostAndEdit();
  Delete();
  const MessageDetail detail = Detail();
  EXPECT_TRUE(detail.message.deleted_ts.has_value());
  EXPECT_EQ(detail.message.body->text, "second");
  EXPECT_THAT(detail.versions, SizeIs(2));
  EXPECT_THAT(detail.message.traits.files, SizeIs(1));
  EXPECT_FALSE(world_->reader.Hides(detail.message));
}

TEST_F(DetailTest, NothingOfARedactedMessageIsSeenAnywhere) {
  Open({.text = DeletedText::kRedact});
  PostAndEdit();
  Value(world_->archive.tables().Update(
      {.table = "SlackArchive",
       .key = KeyOf("message#T1X#C1X", kReaderDetailTs),
       .update = "SET files_s3 = :s, files_fetch_error = :e",
       .values = {{":s", item::StringSet({"s3://b/slack/T1X/C1X/secret"})}, {":e", "secret"}}}));
  EXPECT_FALSE(AllOf(&*world_, place_).empty());
  Delete();
  EXPECT_EQ(AllOf(&*world_, place_), "");
  const MessageDetail detail = Detail();
  EXPECT_TRUE(detail.message.deleted_ts.has_value()) << "that it was there is told";
  EXPECT_TRUE(world_->reader.Hides(detail.message));
  EXPECT_THAT(detail.versions, IsEmpty());
}

// The time decides, not whether the sweep has already run.
TEST_F(DetailTest, AMessageToBePurgedIsHiddenFromTheSecondItIsDue) {
  Open({.text = DeletedText::kPurge, .purge_after = std::chrono::seconds(100)});
  PostAndEdit();
  Delete("1700000000.000000");
  EXPECT_EQ(Detail().message.body->text, "second");
  world_->archive.clock().SetNow(1'700'000'099);
  EXPECT_FALSE(AllOf(&*world_, place_).empty());
  world_->archive.clock().SetNow(1'700'000'100);
  EXPECT_EQ(AllOf(&*world_, place_), "");
}

TEST_F(DetailTest, APolicyAppliesToDeletedMessagesOnly) {
  for (const DeletedText text : {DeletedText::kShow, DeletedText::kRedact, DeletedText::kPurge}) {
    Open({.text = text, .purge_after = std::chrono::seconds(0)});
    PostAndEdit();
    EXPECT_EQ(Detail().message.body->text, "second");
  }
}

// ---- Permalinks ----

std::string IdChanged(std::string_view from, std::string_view to, std::string_view at) {
  return fmt::format(R"({{"type":"channel_id_changed","old_channel_id":"{}","new_channel_id":"{}",)"
                     R"("event_ts":"{}"}})",
                     from, to, at);
}

class ResolveTest : public DetailTest {
 protected:
  std::string Resolve(const std::string& channel, const std::string& ts) {
    const auto message = Value(world_->reader.FindMessage(PlaceOf(channel), Ts(ts)));
    return message ? message->place.channel.text() : "nowhere";
  }
};

TEST_F(ResolveTest, FindsAMessageUnderEveryIdOfItsChannel) {
  world_->archive.Post(NamedChannelEvent("channel_created", "C1X", "general", "1600000000.000000"));
  world_->archive.Post(PostedIn("C1X", "1600000001.000000", "under the first"));
  world_->archive.Post(IdChanged("C1X", "C2X", "1600000002.000000"));
  world_->archive.Post(PostedIn("C2X", "1600000003.000000", "under the second"));
  world_->archive.Post(IdChanged("C2X", "C3X", "1600000004.000000"));
  world_->archive.Post(PostedIn("C3X", "1600000005.000000", "under the third"));
  for (const std::string channel : {"C1X", "C2X", "C3X"}) {
    EXPECT_EQ(Resolve(channel, "1600000001.000000"), "C1X") << channel;
    EXPECT_EQ(Resolve(channel, "1600000003.000000"), "C2X") << channel;
    EXPECT_EQ(Resolve(channel, "1600000005.000000"), "C3X") << channel;
    EXPECT_EQ(Resolve(channel, "1600000009.000000"), "nowhere") << channel;
  }
  EXPECT_EQ(Resolve("C9X", "1600000001.000000"), "nowhere");
}

// Ids that refer to each other must not lead to an endless loop.
TEST_F(ResolveTest, StopsInACycleOfIds) {
  world_->archive.Post(IdChanged("C1X", "C2X", "1600000002.000000"));
  world_->archive.Post(IdChanged("C2X", "C1X", "1600000003.000000"));
  EXPECT_EQ(Resolve("C1X", "1600000001.000000"), "nowhere");
}

}  // namespace
}  // namespace tidemark::archive
