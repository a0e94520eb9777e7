#include "base/later.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace tidemark {
namespace {

using std::chrono::seconds;

// Puts the answer of a Later into a variable when it comes.
template <typename T>
void Collect(Later<T> later, std::optional<Result<T>>* into) {
  std::move(later).Then([into](Result<T> answer) { *into = std::move(answer); });
}

Later<int> HalfLater(int number) {
  if (number % 2 != 0) return Invalid("the number is odd");
  return number / 2;
}

TEST(LaterTest, GivesAnAnswerThatIsThereAlready) {
  EXPECT_EQ(*HalfLater(4).Wait(), 2);
  EXPECT_EQ(HalfLater(3).Wait().error().code, ErrorCode::kInvalid);
}

TEST(LaterTest, RunsACallbackOnTheThreadThatFulfils) {
  auto [promise, later] = MakeLater<int>();
  std::thread::id ran_on;
  int got = 0;
  std::move(later).Then([&](Result<int> answer) {
    ran_on = std::this_thread::get_id();
    got = *answer;
  });
  EXPECT_EQ(got, 0);
  std::thread producer([&, taken = std::move(promise)]() mutable { taken.Fulfil(7); });
  const std::thread::id id = producer.get_id();
  producer.join();
  EXPECT_EQ(got, 7);
  EXPECT_EQ(ran_on, id);
}

TEST(LaterTest, RunsACallbackAtOnceWhenTheAnswerCameFirst) {
  auto [promise, later] = MakeLater<int>();
  promise.Fulfil(7);
  std::optional<Result<int>> got;
  Collect(std::move(later), &got);
  EXPECT_EQ(**got, 7);
}

// A value, a Result and a Later all continue the chain, whether the answer is there or comes later.
TEST(LaterTest, ChainsValuesResultsAndLaters) {
  for (const bool is_ready : {true, false}) {
    auto [promise, later] = MakeLater<int>();
    if (is_ready) {
      promise.Fulfil(12);
      later = Later<int>(12);
    }
    Later<std::string> chain =
        std::move(later)
            .Then([](const Result<int>& number) { return *number * 2; })
            .Then([](Result<int> number) -> Result<int> { return number; })
            .Then([](const Result<int>& number) { return HalfLater(*number); })
            .Then([](const Result<int>& number) { return std::to_string(*number); });
    if (!is_ready) promise.Fulfil(12);
    EXPECT_EQ(*chain.Wait(), "12");
  }
}

TEST(LaterTest, PassesErrorsThroughSteps) {
  auto [promise, later] = MakeLater<int>();
  Later<int> chain = std::move(later).Then([](Result<int> number) -> Later<int> {
    const int even = TRY(std::move(number));
    return HalfLater(even);
  });
  promise.Fulfil(Error{ErrorCode::kDenied, "not yours"});
  EXPECT_EQ(chain.Wait().error().code, ErrorCode::kDenied);
}

TEST(LaterTest, WaitsForAnInnerAnswer) {
  auto [outer, later] = MakeLater<int>();
  auto [inner, inner_later] = MakeLater<int>();
  std::optional<Result<int>> got;
  Collect(std::move(later).Then([taken = std::move(inner_later)](const Result<int>&) mutable {
    return std::move(taken);
  }),
          &got);
  outer.Fulfil(1);
  EXPECT_FALSE(got.has_value());
  inner.Fulfil(2);
  EXPECT_EQ(**got, 2);
}

TEST(LaterTest, WaitBlocksUntilAnotherThreadFulfils) {
  auto [promise, later] = MakeLater<int>();
  std::thread producer([taken = std::move(promise)]() mutable { taken.Fulfil(7); });
  EXPECT_EQ(*later.Wait(), 7);
  producer.join();
}

// When a producer drops its promise, the caller must not wait for ever.
TEST(LaterTest, ADroppedPromiseAnswersUnknown) {
  std::optional<Result<int>> got;
  {
    auto [promise, later] = MakeLater<int>();
    Collect(std::move(later), &got);
  }
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->error().code, ErrorCode::kUnknown);
}

