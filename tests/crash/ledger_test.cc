// The crash tests depend on the ledger. A checker that never fails proves nothing, so each kind of
// fault must be found.
#include "tests/crash/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/machine.h"

namespace tidemark::crash {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint64_t kSeed = 33'001;

class LedgerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = machine_.Open();
    ASSERT_TRUE(opened) << opened.error().message;
    tables_ = std::move(*opened);
    ASSERT_TRUE(EnsureTable(*tables_));
    ASSERT_EQ(Work(*tables_, &ledger_, 0, 50), std::nullopt);
  }

  Machine machine_{kSeed};
  Ledger ledger_{kSeed, 1};
  std::unique_ptr<embedded::EmbeddedTables> tables_;
};

TEST_F(LedgerTest, AcceptsACorrectFolderAndContinuesFromIt) {
  ASSERT_THAT(ledger_.Check(*tables_), IsEmpty());
  ASSERT_EQ(Work(*tables_, &ledger_, 0, 50), std::nullopt);
  EXPECT_THAT(ledger_.Check(*tables_), IsEmpty());
  EXPECT_EQ(ledger_.acknowledged(), 100u);
}

TEST_F(LedgerTest, AcceptsTheOperationUnderWay) {
  ASSERT_TRUE(Perform(*tables_, OperationOf(kSeed, 0, ledger_.next(0))));
  EXPECT_THAT(ledger_.Check(*tables_), IsEmpty());
}

TEST_F(LedgerTest, NoticesAnAcknowledgedOperationThatIsMissing) {
  // Some operations change nothing, but not ten in a row.
  for (int i = 0; i < 10; ++i) ledger_.Acknowledge(0, {.applied = true});
  EXPECT_THAT(ledger_.Check(*tables_), Not(IsEmpty()));
}

TEST_F(LedgerTest, NoticesAnOperationInTheWrongOrder) {
  const uint64_t next = ledger_.next(0);
  for (const uint64_t number : {next + 1, next, next + 3, next + 2}) {
    const auto outcome = Perform(*tables_, OperationOf(kSeed, 0, number));
    ASSERT_TRUE(outcome);
    ledger_.Acknowledge(0, *outcome);
  }
  EXPECT_THAT(ledger_.Check(*tables_), Not(IsEmpty()));
}

TEST_F(LedgerTest, FindsOperationsThatWereNotRequested) {
  ASSERT_TRUE(tables_->Put({.table = kTable, .item = {{"id", "w0-1"}}}));
  EXPECT_THAT(ledger_.Check(*tables_), Not(IsEmpty()));
}

TEST_F(LedgerTest, NoticesAWrongAnswer) {
  const auto outcome = Perform(*tables_, OperationOf(kSeed, 0, ledger_.next(0)));
  ASSERT_TRUE(outcome);
  ASSERT_FALSE(Counts(OperationOf(kSeed, 0, ledger_.next(0))));
  ledger_.Acknowledge(0, {.applied = !outcome->applied});
  EXPECT_THAT(ledger_.Check(*tables_), Not(IsEmpty()));
}

TEST_F(LedgerTest, NoticesACounterThatWentBack) {
  ASSERT_THAT(ledger_.Check(*tables_), IsEmpty());
  ASSERT_TRUE(tables_->Delete({.table = kTable, .key = {{"id", kCounter}}}));
  EXPECT_THAT(ledger_.Check(*tables_), Not(IsEmpty()));
}

}  // namespace
}  // namespace tidemark::crash
