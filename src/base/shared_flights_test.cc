#include "base/shared_flights.h"

#include <atomic>
#include <latch>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/later.h"
#include "base/result.h"

namespace tidemark {

namespace {

// Joins and counts how often the work is started. The test calls Land itself.
Later<int> JoinAndCount(SharedFlights<int>& flights, const std::string& key, int* started) {
  return flights.Join(key, [started] { ++*started; });
}

}  // namespace

// No caller blocks a thread, so one thread can act as all of them.
TEST(SharedFlightsTest, CallersDuringTheWorkShareItsAnswer) {
  SharedFlights<int> flights;
  int started = 0;
  Later<int> first = JoinAndCount(flights, "key", &started);
  Later<int> second = JoinAndCount(flights, "key", &started);
  EXPECT_EQ(started, 1);
  flights.Land("key", 7);
  EXPECT_EQ(*first.Wait(), 7);
  EXPECT_EQ(*second.Wait(), 7);
}

TEST(SharedFlightsTest, AnotherKeyIsOtherWork) {
  SharedFlights<int> flights;
  int started = 0;
  Later<int> one = JoinAndCount(flights, "one", &started);
  Later<int> two = JoinAndCount(flights, "two", &started);
  EXPECT_EQ(started, 2);
  flights.Land("two", 2);
  EXPECT_EQ(*two.Wait(), 2);
  flights.Land("one", 1);
  EXPECT_EQ(*one.Wait(), 1);
}

// All callers get the error. It is not kept: the next caller tries again.
TEST(SharedFlightsTest, AFailureGoesToEveryCallerAndIsNotKept) {
  SharedFlights<int> flights;
  int started = 0;
  Later<int> first = JoinAndCount(flights, "key", &started);
  Later<int> second = JoinAndCount(flights, "key", &started);
  flights.Land("key", Error{ErrorCode::kUnavailable, "away"});
  EXPECT_EQ(first.Wait().error().message, "away");
  EXPECT_EQ(second.Wait().error().message, "away");
  Later<int> later = JoinAndCount(flights, "key", &started);
  EXPECT_EQ(started, 2);
  flights.Land("key", 8);
  EXPECT_EQ(*later.Wait(), 8);
}

// A caller that may block does the work itself, within Join.
TEST(SharedFlightsTest, WorkMayEndBeforeJoinReturns) {
  SharedFlights<int> flights;
  for (int answer : {1, 2}) {
    Later<int> later = flights.Join("key", [&] { flights.Land("key", answer); });
    EXPECT_EQ(*later.Wait(), answer);
  }
}

// A callback must not join the work that has just ended, because Land is not called for it again.
TEST(SharedFlightsTest, ACallbackThatJoinsStartsNewWork) {
  SharedFlights<int> flights;
  int started = 0;
  Later<int> again = JoinAndCount(flights, "key", &started).Then([&](Result<int> answer) {
    EXPECT_EQ(*answer, 1);
    return JoinAndCount(flights, "key", &started);
  });
  flights.Land("key", 1);
  EXPECT_EQ(started, 2);
  flights.Land("key", 2);
  EXPECT_EQ(*again.Wait(), 2);
}

// The work of each caller gives another number, so callers with equal numbers shared one piece of
// work. Two pieces of work at the same time would give one number too many.
TEST(SharedFlightsTest, CallersOfManyThreadsShareTheWork) {
  SharedFlights<int> flights;
  std::atomic<int> works = 0;
  std::latch started(1);
  std::latch release(1);
  auto first_work = [&] {
    started.count_down();
    release.wait();
    flights.Land("key", ++works);
  };
  auto work = [&] { flights.Land("key", ++works); };
  std::jthread first([&] { EXPECT_EQ(*flights.Join("key", first_work).Wait(), 1); });
  started.wait();
  std::vector<int> answers(8);
  std::vector<std::jthread> others;
  for (int& answer : answers) {
    others.emplace_back([&] { answer = *flights.Join("key", work).Wait(); });
  }
  release.count_down();
  others.clear();
  first.join();
  std::set<int> distinct(answers.begin(), answers.end());
  distinct.insert(1);
  EXPECT_EQ(distinct.size(), static_cast<size_t>(works));
}

}  // namespace tidemark
