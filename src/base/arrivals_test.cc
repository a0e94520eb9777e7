#include "base/arrivals.h"

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using std::chrono::seconds;

// Far longer than the test takes; only a test that fails waits so long.
constexpr seconds kLong(60);

class ArrivalsTest : public ::testing::Test {
 protected:
  void Expect(Later<std::string> later) {
    arrivals_.Expect<std::string>(std::move(later), [&](Result<std::string> answer) {
      handled_.push_back(answer ? *answer : answer.error().message);
      handled_on_.push_back(std::this_thread::get_id());
    });
  }

  Arrivals arrivals_;
  std::vector<std::string> handled_;
  std::vector<std::thread::id> handled_on_;
};

TEST_F(ArrivalsTest, HandlesAnswersOnTheThreadThatAsks) {
  auto [promise, later] = MakeLater<std::string>();
  Expect(std::move(later));
  Expect(std::string("at once"));
  EXPECT_TRUE(handled_.empty());
  std::thread producer(
      [promise = std::move(promise)]() mutable { promise.Fulfil(std::string("later")); });
  arrivals_.Handle(kLong);
  producer.join();
  EXPECT_EQ(handled_.size(), 2u);
  for (const std::thread::id id : handled_on_) EXPECT_EQ(id, std::this_thread::get_id());
  EXPECT_EQ(arrivals_.expected(), 0u);
}

TEST_F(ArrivalsTest, DoesNotWaitForAnAnswerThatDoesNotCome) {
  auto [promise, later] = MakeLater<std::string>();
  Expect(std::move(later));
  Expect(Error{ErrorCode::kInvalid, "wrong"});
  arrivals_.Handle(seconds(0));
  EXPECT_EQ(handled_, std::vector<std::string>{"wrong"});
  EXPECT_EQ(arrivals_.expected(), 1u);
  promise.Fulfil(std::string("now"));
  arrivals_.Handle(seconds(0));
  EXPECT_EQ(handled_.back(), "now");
}

TEST_F(ArrivalsTest, StopEndsAWait) {
  auto [promise, later] = MakeLater<std::string>();
  Expect(std::move(later));
  std::thread stopper([&] { arrivals_.Stop(); });
  arrivals_.Handle(kLong);
  stopper.join();
  EXPECT_TRUE(handled_.empty());
}

TEST(ArrivalsEndTest, AnAnswerMayComeAfterTheEnd) {
  std::optional<Arrivals> arrivals(std::in_place);
  auto [promise, later] = MakeLater<std::string>();
  bool is_handled = false;
  arrivals->Expect<std::string>(std::move(later), [&](const auto&) { is_handled = true; });
  arrivals.reset();
  promise.Fulfil(std::string("too late"));
  EXPECT_FALSE(is_handled);
}

}  // namespace
}  // namespace tidemark
