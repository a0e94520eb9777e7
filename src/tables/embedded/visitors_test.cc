#include "tables/embedded/visitors.h"

#include <gtest/gtest.h>

namespace tidemark::embedded {
namespace {

// RocksDB must not be closed under a cursor.
TEST(VisitorsTest, StaysOpenWhileSomebodyIsInside) {
  Visitors visitors;
  Visit visit = visitors.Enter();
  ASSERT_TRUE(visit);
  EXPECT_FALSE(visitors.TryClose());
  EXPECT_TRUE(visitors.Enter()) << "it stayed open";
  visit.reset();
  EXPECT_TRUE(visitors.TryClose());
}

TEST(VisitorsTest, LetsNobodyInWhileItIsClosed) {
  Visitors visitors;
  ASSERT_TRUE(visitors.TryClose());
  EXPECT_FALSE(visitors.Enter());
  EXPECT_TRUE(visitors.TryClose()) << "nobody came in";
  visitors.Open();
  EXPECT_TRUE(visitors.Enter());
}

}  // namespace
}  // namespace tidemark::embedded
