// Many deliveries at once, at default settings, while the store refuses calls.
#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include "tests/front_door/front_door.h"
#include "tests/support/threads.h"

namespace tidemark::testing {
namespace {

// An event and the mark that it was handled are one transaction, so each event runs once, also with
// dedup.outage = proceed. Slack repeats what is not acknowledged.
// Spec: 004-43
TEST(FrontDoorLoadTest, AThousandEventsDeliveredTwiceRunAThousandTimesUnderThrottling) {
  constexpr int kEvents = 1'000;
  constexpr int kThreads = 16;
  FrontDoor door;
  const FrontDoor::Ids ids = door.real_ids();
  ASSERT_EQ(door.Send(FrontDoor::Message("Ev-first", ids)).status, 200);
  door.faults().decide = RandomFaults({.seed = 43, .throttled_percent = 20});
  std::atomic<int> unacknowledged = 0;
  RunThreads(kThreads, [&](int thread) {
    for (int n = thread; n < 2 * kEvents; n += kThreads) {
      const std::string body = FrontDoor::Message("Ev" + std::to_string(n % kEvents), ids);
      // The second delivery has another timestamp, and so another signature.
      const FrontDoor::Signing signing = {.offset = n < kEvents ? -100 : 0};
      int tries = 0;
      while (door.Send(body, signing).status != 200 && ++tries < 100'000) {
      }
      if (tries == 100'000) ++unacknowledged;
    }
  });
  door.faults().decide = nullptr;
  EXPECT_EQ(unacknowledged, 0);
  // On a machine so slow that a claim misses its deadline of a second, dedup proceeds without the
  // claim and counts the event as a possible duplicate. Its rows are still written once.
  const double accepted = door.CounterOf("tidemark_events_total{result=\"accepted\"}");
  EXPECT_GE(accepted, kEvents + 1);
  const double duplicates =
      door.CounterOf("tidemark_dedup_possible_duplicates_total{table=\"tidemark-events\"}");
  EXPECT_LE(accepted, kEvents + 1 + duplicates);
  EXPECT_EQ(door.InboxSize(), static_cast<size_t>(kEvents + 1));
}

}  // namespace
}  // namespace tidemark::testing
