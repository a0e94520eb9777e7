// How errors of the stores are translated, how often calls are retried, and how the rate limit
// spreads calls.
#include <set>
#include <string>
#include <utility>
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
  EXPECT_EQ(loaded.error().code, ErrorCode::kThrottled);
  EXPECT_TRUE(IsRetryable(loaded.error().code));
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(world.sleeper.slept(), Waits({100, 200, 400, 800, 1600}));
}

// A write has the same tries as a read: its ConditionalWriter makes none of its own.
TEST(RetriesTest, AWriteIsRetriedInOnePlace) {
  World world;
  int calls = 0;
  for (const auto& [fault, tries] :
       {std::pair(testing::Throttled(), 6), std::pair(testing::LostRequest(), 4)}) {
    calls = 0;
    world.tables.decide = [&, fault = fault](testing::Operation) {
      ++calls;
      return std::optional(fault);
    };
    EXPECT_FALSE(world.rows.Replace(world.NewContext(), std::nullopt, Row{.id = "CHG-1"}));
    EXPECT_EQ(calls, tries);
  }
}

// The waits of the seed for answers that do not come.
// Spec: 002-60
TEST(RetriesTest, NetworkErrorsAreTriedAgainThreeTimes) {
  World world;
  world.tables.decide = [](testing::Operation) { return std::optional(testing::LostRequest()); };
  const auto loaded = world.rows.Load(world.NewContext(), "CHG-1");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, ErrorCode::kUnknown);
  EXPECT_TRUE(IsRetryable(loaded.error().code));
  EXPECT_EQ(world.sleeper.slept(), Waits({1000, 2000, 4000}));
}

// A success after failures ends the retries.
TEST(RetriesTest, ReturnsAsSoonAsTheStoreAnswers) {
  World world;
  int left = 2;
  world.tables.decide = [&](testing::Operation) {
    return left-- > 0 ? std::optional(testing::Throttled()) : std::nullopt;
  };
  EXPECT_TRUE(world.rows.Load(world.NewContext(), "CHG-1").has_value());
  EXPECT_EQ(world.sleeper.slept(), Waits({100, 200}));
}

// A retry would not help.
// Spec: 002-61
TEST(RetriesTest, DoesNotRetryOtherErrors) {
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
    EXPECT_FALSE(IsRetryable(loaded.error().code));
    EXPECT_EQ(calls, 1);
  }
  EXPECT_TRUE(world.sleeper.slept().empty());
  world.tables.decide = nullptr;
  EXPECT_FALSE(world.rows.Load(world.NewContext(), "CHG-1")->has_value());
}

// All retries together respect one deadline.
TEST(RetriesTest, NeverWaitsPastTheDeadline) {
  World world;
  world.tables.decide = [](testing::Operation) { return std::optional(testing::Throttled()); };
  const Context context{.deadline = Deadline::After(world.clock, milliseconds(650))};
  const auto loaded = world.rows.Load(context, "CHG-1");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, ErrorCode::kThrottled);
  EXPECT_EQ(world.sleeper.slept(), Waits({100, 200}));
}

// When the caller gives up during a wait, the call returns at once, with the last error.
TEST(RetriesTest, StopsAtOnceWhenTheCallerGivesUp) {
  World world;
  int calls = 0;
  world.tables.decide = [&](testing::Operation) {
    ++calls;
    return std::optional(testing::Throttled());
  };
  std::stop_source source;
  world.sleeper.on_sleep = [&](std::chrono::nanoseconds) { source.request_stop(); };
  const auto loaded = world.rows.Load(world.NewContext(source.get_token()), "CHG-1");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, ErrorCode::kCancelled);
  EXPECT_NE(loaded.error().message.find("the last attempt failed: "), std::string::npos)
      << loaded.error().message;
  EXPECT_EQ(calls, 1);
}

// Retries are counted for the log.
TEST(RetriesTest, CountsRetries) {
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

// Every attempt counts towards the rate limit, also a retry.
TEST(RetriesTest, EveryAttemptCountsTowardsTheRate) {
  World world({.rate_per_second = 1});
  int left = 1;
  world.tables.decide = [&](testing::Operation) {
    return left-- > 0 ? std::optional(testing::Throttled()) : std::nullopt;
  };
  EXPECT_TRUE(world.rows.Load(world.NewContext(), "CHG-1").has_value());
  EXPECT_EQ(world.sleeper.slept(), Waits({100, 900}));
}

// The object store does not report throttling. Its errors are retried like network errors.
TEST(RetriesTest, RetriesTheObjectStoreLikeTheNetwork) {
  World world;
  world.objects.decide = [](testing::ObjectOperation) {
    return std::optional(testing::ObjectsAway());
  };
  const auto read = world.store.Read(world.NewContext(), "CHG-1");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kUnreachable);
  EXPECT_EQ(world.sleeper.slept(), Waits({1000, 2000, 4000}));
}

}  // namespace
}  // namespace tidemark::documents
