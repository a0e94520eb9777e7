// Guarantees that callers rely on: increments are not lost, a conditional create has one winner,
// and a transaction applies everything or nothing. Tested on the embedded tables with many threads.
#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/support/long_run.h"
#include "tests/support/temp_folder.h"
#include "tests/support/threads.h"

namespace tidemark::testing {
namespace {

constexpr const char* kTable = "things";

item::Value NumberOf(int64_t value) { return item::Number::FromInt(value); }

int64_t NumberIn(const item::Item& item) {
  return item.Find("n")->As<item::Number>()->Floor().value();
}

class EmbeddedConcurrencyTest : public ::testing::Test {
 protected:
  EmbeddedConcurrencyTest() {
    auto opened = embedded::EmbeddedTables::Open(
        {.folder = folder_.path() + "/data", .durability = embedded::Durability::kEverySecond});
    CHECK(opened.has_value());
    tables_ = std::move(opened).value();
    CHECK(tables_->CreateTable({.table = kTable, .keys = {.partition = {.name = "id"}}}));
  }

  TempFolder folder_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
};

// Each increment counts once, and each caller gets a different number.
TEST_F(EmbeddedConcurrencyTest, AHundredParallelIncrementsGiveAHundred) {
  const int rounds = AmountOf({.usual = 20, .release = 1'000});
  for (int round = 0; round < rounds; ++round) {
    const item::Item key{{"id", "counter-" + std::to_string(round)}};
    std::mutex mutex;
    std::set<int64_t> told;
    RunThreads(100, [&](int) {
      auto reply = tables_->Update({.table = kTable,
                                    .key = key,
                                    .update = "ADD n :one",
                                    .values = {{":one", NumberOf(1)}},
                                    .return_values = tables::ReturnValues::kUpdatedNew});
      ASSERT_TRUE(reply.has_value()) << reply.error().message;
      std::lock_guard lock(mutex);
      told.insert(NumberIn(*reply->attributes));
    });
    EXPECT_EQ(NumberIn(**tables_->Get({.table = kTable, .key = key})), 100);
    EXPECT_EQ(told.size(), 100u);
    EXPECT_EQ(*told.rbegin(), 100);
  }
}

// When many callers create the same item on the condition that it is absent, exactly one succeeds.
// All others get the winner's item.
TEST_F(EmbeddedConcurrencyTest, ConditionalCreatorsHaveOneWinner) {
  const int rounds = AmountOf({.usual = 50, .release = 2'000});
  for (int round = 0; round < rounds; ++round) {
    const std::string id = "claim-" + std::to_string(round);
    std::atomic<int> winners = 0;
    std::atomic<int64_t> winner = -1;
    std::mutex mutex;
    std::set<int64_t> shown;
    RunThreads(16, [&](int thread) {
      auto reply = tables_->Put({.table = kTable,
                                 .item = {{"id", id}, {"n", NumberOf(thread)}},
                                 .condition = "attribute_not_exists(id)",
                                 .on_failure = tables::OnConditionFailure::kAllOld});
      ASSERT_TRUE(reply.has_value()) << reply.error().message;
      if (reply->applied) {
        ++winners;
        winner = thread;
        return;
      }
      std::lock_guard lock(mutex);
      shown.insert(NumberIn(*reply->failed_on));
    });
    ASSERT_EQ(winners, 1);
    EXPECT_EQ(shown, std::set<int64_t>{winner});
    EXPECT_EQ(NumberIn(**tables_->Get({.table = kTable, .key = {{"id", id}}})), winner);
  }
}

constexpr int kAccounts = 6;
constexpr int64_t kOpeningBalance = 50;

item::Item AccountKey(uint64_t account) { return {{"id", "account-" + std::to_string(account)}}; }

// Moves money if the account has enough.
Result<tables::TransactWriteReply> Transfer(tables::Tables& tables, uint64_t from, uint64_t to,
                                            int64_t amount) {
  const item::Value by = NumberOf(amount);
  return tables.TransactWrite({.actions = {
                                   tables::UpdateRequest{.table = kTable,
                                                         .key = AccountKey(from),
                                                         .update = "SET n = n - :by",
                                                         .condition = "n >= :by",
                                                         .values = {{":by", by}}},
                                   tables::UpdateRequest{.table = kTable,
                                                         .key = AccountKey(to),
                                                         .update = "SET n = n + :by",
                                                         .values = {{":by", by}}},
                               }});
}

// The sum of all balances at one moment; no balance is ever below zero.
int64_t SumOf(tables::Tables& tables) {
  tables::TransactGetRequest request;
  for (uint64_t i = 0; i < kAccounts; ++i) {
    request.gets.push_back({.table = kTable, .key = AccountKey(i)});
  }
  auto reply = tables.TransactGet(request);
  EXPECT_TRUE(reply.has_value());
  int64_t sum = 0;
  for (const std::optional<item::Item>& item : reply->items) {
    EXPECT_GE(NumberIn(*item), 0);
    sum += NumberIn(*item);
  }
  return sum;
}

// A reader that reads all accounts in one transaction never sees a partial transfer.
TEST_F(EmbeddedConcurrencyTest, TransfersConserveTheSum) {
  const int transfers = AmountOf({.usual = 60, .release = 20'000});
  constexpr int kTransferrers = 6;
  constexpr int kReaders = 2;
  for (uint64_t i = 0; i < kAccounts; ++i) {
    item::Item account = AccountKey(i);
    account.Set("n", NumberOf(kOpeningBalance));
    ASSERT_TRUE(tables_->Put({.table = kTable, .item = account}).has_value());
  }
  std::atomic<int> working = kTransferrers;
  std::atomic<int> moved = 0;
  std::atomic<int> refused = 0;
  std::atomic<int> reads = 0;
  RunThreads(kTransferrers + kReaders, [&](int thread) {
    if (thread >= kTransferrers) {
      for (; working > 0; ++reads) ASSERT_EQ(SumOf(*tables_), kAccounts * kOpeningBalance);
      return;
    }
    SeededRandom random(static_cast<uint64_t>(thread));
    for (int i = 0; i < transfers; ++i) {
      const uint64_t from = random.Below(kAccounts);
      const uint64_t to = (from + 1 + random.Below(kAccounts - 1)) % kAccounts;
      auto reply = Transfer(*tables_, from, to, 1 + static_cast<int64_t>(random.Below(60)));
      EXPECT_TRUE(reply.has_value());
      ++(reply->outcome == tables::TransactOutcome::kApplied ? moved : refused);
    }
    --working;
  });
  EXPECT_EQ(SumOf(*tables_), kAccounts * kOpeningBalance);
  fmt::print("seeds 0 to {}: {} moved, {} refused, {} reads\n", kTransferrers - 1, moved.load(),
             refused.load(), reads.load());
  EXPECT_GT(moved, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(reads, 0);
}

}  // namespace
}  // namespace tidemark::testing
