#include "servers/api/page.h"

#include <gtest/gtest.h>

namespace tidemark::api {
namespace {

TEST(PageTest, HasADefaultLimit) {
  const PageRequest page = ParsePage("").value();
  EXPECT_EQ(page.limit, 100u);
  EXPECT_EQ(page.cursor, std::nullopt);
}

TEST(PageTest, TakesLimitAndCursor) {
  const PageRequest page = ParsePage("limit=1000&cursor=T1%3AEv1").value();
  EXPECT_EQ(page.limit, 1000u);
  EXPECT_EQ(page.cursor, "T1:Ev1");
}

// A page of everything would be as large as the table.
TEST(PageTest, RefusesInvalidLimits) {
  for (const char* query :
       {"limit=0", "limit=1001", "limit=", "limit=-1", "limit=1x", "limit=99999999999"}) {
    EXPECT_FALSE(ParsePage(query)) << query;
  }
}

TEST(PageTest, RefusesUnknownParameters) { EXPECT_FALSE(ParsePage("offset=3")); }

}  // namespace
}  // namespace tidemark::api
