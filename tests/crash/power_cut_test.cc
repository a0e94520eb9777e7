// Tests that an acknowledged write survives a power cut at any moment. Each test cuts the power
// many times and checks the folder afterwards.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/machine.h"

namespace tidemark::crash {
namespace {

using embedded::EmbeddedTables;
using ::testing::IsEmpty;

constexpr uint64_t kSeed = 77'001;

// After the power cut the folder must open and pass the ledger's check.
void RecoverAndCheck(Machine& machine, Ledger* ledger) {
  machine.Repair();
  auto tables = machine.Open();
  ASSERT_TRUE(tables) << tables.error().message;
  ASSERT_TRUE(EnsureTable(**tables));
  ASSERT_THAT(ledger->Check(**tables), IsEmpty());
}

// Opens and works until the armed cut comes, or until the work is done.
void WorkUntilTheCut(Machine& machine, Ledger* ledger, uint64_t operations) {
  auto tables = machine.Open();
  if (!tables || !EnsureTable(**tables)) {
    ASSERT_TRUE(machine.files().fired());
    return;
  }
  const std::optional<Error> error = Work(**tables, ledger, 0, operations);
  ASSERT_TRUE(!error || machine.files().fired()) << ::testing::PrintToString(error);
}

// The cut comes at every input/output boundary of a script of 200 operations in turn.
TEST(PowerCutTest, LosesNothingAcknowledgedAtAnyBoundaryOfAScript) {
  bool done = false;
  uint64_t nth = 1;
  for (; !done; ++nth) {
    SCOPED_TRACE("cut at change " + std::to_string(nth));
    Machine machine(kSeed + nth);
    Ledger ledger(kSeed, 1);
    machine.files().Arm({.nth = nth, .effect = FaultEffect::kPowerCut});
    WorkUntilTheCut(machine, &ledger, 200);
    done = !machine.files().fired();
    if (done) machine.files().PowerCut();
    RecoverAndCheck(machine, &ledger);
    if (HasFatalFailure()) return;
  }
  // Each operation is at least written and synced; fewer boundaries would mean that the
  // engine does not write through the file system that fails.
  EXPECT_GT(nth, 300u);
}

// After many power cuts a folder has files of every age, and was compacted. Some cuts happen during
// the recovery from the previous one.
TEST(PowerCutTest, LosesNothingAcknowledgedInManyCutsOfOneFolder) {
  const uint64_t cuts = Repetitions("TIDEMARK_CUTS", {.usual = 300, .release = 2'000});
  constexpr uint64_t kCutsOfAFolder = 30;
  for (uint64_t cut = 0; cut < cuts;) {
    Machine machine(kSeed + cut);
    Ledger ledger(kSeed + cut, 1);
    for (uint64_t i = 0; i < kCutsOfAFolder && cut < cuts; ++i, ++cut) {
      SCOPED_TRACE("seed " + std::to_string(ledger.seed()) + ", cut " + std::to_string(i));
      machine.files().Arm(
          {.nth = 1 + machine.random().Below(160), .effect = FaultEffect::kPowerCut});
      WorkUntilTheCut(machine, &ledger, 60);
      if (machine.files().powered()) machine.files().PowerCut();
      RecoverAndCheck(machine, &ledger);
      if (HasFatalFailure()) return;
    }
  }
}

// Several writers are committed as one group. The power cut may happen in the middle of such a
// group.
TEST(PowerCutTest, LosesNothingAcknowledgedToManyWriters) {
  constexpr uint32_t kWriters = 4;
  const uint64_t cuts = Repetitions("TIDEMARK_CUTS", {.usual = 60, .release = 500});
  for (uint64_t cut = 0; cut < cuts; ++cut) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + cut));
    Machine machine(kSeed + cut);
    Ledger ledger(kSeed + cut, kWriters);
    {
      auto tables = machine.Open();
      ASSERT_TRUE(tables && EnsureTable(**tables));
      machine.files().Arm(
          {.nth = 1 + machine.random().Below(200), .effect = FaultEffect::kPowerCut});
      std::vector<Ledger> ledgers(kWriters, ledger);
      std::vector<std::thread> threads;
      for (uint32_t writer = 0; writer < kWriters; ++writer) {
        threads.emplace_back([&, writer] { Work(**tables, &ledgers[writer], writer, 80); });
      }
      for (std::thread& thread : threads) thread.join();
      for (uint32_t writer = 0; writer < kWriters; ++writer) ledger.Take(ledgers[writer], writer);
      if (machine.files().powered()) machine.files().PowerCut();
    }
    RecoverAndCheck(machine, &ledger);
    if (HasFatalFailure()) return;
  }
}

// The every-second mode may lose the newest writes and nothing else: what is left is a prefix of
// the operations. This also shows that these tests notice a loss.
TEST(PowerCutTest, LosesOnlyTheNewestWritesInTheRelaxedMode) {
  bool lost = false;
  for (uint64_t round = 0; round < 20; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + round));
    Machine machine(kSeed + round);
    Ledger ledger(kSeed + round, 1);
    {
      auto tables = machine.Open();
      ASSERT_TRUE(tables && EnsureTable(**tables));
    }
    const Ledger earlier = ledger;
    {
      embedded::Options options = machine.options();
      options.durability = embedded::Durability::kEverySecond;
      auto tables = EmbeddedTables::Open(options);
      ASSERT_TRUE(tables) << tables.error().message;
      ASSERT_EQ(Work(**tables, &ledger, 0, 50), std::nullopt);
      machine.files().PowerCut();
    }
    machine.Repair();
    auto tables = machine.Open();
    ASSERT_TRUE(tables) << tables.error().message;
    ASSERT_THAT(ledger.CheckCopy(**tables, earlier), IsEmpty());
    lost = lost || !ledger.Check(**tables).empty();
  }
  EXPECT_TRUE(lost);
}