TEST(LaterTest, AnOverwrittenPromiseAnswersUnknown) {
  std::optional<Result<int>> got;
  auto [promise, later] = MakeLater<int>();
  Collect(std::move(later), &got);
  auto [other, other_later] = MakeLater<int>();
  promise = std::move(other);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->error().code, ErrorCode::kUnknown);
  promise.Fulfil(1);
  EXPECT_EQ(*other_later.Wait(), 1);
}

TEST(LaterDeathTest, APromiseIsFulfilledOnce) {
  auto [promise, later] = MakeLater<int>();
  promise.Fulfil(1);
  EXPECT_DEATH(promise.Fulfil(2), "!answered_");
}

TEST(LaterDeathTest, AnAnswerIsGivenToOneConsumer) {
  auto [promise, later] = MakeLater<int>();
  promise.Fulfil(1);
  EXPECT_EQ(*later.Wait(), 1);
  EXPECT_DEATH((void)later.Wait(), "!attached_");
}

// The deadline has passed before the wait begins, so a Wait that respects it never blocks. A Wait
// that ignores it gets the answer of the dropped promise, so the test fails and does not hang.
TEST(LaterTest, WaitEndsAtTheDeadline) {
  ManualClock clock;
  auto [promise, later] = MakeLater<int>(Deadline::After(clock, seconds(1)));
  clock.Advance(seconds(1));
  std::atomic<bool> has_ended = false;
  std::atomic<bool> was_cancelled = false;
  std::thread producer([&, taken = std::move(promise)]() mutable {
    for (int turn = 0; turn < 10'000 && !has_ended; ++turn) std::this_thread::yield();
    was_cancelled = taken.cancelled();
  });
  const Result<int> answer = later.Wait();
  has_ended = true;
  producer.join();
  EXPECT_EQ(answer.error().message, "there was no answer before the deadline");
  EXPECT_TRUE(was_cancelled);
}

TEST(LaterTest, AnAnswerInTimeBeatsTheDeadline) {
  ManualClock clock;
  auto [promise, later] = MakeLater<int>(Deadline::After(clock, seconds(1)));
  clock.Advance(seconds(1));
  promise.Fulfil(7);
  EXPECT_EQ(*later.Wait(), 7);
}

// The producer of every step gets the deadline of the whole chain.
TEST(LaterTest, PassesTheDeadlineToTheProducer) {
  ManualClock clock;
  auto [promise, later] = MakeLater<int>(Deadline::After(clock, seconds(5)));
  EXPECT_EQ(promise.deadline()->Remaining(), seconds(5));
  auto [without, without_later] = MakeLater<int>();
  EXPECT_FALSE(without.deadline().has_value());
}

TEST(LaterTest, AChainEndsAtTheDeadlineOfItsFirstStep) {
  ManualClock clock;
  auto [promise, later] = MakeLater<int>(Deadline::After(clock, seconds(1)));
  Later<int> chain = std::move(later).Then([](Result<int> number) { return number; });
  clock.Advance(seconds(1));
  std::thread producer([taken = std::move(promise)]() mutable {
    for (int turn = 0; turn < 10'000 && !taken.cancelled(); ++turn) std::this_thread::yield();
  });
  EXPECT_EQ(chain.Wait().error().message, "there was no answer before the deadline");
  producer.join();
}

// Cancelling the end of a chain reaches the producer that is working now: first the first producer,
// then the producer of a later step.
TEST(LaterTest, CancelReachesTheProducerThatWorksNow) {
  auto [first, later] = MakeLater<int>();
  auto [second, second_later] = MakeLater<int>();
  Later<int> chain = std::move(later).Then(
      [taken = std::move(second_later)](const Result<int>&) mutable { return std::move(taken); });
  first.Fulfil(1);
  EXPECT_FALSE(second.cancelled());
  chain.Cancel();
  EXPECT_TRUE(second.cancelled());
  second.Fulfil(2);
  EXPECT_EQ(*chain.Wait(), 2);
}

TEST(LaterTest, CancelReachesAProducerThatBeginsAfterwards) {
  auto [first, later] = MakeLater<int>();
  auto [second, second_later] = MakeLater<int>();
  Later<int> chain = std::move(later).Then(
      [taken = std::move(second_later)](const Result<int>&) mutable { return std::move(taken); });
  chain.Cancel();
  EXPECT_TRUE(first.cancelled());
  EXPECT_FALSE(second.cancelled());
  first.Fulfil(1);
  EXPECT_TRUE(second.cancelled());
}

TEST(LaterTest, CancelWakesTheProducerOnce) {
  auto [promise, later] = MakeLater<int>();
  int woken = 0;
  promise.OnCancel([&] { ++woken; });
  later.Cancel();
  later.Cancel();
  EXPECT_EQ(woken, 1);
  auto [late, late_later] = MakeLater<int>();
  late_later.Cancel();
  late.OnCancel([&] { ++woken; });
  EXPECT_EQ(woken, 2);
}

TEST(LaterTest, CancelAfterTheAnswerWakesNobody) {
  auto [promise, later] = MakeLater<int>();
  int woken = 0;
  promise.OnCancel([&] { ++woken; });
  promise.Fulfil(1);
  later.Cancel();
  EXPECT_EQ(woken, 0);
  EXPECT_EQ(*later.Wait(), 1);
}

// An exception in a step must neither kill the thread that fulfils nor lose the answer.
TEST(LaterTest, AStepThatThrowsAnswersInternal) {
  for (const bool is_ready : {true, false}) {
    auto [promise, later] = MakeLater<int>();
    if (is_ready) later = Later<int>(1);
    Later<int> chain = std::move(later)
                           .Then([](const Result<int>&) -> int { throw std::runtime_error("oh"); })
                           .Then([](Result<int> number) -> Later<int> {
                             EXPECT_EQ(number.error().code, ErrorCode::kInternal);
                             EXPECT_NE(number.error().message.find("oh"), std::string::npos);
                             throw 7;
                           });
    promise.Fulfil(1);
    EXPECT_EQ(chain.Wait().error().code, ErrorCode::kInternal);
  }
}

// When a step runs, the step before it is already destroyed, so it holds no resources.
TEST(LaterTest, AStepIsDestroyedBeforeTheNextRuns) {
  for (const bool is_ready : {true, false}) {
    auto [promise, later] = MakeLater<int>();
    if (is_ready) later = Later<int>(1);
    auto held = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = held;
    bool is_gone = false;
    std::move(later)
        .Then([held = std::move(held)](Result<int> number) { return number; })
        .Then([&](const Result<int>&) { is_gone = watched.expired(); });
    promise.Fulfil(1);
    EXPECT_TRUE(is_gone);
  }
}

// The parts of a chain refer to each other. After the answer they must all be freed, cancelled or
// not.
TEST(LaterTest, AnAnsweredChainLeavesNothingBehind) {
  for (const bool is_cancelled : {true, false}) {
    const auto held = std::make_shared<int>(0);
    {
      auto [promise, later] = MakeLater<int>();
      Later<int> chain =
          std::move(later).Then([held](const Result<int>& number) { return HalfLater(*number); });
      if (is_cancelled) chain.Cancel();
      promise.Fulfil(2);
    }
    EXPECT_EQ(held.use_count(), 1);
  }
}

// For the thread sanitizer: fulfilling, attaching and cancelling at the same moment.
TEST(LaterTest, ManyThreadsFulfilAttachAndCancel) {
  std::atomic<int> sum = 0;
  for (int round = 0; round < 200; ++round) {
    auto [promise, later] = MakeLater<int>();
    Later<int> chain =
        std::move(later).Then([](const Result<int>& number) { return HalfLater(*number); });
    std::thread producer([taken = std::move(promise)]() mutable { taken.Fulfil(2); });
    std::thread canceller([&] { chain.Cancel(); });
    sum += *chain.Wait();
    producer.join();
    canceller.join();
  }
  EXPECT_EQ(sum, 200);
}

}  // namespace
}  // namespace tidemark
