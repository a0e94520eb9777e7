#include "apps/archive/keys.h"

#include <gtest/gtest.h>

namespace tidemark::archive {
namespace {

const Place kPlace{.team = slack::TeamId::Parse("T1X").value(),
                   .channel = slack::ChannelId::Parse("C1X").value()};
const slack::Timestamp kTs = slack::Timestamp::Parse("1620000000.000200").value();

// The keys are a format: other programs query by them.
TEST(KeysTest, AreAsTheFormatSays) {
  EXPECT_EQ(MessagesOf(kPlace), "message#T1X#C1X");
  EXPECT_EQ(VersionsOf(kPlace, kTs), "meta#T1X#versions#C1X#1620000000.000200");
  EXPECT_EQ(RowsOfChannel(kPlace), "channel#T1X#C1X");
  EXPECT_EQ(ChannelIndexOf(kPlace.team), "channelindex#T1X");
  EXPECT_EQ(ReactionsOf(kPlace), "meta#T1X#reactions#C1X");
  EXPECT_EQ(PinsOf(kPlace), "meta#T1X#pins#C1X");
  EXPECT_EQ(UserRowsOf(kPlace.team, "U1X"), "meta#T1X#user#U1X");
  EXPECT_EQ(TeamRowsOf(kPlace.team), "meta#T1X#team");
  EXPECT_EQ(EmojiRowsOf(kPlace.team, "parrot"), "meta#T1X#emoji#parrot");
  EXPECT_EQ(MovesOf(kPlace), "meta#T1X#moved#C1X");
  EXPECT_EQ(CoverageOf(kPlace.team), "meta#T1X#coverage");
  EXPECT_EQ(CoverageOf(kPlace), "meta#T1X#coverage#C1X");
  EXPECT_EQ(ThreadOf(kPlace.team, kTs), "thread#T1X#1620000000.000200");
}

TEST(KeysTest, SayWhatARowIs) {
  EXPECT_EQ(PlaceOfMessages("message#T1X#C1X"), kPlace);
  EXPECT_EQ(PlaceOfChannelRow("channel#T1X#C1X"), kPlace);
}

// The rows of one kind are found by their prefix: others must not pass for them.
TEST(KeysTest, OfOtherRowsArePlacesOfNone) {
  for (const char* item_id :
       {"", "message", "message#", "message#T1X", "message#T1X#", "message##C1X",
        "message#T1X#C1X#more", "messages#T1X#C1X", "channel#T1X#C1X", "message#C1X#T1X"}) {
    EXPECT_EQ(PlaceOfMessages(item_id), std::nullopt) << item_id;
  }
  for (const char* item_id : {"channelindex#T1X", "message#T1X#C1X", "channelindex#T1X#C1X"}) {
    EXPECT_EQ(PlaceOfChannelRow(item_id), std::nullopt) << item_id;
  }
}

}  // namespace
}  // namespace tidemark::archive