// The same when pages of what was not synced reach the disk in any order: a log has a hole then,
// with whole batches behind it. The folder opens, and what is left is still a prefix.
TEST(PowerCutTest, OpensInTheRelaxedModeWhenALogHasAHole) {
  for (uint64_t round = 0; round < 20; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + round));
    Machine machine(kSeed + round);
    Ledger ledger(kSeed + round, 1);
    machine.files().SetTearing(Tearing::kPages);
    embedded::Options options = machine.options();
    options.durability = embedded::Durability::kEverySecond;
    {
      auto tables = machine.Open();
      ASSERT_TRUE(tables && EnsureTable(**tables));
    }
    const Ledger earlier = ledger;
    {
      auto tables = EmbeddedTables::Open(options);
      ASSERT_TRUE(tables) << tables.error().message;
      ASSERT_EQ(Work(**tables, &ledger, 0, 50), std::nullopt);
      machine.files().PowerCut();
    }
    machine.Repair();
    auto tables = EmbeddedTables::Open(options);
    ASSERT_TRUE(tables) << tables.error().message;
    ASSERT_THAT(ledger.CheckCopy(**tables, earlier), IsEmpty());
  }
}

// Pages of an unsynced tail reach the disk in any order. Acknowledged writes were synced, so the
// folder opens and has all of them. After a power cut no backup is needed.
// Review: E2
TEST(PowerCutTest, OpensAndLosesNothingAcknowledgedWhenPagesOfTheTailAreMissing) {
  const uint64_t cuts = Repetitions("TIDEMARK_CUTS", {.usual = 100, .release = 1'000});
  for (uint64_t cut = 0; cut < cuts; ++cut) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + cut));
    Machine machine(kSeed + cut);
    Ledger ledger(kSeed + cut, 1);
    machine.files().SetTearing(Tearing::kPages);
    machine.files().Arm(
        {.nth = 60 + machine.random().Below(100), .effect = FaultEffect::kPowerCut});
    WorkUntilTheCut(machine, &ledger, 60);
    RecoverAndCheck(machine, &ledger);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tidemark::crash
