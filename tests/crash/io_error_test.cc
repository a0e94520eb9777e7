// The promise under test: an error of the disk is answered as an error, stops all writes
// until the folder is opened again, and costs nothing that was acknowledged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/machine.h"

namespace tidemark::crash {
namespace {

using embedded::EmbeddedTables;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kSeed = 88'001;

bool AnyCall(const FileCall&) { return true; }

// What a client may be told when the disk fails: nothing was done, or nobody knows.
void ExpectClear(const Error& error) {
  EXPECT_TRUE(error.code == ErrorCode::kUnknown || error.code == ErrorCode::kUnavailable)
      << ToString(error.code) << ": " << error.message;
  EXPECT_GT(error.message.size(), 20u);
}

// Once a write has failed none succeeds, whether or not the disk has come round.
void ExpectWritesStopped(EmbeddedTables& tables, const Ledger& ledger) {
  for (uint64_t i = 1; i <= 3; ++i) {
    const auto later = Perform(tables, OperationOf(ledger.seed(), 0, ledger.next(0) + i));
    ASSERT_FALSE(later) << "a write succeeded after a failed one";
    ExpectClear(later.error());
  }
}

// Opens, makes the table, works; stops at the first error and looks at it. Tells whether the
// work was done to its end.
bool WorkUnderFault(Machine& machine, Ledger* ledger, uint64_t operations) {
  auto tables = machine.Open();
  if (!tables) {
    ExpectClear(tables.error());
    return false;
  }
  if (const Status made = EnsureTable(**tables); !made) {
    ExpectClear(made.error());
    return false;
  }
  const std::optional<Error> error = Work(**tables, ledger, 0, operations);
  if (!error) return true;
  ExpectClear(*error);
  ExpectWritesStopped(**tables, *ledger);
  return false;
}

void ReopenAndCheck(Machine& machine, Ledger* ledger) {
  machine.Repair();
  auto tables = machine.Open();
  ASSERT_TRUE(tables) << tables.error().message;
  ASSERT_TRUE(EnsureTable(**tables));
  ASSERT_THAT(ledger->Check(**tables), IsEmpty());
  ASSERT_EQ(Work(**tables, ledger, 0, 5), std::nullopt);
}

struct Case {
  FaultEffect effect;
  bool persistent;
  const char* name;
};

class IoErrorTest : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Every, IoErrorTest,
                         ::testing::Values(Case{FaultEffect::kError, false, "ErrorOnce"},
                                           Case{FaultEffect::kError, true, "ErrorFromThenOn"},
                                           Case{FaultEffect::kNoSpace, false, "NoSpaceOnce"},
                                           Case{FaultEffect::kNoSpace, true, "NoSpaceFromThenOn"}),
                         [](const auto& tested) { return tested.param.name; });

// The n-th call fails, for every n, of any kind: in opening, making the table, and working. Every
// second time the power goes too, so that nothing is saved by the cache of the machine.
TEST_P(IoErrorTest, AtTheNthCallIsAnErrorAndCostsNothingAcknowledged) {
  const uint64_t operations = Repetitions("TIDEMARK_OPERATIONS", 40, 200);
  uint64_t completed = 0;
  for (uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE("call " + std::to_string(nth));
    Machine machine(kSeed + nth);
    Ledger ledger(kSeed, 1);
    machine.files().Arm({.matches = AnyCall,
                         .nth = nth,
                         .effect = GetParam().effect,
                         .persistent = GetParam().persistent});
    const bool completed_now = WorkUnderFault(machine, &ledger, operations);
    const bool fired = machine.files().fired();
    ASSERT_TRUE(completed_now || fired);
    if (nth % 2 == 0) machine.files().PowerCut();
    ReopenAndCheck(machine, &ledger);
    if (HasFatalFailure() || !fired) break;
    completed += completed_now ? 1 : 0;
    ASSERT_LT(nth, 5'000u);
  }
  RecordProperty("calls_without_consequence", static_cast<int>(completed));
}

// A folder with files of several ages reads and compacts when it is opened.
TEST_P(IoErrorTest, AtTheNthCallOfReopeningCostsNothingAcknowledged) {
  Machine machine(kSeed);
  Ledger ledger(kSeed, 1);
  ReopenAndCheck(machine, &ledger);
  for (uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE("call " + std::to_string(nth));
    machine.files().Arm({.matches = AnyCall,
                         .nth = nth,
                         .effect = GetParam().effect,
                         .persistent = GetParam().persistent});
    WorkUnderFault(machine, &ledger, 10);
    const bool fired = machine.files().fired();
    if (nth % 2 == 0) machine.files().PowerCut();
    ReopenAndCheck(machine, &ledger);
    if (HasFatalFailure() || !fired || nth == 400) break;
  }
}

bool ReadsTheFrontOfATable(const FileCall& call) {
  return call.kind == FileCallKind::kRead && call.offset == 0 && call.path.ends_with(".sst");
}

// RocksDB before 8.7 could drop rows when a compaction could not read the first block of a
// file. Errors of the background must stop writes, and lose nothing.
TEST(IoErrorCompactionTest, AtTheFrontOfATableFileLosesNothing) {
  Machine machine(kSeed);
  Ledger ledger(kSeed, 1);
  uint64_t fired = 0;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ReopenAndCheck(machine, &ledger);
    machine.files().Arm({.matches = ReadsTheFrontOfATable,
                         .nth = 1 + machine.random().Below(3),
                         .persistent = round % 2 == 0});
    auto tables = machine.Open();
    if (tables) {
      if (const auto error = Work(**tables, &ledger, 0, 20)) ExpectClear(*error);
    } else {
      ExpectClear(tables.error());
    }
    tables = Error{};
    fired += machine.files().fired() ? 1 : 0;
    ReopenAndCheck(machine, &ledger);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(fired, 0u);
}

// ---- A disk that fills up ----

TEST(FullDiskTest, IsAnErrorAtWhateverByteItComes) {
  for (uint64_t bytes = 0; bytes < 60'000; bytes += 1 + bytes / 12) {
    SCOPED_TRACE("free bytes " + std::to_string(bytes));
    Machine machine(kSeed + bytes);
    Ledger ledger(kSeed, 1);
    machine.files().SetFreeBytes(bytes);
    WorkUnderFault(machine, &ledger, 100);
    if (bytes % 2 == 0) machine.files().PowerCut();
    ReopenAndCheck(machine, &ledger);
    if (HasFatalFailure()) return;
  }
}

TEST(FullDiskTest, RefusesToWriteIntoTheReserveBeforeItIsTorn) {
  Machine machine(kSeed);
  Ledger ledger(kSeed, 1);
  ReopenAndCheck(machine, &ledger);
  embedded::Options options = machine.options();
  options.disk_reserve_bytes = 1 << 20;
  machine.files().SetFreeBytes(1 << 19);
  auto tables = EmbeddedTables::Open(options);
  ASSERT_TRUE(tables) << tables.error().message;
  const auto refused = Perform(**tables, OperationOf(ledger.seed(), 0, ledger.next(0)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("disk"));
  EXPECT_TRUE(ReadThings(**tables)) << "reading needs no space";
  // Nothing broke, so that nothing needs to be opened again once there is space.
  machine.files().SetFreeBytes(std::nullopt);
  ASSERT_TRUE((*tables)->Maintain());
  EXPECT_EQ(Work(**tables, &ledger, 0, 20), std::nullopt);
  EXPECT_THAT(ledger.Check(**tables), IsEmpty());
}

}  // namespace
}  // namespace tidemark::crash
