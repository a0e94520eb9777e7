#include "apps/archive/keys.h"

#include <gtest/gtest.h>

namespace tidemark::archive {
namespace {

const Place kKeysPlace{.team = slack::TeamId::Parse("T1X").value(),
                       .channel = slack::ChannelId::Parse("C1X").value()};
const slack::Timestamp kTs = slack::Timestamp::Parse("1620000000.000200").value();

// The keys are a documented format: other programs query by them.
TEST(KeysTest, AreAsTheFormatSays) {
  EXPECT_EQ(MessagesOf(kKeysPlace), "message#T1X#C1X");
  EXPECT_EQ(VersionsOf(kKeysPlace, kTs), "meta#T1X#versions#C1X#1620000000.000200");
  EXPECT_EQ(RowsOfChannel(kKeysPlace), "channel#T1X#C1X");
  EXPECT_EQ(ChannelIndexOf(kKeysPlace.team), "channelindex#T1X");
  EXPECT_EQ(ReactionsOf(kKeysPlace), "meta#T1X#reactions#C1X");
  EXPECT_EQ(PinsOf(kKeysPlace), "meta#T1X#pins#C1X");
  EXPECT_EQ(UserRowsOf(kKeysPlace.team, "U1X"), "meta#T1X#user#U1X");
  EXPECT_EQ(TeamRowsOf(kKeysPlace.team), "meta#T1X#team");
  EXPECT_EQ(EmojiRowsOf(kKeysPlace.team, "parrot"), "meta#T1X#emoji#parrot");
  EXPECT_EQ(MovesOf(kKeysPlace), "meta#T1X#moved#C1X");
  EXPECT_EQ(CoverageOf(kKeysPlace.team), "meta#T1X#coverage");
  EXPECT_EQ(CoverageOf(kKeysPlace), "meta#T1X#coverage#C1X");
  EXPECT_EQ(ThreadOf(kKeysPlace.team, kTs), "thread#T1X#1620000000.000200");
}

TEST(KeysTest, TellWhatARowIs) {
  EXPECT_EQ(PlaceOfMessages("message#T1X#C1X"), kKeysPlace);
  EXPECT_EQ(PlaceOfChannelRow("channel#T1X#C1X"), kKeysPlace);
}

// Rows of one kind are found by their prefix, so rows of other kinds must not match it.
TEST(KeysTest, OfOtherRowsHaveNoPlace) {
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
