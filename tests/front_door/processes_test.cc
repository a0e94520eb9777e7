// Many processes and many deliveries at the same time: one of them handles an event, and none is
// lost.
#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "servers/demo/events.h"
#include "servers/demo/sender.h"
#include "tests/front_door/front_door.h"

namespace tidemark::testing {
namespace {

// Runs the program claimer.cc as a process and returns its output.
std::string RunClaimer(const FrontDoor& door, const std::string& key) {
  const std::string command =
      std::string(CLAIMER) + " " + door.url() + " " + door.token() + " " + key + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "no process";
  std::array<char, 512> line{};
  std::string text;
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) text += line.data();
  ::pclose(pipe);
  return text;
}

// Spec: 004-09
TEST(ProcessesTest, OneOfFiftyProcessesClaimsTheKey) {
  // Longer than fifty processes take to start on any machine: a lease that ends before the last
  // process asks would give the key to a second one.
  FrontDoor door(
      [](api::ServiceOptions* options) { options->claims.lease = std::chrono::hours(1); });
  std::mutex mutex;
  std::map<std::string, int> outcomes;
  std::vector<std::thread> threads;
  for (int i = 0; i < 50; ++i) {
    threads.emplace_back([&] {
      const std::string outcome = RunClaimer(door, "Ev1");
      const std::lock_guard lock(mutex);
      ++outcomes[outcome];
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(outcomes, (std::map<std::string, int>{{"new\n", 1}, {"running\n", 49}}));
}

// With duplicates, late and reordered deliveries, every event is in the inbox once, or in
// quarantine when the gate's budget for its channel was used up.
TEST(ProcessesTest, KeepsEveryEventOfABusyWorkspaceOnce) {
  FrontDoor door([](api::ServiceOptions* options) {
    options->web_api.conversations_info_budget = 10'000;
    options->web_api.users_info_budget = 10'000;
    options->web_api.team_info_budget = 10'000;
    options->existence.checks_per_team_minute = 10'000;
  });
  SystemClock clock;
  SystemSleeper sleeper;
  http::CurlClient client({}, &clock, &sleeper);
  demo::EventGenerator generator({.start = clock.NowSeconds()}, demo::MakeWorkspace({}));
  constexpr size_t kEvents = 300;
  size_t given = 0;
  demo::Sender sender({.url = door.url() + "/slack/events",
                       .signing_secret = Secret(std::string(FrontDoor::kSigningSecret)),
                       .concurrency = 8,
                       .answer_within = std::chrono::minutes(1),
                       .speed = 1'000,
                       .disturbances = {.duplicates = 0.5, .late = 0.1, .reorder_window = 8}},
                      &client, &clock, &sleeper);
  sender.Run([&]() -> std::optional<demo::Delivery> {
    if (given == kEvents) return std::nullopt;
    ++given;
    demo::GeneratedEvent event = generator.Next();
    door.slack().Apply(event.changes);
    return demo::Delivery{event.event_id, event.body};
  });
  const demo::SenderReport report = sender.report();
  EXPECT_GT(report.duplicates, 100u);
  // Retries follow each other a thousand times faster than Slack's. So they may all come while a
  // duplicate of the event is being handled, and that one stores it.
  EXPECT_LE(report.given_up, report.busy);
  // An event of a conversation that was never public is counted at each delivery, and never stored.
  const double not_public = door.CounterOf("tidemark_events_total{result=\"not_public\"}");
  const size_t kept = door.InboxSize() + door.QuarantineSize();
  EXPECT_LE(kept, kEvents);
  EXPECT_GE(static_cast<double>(kept) + not_public, static_cast<double>(kEvents));
  EXPECT_GT(door.InboxSize(), kEvents * 7 / 10);
}

}  // namespace
}  // namespace tidemark::testing
