// Take and Mark that return a Later: the same answers, and a worker only for what one write of the
// store does not decide.
#include <string>

#include <gtest/gtest.h>

#include "apps/dedup/deduplicator.h"
#include "base/worker_pool.h"
#include "tests/dedup/stage.h"

namespace tidemark::dedup {
namespace {

using testing::LostReply;
using testing::Throttled;

class LaterClaimsTest : public ::testing::Test {
 protected:
  ClaimReply Take(const std::string& key) {
    return *dedup_.Take({.keys = {key}}, &workers_).Wait();
  }
  ClaimReply Mark(const std::string& key) {
    return *dedup_.Mark({.keys = {key}}, &workers_).Wait();
  }

  // From now on every work on a worker is refused.
  void StopWorkers() { workers_.Stop(); }

  Stage stage_;
  WorkerPool workers_{{.threads = 1, .max_waiting = 10}};
  Deduplicator dedup_{{}, &stage_.claims, stage_.test.runtime()};
};

TEST_F(LaterClaimsTest, NewKeysAndDuplicatesNeedNoWorker) {
  StopWorkers();
  EXPECT_EQ(Mark("Ev1").outcome, ClaimOutcome::kNew);
  EXPECT_EQ(TextIn(stage_.RowOf("Ev1"), "status"), "done");
  EXPECT_EQ(Mark("Ev1").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(Take("Ev1").outcome, ClaimOutcome::kDone);
  const ClaimReply taken = Take("Ev2");
  EXPECT_EQ(taken.outcome, ClaimOutcome::kNew);
  EXPECT_EQ(TextIn(stage_.RowOf("Ev2"), "status"), "claimed");
  EXPECT_EQ(Take("Ev2").outcome, ClaimOutcome::kRunning);
  EXPECT_EQ(*dedup_.Complete(*taken.claim), SettleOutcome::kSettled);
  EXPECT_EQ(Take("Ev2").outcome, ClaimOutcome::kDone);
}

// A claim whose lease ended is taken over exactly as it was read, which takes a second write.
TEST_F(LaterClaimsTest, ALapsedClaimIsTakenOverOnAWorker) {
  const Claim lapsed = stage_.Taken("Ev1");
  stage_.clock.Advance(std::chrono::seconds(63));
  EXPECT_EQ(Take("Ev1").outcome, ClaimOutcome::kNew);
  EXPECT_EQ(*dedup_.Complete(lapsed), SettleOutcome::kSuperseded);
}

TEST_F(LaterClaimsTest, MemoryDecidesOnAWorkerWhenTheStoreIsUnavailable) {
  stage_.tables.decide = [](testing::Operation) { return Throttled(); };
  const ClaimReply reply = Mark("Ev1");
  EXPECT_EQ(reply.outcome, ClaimOutcome::kNew);
  EXPECT_TRUE(reply.fallback);
  EXPECT_TRUE(dedup_.in_fallback());
  EXPECT_EQ(Mark("Ev1").outcome, ClaimOutcome::kDone);
  // The store is asked again after a minute, and the first answer ends the outage.
  stage_.tables.decide = nullptr;
  stage_.clock.Advance(std::chrono::seconds(61));
  EXPECT_EQ(Mark("Ev1").outcome, ClaimOutcome::kDone);
  EXPECT_FALSE(dedup_.in_fallback());
  EXPECT_EQ(TextIn(stage_.RowOf("Ev1"), "status"), "done");
}

// Memory decides, and when the store is back, the nonce shows that the write of the try was
// applied.
TEST_F(LaterClaimsTest, AClaimWhoseRepliesWereLostIsNotADuplicate) {
  stage_.tables.decide = First(
      {LostReply(), LostReply(), LostReply(), LostReply(), LostReply(), LostReply(), LostReply()});
  const ClaimReply reply = Take("Ev1");
  EXPECT_EQ(reply.outcome, ClaimOutcome::kNew);
  EXPECT_EQ(*dedup_.Complete(*reply.claim), SettleOutcome::kSettled);
  stage_.tables.decide = nullptr;
  stage_.clock.Advance(DeduplicatorOptions().outage);
  EXPECT_EQ(Take("Ev2").outcome, ClaimOutcome::kNew) << "which writes Ev1 back first";
  EXPECT_EQ(TextIn(stage_.RowOf("Ev1"), "status"), "done");
  EXPECT_TRUE(dedup_.PossibleDuplicates().empty());
}

// A caller whose reply was lost asks again with its nonce, and must get the claim as it is stored:
// it can settle no other.
TEST_F(LaterClaimsTest, ARepeatedCallGetsTheStoredClaim) {
  stage_.Taken("Ev1");
  stage_.clock.Advance(std::chrono::seconds(63));
  const ClaimRequest request{.keys = {"Ev1"}, .nonce = "mine"};
  const ClaimReply first = *dedup_.Take(request, &workers_).Wait();
  const ClaimReply again = *dedup_.Take(request, &workers_).Wait();
  EXPECT_EQ(again.outcome, ClaimOutcome::kNew);
  EXPECT_EQ(again.claim->generation, first.claim->generation);
  EXPECT_EQ(*dedup_.Complete(*again.claim), SettleOutcome::kSettled);
}

TEST_F(LaterClaimsTest, AnInvalidRequestIsRefused) {
  const auto reply = dedup_.Take({.keys = {}}, &workers_).Wait();
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace tidemark::dedup
