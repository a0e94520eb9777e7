// The phase changes during attempts, in every possible order of the calls to the two stores. Two
// stores never decide at the same time, and no failure is lost.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/attempts_migration/move_stage.h"
#include "tests/support/manual_time.h"
#include "tests/support/schedule.h"

namespace tidemark::moving {
namespace {

using attempts::kPassword;
using attempts::Verdict;
using testing::Explore;
using testing::Operation;
using testing::Schedule;

struct Change {
  Phase from;
  Phase to;
};

enum class StepAt { kEveryCall, kWrites };

attempts::Policy OneGuess() {
  return *attempts::Policy::Parse(R"({"journeys": ["SIGN_IN"], "counts": ["ERROR_COUNT"],
      "classifiers": ["PASSWORD_ENTRY"], "lock_seconds": {"STANDARD": 900}, "ceiling": 999999,
      "rules": [{"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "PASSWORD_ENTRY",
                 "limit": 1}]})");
}

// The stores and processes of one run.
class World {
 public:
  World(Schedule* schedule, StepAt step_at, Phase phase) : schedule_(*schedule), step_at_(step_at) {
    Process& setup = Add();
    CHECK(setup.table.Create().has_value());
    CHECK(setup.stores.Start(phase).has_value());
    old_store_.decide = [this](MemoryStore::Call call) -> std::optional<Error> {
      if (step_at_ == StepAt::kEveryCall || call == MemoryStore::Call::kWrite) Step();
      return std::nullopt;
    };
    tables_.decide = [this](Operation operation) -> std::optional<testing::Fault> {
      if (step_at_ == StepAt::kEveryCall || testing::Writes(operation)) Step();
      return std::nullopt;
    };
  }

  // A process that has read the present phase.
  Process& Add() {
    processes_.push_back(
        std::make_unique<Process>(&old_store_, &tables_, &clock_, &random_, OneGuess()));
    return *processes_.back();
  }
  // Makes a wrong guess. True when the guess was permitted.
  bool Guess(Process* process, const std::string& id) {
    const auto reserved =
        ReserveNow(process->attempts, {.subject = person_, .name = kPassword, .attempt_id = id});
    return reserved && reserved->verdict == Verdict::kPermitted;
  }
  void BeWrong(Process* process, const std::string& id) {
    const auto settled =
        SettleNow(process->attempts,
                  {.subject = person_, .name = kPassword, .attempt_id = id, .right = false});
    EXPECT_TRUE(settled.has_value() && settled->known);
  }
  void ChangePhase(Process* process, Phase to) {
    const auto record = process->stores.CurrentPhase();
    CHECK(record.has_value());
    EXPECT_TRUE(*process->stores.ChangePhase(*record, to));
  }
  Verdict VerdictAtTheEnd() {
    scheduled = false;
    const auto decision =
        processes_.front()->attempts.Decide({.subject = person_, .name = kPassword});
    return decision ? decision->verdict : Verdict::kPermitted;
  }

  bool scheduled = false;

 private:
  void Step() {
    if (scheduled) schedule_.Step();
  }

  Schedule& schedule_;
  const StepAt step_at_;
  ManualClock clock_;
  model::ModelTables model_{clock_};
  testing::FaultyTables tables_{&model_};
  MemoryStore old_store_;
  SeededRandom random_{1};
  attempts::Subject person_ = attempts::SubjectOf("subject-a");
  std::vector<std::unique_ptr<Process>> processes_;
};

class OrdersTest : public ::testing::TestWithParam<Change> {};

// Two guessers want one slot while the phase changes.
// Spec: 003-56
TEST_P(OrdersTest, GivesOneSlotToTwoGuessers) {
  Explore(200'000, [](Schedule& schedule) {
    World world(&schedule, StepAt::kWrites, GetParam().from);
    std::vector<Process*> all = {&world.Add(), &world.Add(), &world.Add()};
    for (Process* one : all) CHECK(one->stores.CurrentPhase().has_value());
    int guesses = 0;
    world.scheduled = true;
    schedule.Run({[&] { guesses += world.Guess(all[0], "a") ? 1 : 0; },
                  [&] { guesses += world.Guess(all[1], "b") ? 1 : 0; },
                  [&] { world.ChangePhase(all[2], GetParam().to); }});
    EXPECT_EQ(guesses, 1);
    EXPECT_EQ(world.VerdictAtTheEnd(), Verdict::kBusy);
  });
}

// A whole attempt, with the change at any point of it.
// Spec: 003-56
TEST_P(OrdersTest, LocksWhereverThePhaseChanges) {
  Explore(200'000, [](Schedule& schedule) {
    World world(&schedule, StepAt::kWrites, GetParam().from);
    std::vector<Process*> all = {&world.Add(), &world.Add()};
    for (Process* one : all) CHECK(one->stores.CurrentPhase().has_value());
    world.scheduled = true;
    schedule.Run({[&] {
                    // A call may fail while the phase changes; then it is repeated.
                    while (!world.Guess(all[0], "a")) {
                    }
                    world.BeWrong(all[0], "a");
                  },
                  [&] { world.ChangePhase(all[1], GetParam().to); }});
    EXPECT_EQ(world.VerdictAtTheEnd(), Verdict::kTemporarilyLocked);
  });
}

INSTANTIATE_TEST_SUITE_P(ForwardAndBack, OrdersTest,
                         ::testing::Values(Change{Phase::kOld, Phase::kDualOldDecides},
                                           Change{Phase::kDualOldDecides, Phase::kDualNewDecides},
                                           Change{Phase::kDualNewDecides, Phase::kNewOldReadable},
                                           Change{Phase::kDualNewDecides, Phase::kDualOldDecides},
                                           Change{Phase::kDualOldDecides, Phase::kOld}),
                         [](const auto& change) {
                           return "Phase" +
                                  std::to_string(static_cast<int>(change.param.from) + 1) + "To" +
                                  std::to_string(static_cast<int>(change.param.to) + 1);
                         });

}  // namespace
}  // namespace tidemark::moving
