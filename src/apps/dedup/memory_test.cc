#include "apps/dedup/memory.h"

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace tidemark::dedup {
namespace {

using namespace std::chrono_literals;

class MemoryTest : public ::testing::Test {
 protected:
  ClaimReply Take(const std::string& key, RowStatus status = RowStatus::kClaimed) {
    return *memory_.Take({.keys = {key}, .nonce = "n" + std::to_string(++nonces_)}, status);
  }

  ManualClock clock_;
  Memory memory_{{.life = 10min, .lease = 60s, .max_rows = 3, .max_failures = 2}, &clock_};
  int nonces_ = 0;
};

// The same states as in the table.
TEST_F(MemoryTest, HasTheSameStatesAsTheTable) {
  const Claim first = *Take("a").claim;
  EXPECT_EQ(Take("a").outcome, ClaimOutcome::kRunning);
  clock_.Advance(61s);
  const Claim second = *Take("a").claim;
  EXPECT_EQ(second.generation, 2);
  EXPECT_EQ(memory_.Settle(first, Memory::Settlement::kCompleted), SettleOutcome::kSuperseded);
  EXPECT_EQ(memory_.Settle(second, Memory::Settlement::kFailed), SettleOutcome::kSettled);
  EXPECT_EQ(memory_.Settle(second, Memory::Settlement::kFailed), SettleOutcome::kSettled);
  const Claim third = *Take("a").claim;
  EXPECT_EQ(memory_.Settle(third, Memory::Settlement::kFailed), SettleOutcome::kSettled);
  EXPECT_EQ(Take("a").outcome, ClaimOutcome::kFailed);
}

TEST_F(MemoryTest, ACompletedKeyIsNotReleased) {
  const Claim claim = *Take("a").claim;
  EXPECT_EQ(memory_.Settle(claim, Memory::Settlement::kCompleted, "r"), SettleOutcome::kSettled);
  EXPECT_EQ(memory_.Settle(claim, Memory::Settlement::kReleased), SettleOutcome::kSuperseded);
  EXPECT_EQ(memory_.Settle(claim, Memory::Settlement::kRenewed), SettleOutcome::kSuperseded);
  EXPECT_EQ(Take("a").result, "r");
}

TEST_F(MemoryTest, TheOldestRowsAreDropped) {
  for (const char* key : {"a", "b", "c", "d"}) Take(key, RowStatus::kDone);
  EXPECT_EQ(memory_.size(), 3u);
  EXPECT_EQ(Take("b").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(Take("a").outcome, ClaimOutcome::kNew);
  clock_.Advance(10min);
  Take("e");
  EXPECT_EQ(memory_.size(), 1u);
}

// A claim whose row was dropped was not taken over.
TEST_F(MemoryTest, AForgottenClaimCanBeSettled) {
  const Claim claim = *Take("a").claim;
  for (const char* key : {"b", "c", "d"}) Take(key);
  EXPECT_EQ(memory_.Settle(claim, Memory::Settlement::kCompleted), SettleOutcome::kSettled);
  EXPECT_EQ(Take("a").outcome, ClaimOutcome::kDone);
}

}  // namespace
}  // namespace tidemark::dedup
