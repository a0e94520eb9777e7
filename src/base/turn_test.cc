#include "base/turn.h"

#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

class TurnTest : public ::testing::Test {
 protected:
  void AtEnd(const int& owner, const std::string& name) {
    Turn::AtEnd(&owner, [this, name] { done_ += name; });
  }

  const int a_ = 0;
  const int b_ = 0;
  std::string done_;
};

TEST_F(TurnTest, CallsOnceForEachOwnerWhenItEnds) {
  {
    const Turn turn;
    AtEnd(a_, "a");
    AtEnd(b_, "b");
    AtEnd(a_, "again");
    EXPECT_EQ(done_, "");
  }
  EXPECT_EQ(done_, "ab");
}

TEST_F(TurnTest, CallsAtOnceOutsideOfATurn) {
  AtEnd(a_, "a");
  AtEnd(a_, "b");
  EXPECT_EQ(done_, "ab");
}

TEST_F(TurnTest, AnInnerTurnIsPartOfTheOuterOne) {
  std::optional<Turn> outer(std::in_place);
  {
    const Turn inner;
    AtEnd(a_, "a");
  }
  EXPECT_EQ(done_, "");
  outer.reset();
  EXPECT_EQ(done_, "a");
}

// What the end of a turn hands over does not wait for a turn that may never come.
TEST_F(TurnTest, CallsAtItsEndAreNotPartOfIt) {
  {
    const Turn turn;
    Turn::AtEnd(&a_, [this] { AtEnd(a_, "a"); });
  }
  EXPECT_EQ(done_, "a");
}

TEST_F(TurnTest, DoesNotDelayCallsOfOtherThreads) {
  const Turn turn;
  std::thread([this] { AtEnd(a_, "a"); }).join();
  EXPECT_EQ(done_, "a");
}

}  // namespace
}  // namespace tidemark
