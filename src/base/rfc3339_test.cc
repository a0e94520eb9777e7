#include "base/rfc3339.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Rfc3339Test, ReadsWhatProgramsWrite) {
  EXPECT_EQ(ParseRfc3339("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(ParseRfc3339("2024-10-17T00:04:16Z"), 1'729'123'456);
  EXPECT_EQ(ParseRfc3339("2024-10-17T00:04:16.999999999Z"), 1'729'123'456);
  EXPECT_EQ(ParseRfc3339("2024-10-16T20:04:16-04:00"), 1'729'123'456);
  EXPECT_EQ(ParseRfc3339("2024-10-17T05:34:16+05:30"), 1'729'123'456);
  EXPECT_EQ(ParseRfc3339("2024-02-29T00:00:00z"), 1'709'164'800);
  // Go writes this for an unset time.
  EXPECT_LT(ParseRfc3339("0001-01-01T00:00:00Z"), 0);
}

TEST(Rfc3339Test, RefusesTheRest) {
  for (const char* text :
       {"", "2024-10-17", "2024-10-17T00:04:16", "2024-13-01T00:00:00Z", "2023-02-29T00:00:00Z",
        "2024-10-17T24:00:00Z", "2024-10-17T00:60:00Z", "2024-10-17T00:00:61Z",
        "2024-10-17T00:00:00.Z", "2024-10-17T00:00:00+24:00", "2024-10-17T00:00:00Zx",
        "24-10-17T00:00:00Z", "2024-1o-17T00:00:00Z", "2024-10-17T00:00:00+0000"}) {
    EXPECT_EQ(ParseRfc3339(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tidemark
