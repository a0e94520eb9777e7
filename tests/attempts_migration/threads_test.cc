// Many guesses at once while the phase changes back and forth: at most six get a slot.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/attempts_migration/move_stage.h"

namespace tidemark::moving {
namespace {

using attempts::kPassword;
using attempts::Verdict;

constexpr int kGuessers = 4;
constexpr int kGuesses = 10;

// Each guesser is a process of its own. While the phase changes a call may fail; then it is
// repeated with the same id. Spec: 003-56
TEST(ThreadsTest, GivesSixSlotsWhileThePhaseChanges) {
  MoveStage stage(Phase::kDualOldDecides);
  std::atomic<int> permitted = 0;
  std::atomic<int> guessing = kGuessers;
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<std::thread> threads;
  for (int i = 0; i < kGuessers; ++i) processes.push_back(stage.Another());
  for (int i = 0; i < kGuessers; ++i) {
    threads.emplace_back([&, i] {
      for (int guess = 0; guess < kGuesses; ++guess) {
        const attempts::ReserveRequest request{
            .subject = stage.person,
            .name = kPassword,
            .attempt_id = std::to_string(i) + "-" + std::to_string(guess)};
        auto decision = ReserveNow(processes[i]->attempts, request);
        while (!decision) decision = ReserveNow(processes[i]->attempts, request);
        if (decision->verdict == Verdict::kPermitted) ++permitted;
      }
      --guessing;
    });
  }
  for (bool forward = true; guessing > 0; forward = !forward) {
    stage.GoTo(forward ? Phase::kDualNewDecides : Phase::kDualOldDecides);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(permitted, 6);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kBusy);
}

// Review: T14
TEST(ThreadsTest, AdvancesWhileServersWriteAllTheTime) {
  MoveStage stage(Phase::kDualNewDecides);
  stage.Pass(LongestLife(attempts::Policy::Default()).count());
  constexpr int kSubjects = 50;
  std::atomic<bool> is_over = false;
  std::atomic<int> writes = 0;
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) processes.push_back(stage.Another());
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      for (int guess = 0; !is_over; ++guess) {
        const auto victim = attempts::SubjectOf("victim-" + std::to_string(guess % kSubjects));
        const std::string id = std::to_string(i) + "-" + std::to_string(guess);
        const auto reserved =
            ReserveNow(processes[i]->attempts,
                       {.subject = victim, .name = attempts::kMfaCode, .attempt_id = id});
        if (!reserved || reserved->verdict != Verdict::kPermitted) continue;
        // Right, so that no lock ends the writing.
        if (SettleNow(
                processes[i]->attempts,
                {.subject = victim, .name = attempts::kMfaCode, .attempt_id = id, .right = true})) {
          ++writes;
        }
      }
    });
  }
  while (writes < kSubjects) std::this_thread::yield();
  const auto move = stage.process.migration.Advance();
  const int written = writes;
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(move.has_value()) << move.error().message;
  EXPECT_EQ(move->held_by, "") << written;
  EXPECT_EQ(stage.PhaseNow(), Phase::kNewOldReadable);
}

}  // namespace
}  // namespace tidemark::moving
