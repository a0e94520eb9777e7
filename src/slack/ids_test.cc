#include "slack/ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::slack {
namespace {

using ::testing::HasSubstr;

template <typename Id>
std::string ErrorOf(std::string_view text) {
  auto id = Id::Parse(text);
  return id ? "parsed" : id.error().message;
}

// Every prefix that Slack gives to a kind is one of its ids.
TEST(IdsTest, AcceptsThePrefixesOfEachKind) {
  for (const char* text : {"T01234567", "E01234567"}) EXPECT_TRUE(TeamId::Parse(text)) << text;
  for (const char* text : {"U01234567", "W01234567"}) EXPECT_TRUE(UserId::Parse(text)) << text;
  for (const char* text : {"C01234567", "G01234567", "D01234567"}) {
    EXPECT_TRUE(ChannelId::Parse(text)) << text;
  }
  EXPECT_EQ(TeamId::Parse("T01234567")->text(), "T01234567");
}

// With an id of another kind, two different triples could have the same key.
// Spec: 000-04
TEST(IdsTest, RefusesThePrefixOfAnotherKind) {
  EXPECT_THAT(ErrorOf<TeamId>("U01234567"), HasSubstr("team_id must begin with one of TE"));
  EXPECT_THAT(ErrorOf<UserId>("T01234567"), HasSubstr("user_id must begin with one of UW"));
  EXPECT_THAT(ErrorOf<ChannelId>("U01234567"), HasSubstr("channel_id must begin with one of CGD"));
  EXPECT_THAT(ErrorOf<UserId>("B01234567"), HasSubstr("user_id must begin"));
  EXPECT_THAT(ErrorOf<ChannelId>("701234567"), HasSubstr("channel_id must begin"));
}

// None of these characters may get into a key. The error names the field.
TEST(IdsTest, RefusesOtherCharactersAndNamesTheField) {
  for (std::string_view text :
       {"T0123456a", "T012 4567", "T012#4567", "T012_4567", "t01234567", "T0123\n567", "T01234567 ",
        "T\xc3\x84"
        "1234"}) {
    EXPECT_THAT(ErrorOf<TeamId>(text), HasSubstr("team_id must consist of")) << text;
  }
  EXPECT_EQ(ErrorOf<UserId>(""), "user_id is empty");
  EXPECT_THAT(ErrorOf<ChannelId>(std::string_view("C\0"
                                                  "123",
                                                  5)),
              HasSubstr("channel_id"));
}

TEST(IdsTest, BoundsTheLength) {
  EXPECT_THAT(ErrorOf<TeamId>("T1"), HasSubstr("team_id has 2 characters; it must have 3 to 40"));
  EXPECT_TRUE(TeamId::Parse("T12"));
  EXPECT_TRUE(TeamId::Parse("T" + std::string(39, '1')));
  EXPECT_THAT(ErrorOf<TeamId>("T" + std::string(40, '1')), HasSubstr("has 41 characters"));
}

// The refused text may be hostile, and error messages are logged.
TEST(IdsTest, NeverRepeatsTheRefusedText) {
  EXPECT_THAT(ErrorOf<TeamId>("Tforged#id"), ::testing::Not(HasSubstr("forged")));
}

}  // namespace
}  // namespace tidemark::slack
