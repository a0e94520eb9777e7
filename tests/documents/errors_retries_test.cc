// What the stores' errors become, how often they are tried again, and how calls are spread.
#include <set>
#include <string>
#include <vector>

#include "tests/documents/world.h"

namespace tidemark::documents {
namespace {

using std::chrono::milliseconds;

std::vector<milliseconds> Waits(std::initializer_list<int> lengths) {
  std::vector<milliseconds> waits;
  for (const int length : lengths) waits.emplace_back(length);
  return waits;
}

// The waits of the seed for a table that is too busy, and the error when it stays so.
// Spec: 002-59
TEST(RetriesTest, ThrottlingIsTriedAgainFiveTimes) {
  World world;
  int calls = 0;
  world.tables.decide = [&](testing::Operation) {
    ++calls;
    return std::optional(testing::Throttled());
  };
  const auto loaded = world.rows.Load(world.NewContext(), "CHG-1");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().type, CacheErrorType::kThrottling);
  EXPECT_TRUE(loaded.error().retryable);
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(world.pauser.pauses(), Waits({100, 200, 400, 800, 1600}));
}

// The waits of the seed for answers that do not come.
// Spec: 002-60
TEST(RetriesTest, NetworkErrorsAreTriedAgainThreeTimes) {
  World world;
  world.tables.decide = [](testing::Operation) { return std::optional(testing::LostRequest()); };
  const auto loaded = world.rows.Load(world.NewContext(), "CHG-1");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().type, CacheErrorType::kNetwork);
  EXPECT_TRUE(loaded.error().retryable);
  EXPECT_EQ(world.pauser.pauses(), Waits({1000, 2000, 4000}));
}

// A success between failures ends the waiting.
TEST(RetriesTest, GoesOnWhenTheStoreAnswers) {
  World world;
  int left = 2;
  world.tables.decide = [&](testing::Operation) {
    return left-- > 0 ? std::optional(testing::Throttled()) : std::nullopt;
  };
  EXPECT_TRUE(world.rows.Load(world.NewContext(), "CHG-1").has_value());
  EXPECT_EQ(world.pauser.pauses(), Waits({100, 200}));
}

// What is wrong stays wrong.
// Spec: 002-61
TEST(RetriesTest, WhatIsWrongOrMissingIsNotTriedAgain) {
  World world;
  for (const ErrorCode code :
       {ErrorCode::kInvalid, ErrorCode::kNotFound, ErrorCode::kDenied, ErrorCode::kCorrupt}) {
    int calls = 0;
    world.tables.decide = [&](testing::Operation) {
      ++calls;
      return std::optional(testing::Fault{{code, "for the test"}});
    };
    const auto loaded = world.rows.Load(world.NewContext(), "CHG-1");
    ASSERT_FALSE(loaded.has_value());
    EXPECT_FALSE(loaded.error().retryable);
    EXPECT_EQ(calls, 1);
  }
  EXPECT_TRUE(world.pauser.pauses().empty());
  world.tables.decide = nullptr;
  EXPECT_FALSE(world.rows.Load(world.NewContext(), "CHG-1")->has_value());
}

// All retries together respect one deadline.
TEST(RetriesTest, NoWaitGoesPastTheDeadline) {
  World world;
  world.tables.decide = [](testing::Operation) { return std::optional(testing::Throttled()); };
  const Context context{.deadline = Deadline::After(world.clock, milliseconds(650))};
  const auto loaded = world.rows.Load(context, "CHG-1");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().type, CacheErrorType::kThrottling);
  EXPECT_EQ(world.pauser.pauses(), Waits({100, 200}));
}

// Who gives up while waiting is not made to wait, and is told what happened last.
TEST(RetriesTest, StopsAtOnceWhenTheCallerGivesUp) {
  World world;
  int calls = 0;
  world.tables.decide = [&](testing::Operation) {
    ++calls;
    return std::optional(testing::Throttled());
  };
  std::stop_source source;
  world.pauser.on_pause = [&](std::chrono::nanoseconds) { source.request_stop(); };
  const auto loaded = world.rows.Load(world.NewContext(source.get_token()), "CHG-1");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().type, CacheErrorType::kCancelled);
  ASSERT_EQ(loaded.error().causes.size(), 1U);
  EXPECT_EQ(calls, 1);
}

// What was tried again is counted for the log.
TEST(RetriesTest, CountsWhatWasTriedAgain) {
  World world;
  int left = 3;
  world.tables.decide = [&](testing::Operation) {
    return left-- > 0 ? std::optional(testing::Throttled()) : std::nullopt;
  };
  Tally tally;
  Context context = world.NewContext();
  context.tally = &tally;
  EXPECT_TRUE(world.rows.Load(context, "CHG-1").has_value());
  EXPECT_EQ(tally.retries, 3U);
}

// Every attempt counts towards the rate, also one that is a retry.
TEST(RetriesTest, EveryAttemptTakesAToken) {
  World world({.rate_per_second = 1});
  int left = 1;
  world.tables.decide = [&](testing::Operation) {
    return left-- > 0 ? std::optional(testing::Throttled()) : std::nullopt;
  };
  EXPECT_TRUE(world.rows.Load(world.NewContext(), "CHG-1").has_value());
  EXPECT_EQ(world.pauser.pauses(), Waits({100, 900}));
}

// Objects have no throttling of their own: what is away is tried again like the network.
TEST(RetriesTest, ObjectsAreTriedAgainLikeTheNetwork) {
  World world;
  world.objects.decide = [](testing::ObjectOperation) {
    return std::optional(testing::ObjectsAway());
  };
  const auto read = world.store.Read(world.NewContext(), "CHG-1");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().type, CacheErrorType::kNetwork);
  EXPECT_EQ(world.pauser.pauses(), Waits({1000, 2000, 4000}));
}

}  // namespace
}  // namespace tidemark::documents
