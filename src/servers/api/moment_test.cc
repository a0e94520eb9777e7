// A time must be read exactly as it was meant.
#include "servers/api/moment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::api {
namespace {

std::string Start(std::string_view text) {
  const auto moment = ParseMoment("from", text, Bound::kStart);
  return moment ? moment->text() : moment.error().message;
}

std::string End(std::string_view text) {
  const auto moment = ParseMoment("to", text, Bound::kEnd);
  return moment ? moment->text() : moment.error().message;
}

TEST(MomentTest, KeepsASlackTimestamp) {
  EXPECT_EQ(Start("1714557600.000100"), "1714557600.000100");
  EXPECT_EQ(End("1714557600.000100"), "1714557600.000100");
}

TEST(MomentTest, IncludesTheWholeSecond) {
  EXPECT_EQ(Start("1714557600"), "1714557600.000000");
  EXPECT_EQ(End("1714557600"), "1714557600.999999");
  EXPECT_EQ(Start("2024-05-01T10:00:00Z"), "1714557600.000000");
  EXPECT_EQ(End("2024-05-01T10:00:00Z"), "1714557600.999999");
}

TEST(MomentTest, IncludesTheWholeDay) {
  EXPECT_EQ(Start("2024-05-01"), "1714521600.000000");
  EXPECT_EQ(End("2024-05-01"), "1714607999.999999");
  EXPECT_EQ(Start("2024-02-29"), "1709164800.000000");
}

TEST(MomentTest, RefusesOtherTextsAndNamesTheAllowedForms) {
  for (const char* text :
       {"", "yesterday", "2024-5-1", "2024-02-30", "2023-02-29", "2024-13-01",
        "2024-05-01T24:00:00Z", "2024-05-01T10:00:00", "2024-05-01T10:00:00+01:00",
        "2024-05-01 10:00:00Z", "-1", "+1714557600", "17145576000000000000000", "99",
        "1714557600.1", " 1714557600", "1995-01-01", "9999-01-01"}) {
    EXPECT_THAT(Start(text), ::testing::HasSubstr("'from' should be")) << text;
  }
}

}  // namespace
}  // namespace tidemark::api
