// These tests show that a backup that is made during writes is a complete folder of one moment.
#include <atomic>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/machine.h"

namespace tidemark::crash {
namespace {

using embedded::EmbeddedTables;
using ::testing::IsEmpty;

constexpr uint64_t kSeed = 44'001;
constexpr uint32_t kWriters = 4;

class BackupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Reopen());
    ASSERT_TRUE(EnsureTable(*tables_));
  }
  Result<std::unique_ptr<EmbeddedTables>> OpenCopy(const std::string& folder) {
    embedded::Options options = machine_.options();
    options.folder = folder;
    return EmbeddedTables::Open(options);
  }

  void Reopen() {
    auto opened = machine_.Open();
    ASSERT_TRUE(opened) << opened.error().message;
    tables_ = std::move(*opened);
  }

  Machine machine_{kSeed};
  Ledger ledger_{kSeed, kWriters};
  std::unique_ptr<EmbeddedTables> tables_;
};

TEST_F(BackupTest, UnderLoadIsAWholeFolderAsOfOneMoment) {
  ASSERT_EQ(Work(*tables_, &ledger_, 0, 50), std::nullopt);
  std::vector<Ledger> ledgers(kWriters, ledger_);
  std::vector<std::thread> threads;
  std::atomic<bool> stop = false;
  std::atomic<uint32_t> started = 0;
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      bool first = true;
      while (!stop && !Work(*tables_, &ledgers[writer], writer, 1)) {
        if (first) ++started;
        first = false;
      }
    });
  }
  // The test may not read the writers' ledgers until they stop. Before the backups it only knows
  // the fifty writes of the first writer, made above.
  while (started < kWriters) std::this_thread::yield();
  std::vector<std::string> copies;
  for (int i = 0; i < 5; ++i) {
    copies.push_back(machine_.PathOf("backups/" + std::to_string(i)));
    const Status made = tables_->Backup(copies.back());
    EXPECT_TRUE(made) << made.error().message;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const Ledger earlier = ledger_;
  for (uint32_t writer = 0; writer < kWriters; ++writer) ledger_.Take(ledgers[writer], writer);
  for (const std::string& folder : copies) {
    auto copy = OpenCopy(folder);
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_THAT(ledger_.CheckCopy(**copy, earlier), IsEmpty());
  }
  EXPECT_THAT(ledger_.Check(*tables_), IsEmpty());
}

// Everything that was acknowledged before the backup is in it. The copy can be opened and written.
TEST_F(BackupTest, HoldsEverythingAndCanBeUsedOnItsOwn) {
  ASSERT_EQ(Work(*tables_, &ledger_, 0, 100), std::nullopt);
  const Status made = tables_->Backup(machine_.PathOf("backup"));
  ASSERT_TRUE(made) << made.error().message;
  Ledger of_the_copy = ledger_;
  ASSERT_EQ(Work(*tables_, &ledger_, 0, 30), std::nullopt);
  auto copy = OpenCopy(machine_.PathOf("backup"));
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_THAT(of_the_copy.Check(**copy), IsEmpty());
  EXPECT_EQ(Work(**copy, &of_the_copy, 0, 60), std::nullopt);
  EXPECT_THAT(of_the_copy.Check(**copy), IsEmpty());
  EXPECT_THAT(ledger_.Check(*tables_), IsEmpty()) << "the two share nothing";
}

// A finished backup is durable: a power cut directly afterwards does not change it.
TEST_F(BackupTest, SurvivesAPowerCut) {
  for (int round = 0; round < 10; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_EQ(Work(*tables_, &ledger_, 0, 20), std::nullopt);
    const std::string folder = machine_.PathOf("backup" + std::to_string(round));
    const Ledger of_the_copy = ledger_;
    const Status made = tables_->Backup(folder);
    ASSERT_TRUE(made) << made.error().message;
    machine_.files().PowerCut();
    tables_.reset();
    machine_.Repair();
    auto copy = OpenCopy(folder);
    ASSERT_TRUE(copy) << copy.error().message;
    ASSERT_THAT(of_the_copy.CheckCopy(**copy, of_the_copy), IsEmpty());
    ASSERT_NO_FATAL_FAILURE(Reopen());
  }
}

// The calls at which a backup is interrupted. RocksDB waits a second after a failed flush, so only
// a long run tries the calls before the first file of the backup.
bool IsPoint(const FileCall& call) {
  static const bool all = Repetitions("TIDEMARK_BACKUP_FLUSHES", {.usual = 0, .release = 1}) > 0;
  return Changes(call) && (all || call.path.find("/backup") != std::string::npos);
}

// Interrupts a backup at its nth call. What is left must be a complete copy, or not a data folder.
// Otherwise somebody could open an incomplete copy and not notice.
class BrokenBackup {
 public:
  explicit BrokenBackup(uint64_t seed) : machine_(seed), ledger_(seed, 1) {}

  // False when the backup was complete before the n-th call.
  bool Make(FaultEffect effect, uint64_t nth) {
    auto tables = machine_.Open();
    EXPECT_TRUE(tables && EnsureTable(**tables));
    EXPECT_EQ(Work(**tables, &ledger_, 0, 30), std::nullopt);
    machine_.files().Arm({.matches = IsPoint, .nth = nth, .effect = effect});
    const Status made = (*tables)->Backup(folder());
    const bool broken = machine_.files().fired();
    EXPECT_TRUE(made || broken) << made.error().message;
    tables = Error{};
    machine_.Repair();
    return broken;
  }
  // Whether the copy opens without creating a folder.
  bool Opens() {
    embedded::Options options = machine_.options();
    options.folder = folder();
    options.create_if_missing = false;
    auto copy = EmbeddedTables::Open(options);
    if (!copy) {
      const ErrorCode code = copy.error().code;
      EXPECT_TRUE(code == ErrorCode::kInvalid || code == ErrorCode::kNotFound)
          << copy.error().message;
      return false;
    }
    const auto report = (*copy)->Verify();
    EXPECT_TRUE(report && report->problems.empty());
    EXPECT_THAT(ledger_.CheckCopy(**copy, ledger_), IsEmpty());
    return true;
  }

 private:
  std::string folder() const { return machine_.PathOf("backup"); }

  Machine machine_;
  Ledger ledger_;
};

class BrokenBackupTest : public ::testing::TestWithParam<FaultEffect> {};
INSTANTIATE_TEST_SUITE_P(Every, BrokenBackupTest,
                         ::testing::Values(FaultEffect::kPowerCut, FaultEffect::kError));

TEST_P(BrokenBackupTest, IsWholeOrNoDataFolder) {
  int refused = 0;
  bool broken = true;
  for (uint64_t nth = 1; broken && !HasFailure(); ++nth) {
    SCOPED_TRACE("point " + std::to_string(nth));
    BrokenBackup backup(kSeed + nth);
    broken = backup.Make(GetParam(), nth);
    const bool opens = backup.Opens();
    EXPECT_TRUE(opens || broken);
    if (!opens) ++refused;
  }
  EXPECT_GT(refused, 10);
}

TEST_F(BackupTest, IntoAFolderWithSomethingInItIsRefused) {
  const std::string folder = machine_.PathOf("letters");
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/letter.txt") << "dear";
  const Status made = tables_->Backup(folder);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kInvalid) << made.error().message;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  // A backup must not overwrite another backup, or its own folder.
  ASSERT_TRUE(tables_->Backup(machine_.PathOf("backup")));
  EXPECT_FALSE(tables_->Backup(machine_.PathOf("backup")));
  EXPECT_FALSE(tables_->Backup(machine_.folder()));
}

}  // namespace
}  // namespace tidemark::crash
