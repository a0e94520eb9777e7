// A mark together with its effect: both are written or neither, and the effect happens once.
#include <gtest/gtest.h>

#include "apps/dedup/deduplicator.h"
#include "tests/dedup/stage.h"

namespace tidemark::dedup {
namespace {

using testing::LostReply;
using testing::Throttled;

class EffectTest : public ::testing::Test {
 protected:
  EffectTest() {
    CHECK(stage_.model.CreateTable({.table = "effects", .keys = {.partition = {.name = "id"}}})
              .has_value());
  }

  // Adds one to a counter; with a condition, when the counter is as expected.
  Effect Count(std::optional<int64_t> expected = std::nullopt) {
    tables::UpdateRequest update{.table = "effects",
                                 .key = {{"id", "counter"}},
                                 .update = "ADD n :one",
                                 .values = {{":one", item::Number::FromInt(1)}}};
    if (expected) {
      update.condition = "n = :expected";
      update.values.emplace(":expected", item::Number::FromInt(*expected));
    }
    return {update};
  }
  int64_t Counted() {
    const auto row = *stage_.model.Get({.table = "effects", .key = {{"id", "counter"}}});
    return row ? NumberIn(*row, "n") : 0;
  }
  ClaimReply Take(const std::string& key) { return *dedup_.Take({.keys = {key}}); }

  // The model answers at once.
  std::optional<ClaimReply> TryMark(const std::string& key, const Effect& effect) {
    const auto answer = dedup_.TryMarkWith({.keys = {key}}, effect).Wait();
    EXPECT_TRUE(answer.has_value());
    return answer ? *answer : std::nullopt;
  }

  Stage stage_;
  Deduplicator dedup_{{}, &stage_.claims, stage_.test.runtime()};
};

// Without the effect there must be no mark: otherwise the event would be lost.
TEST_F(EffectTest, LeavesNoMarkWhenItsConditionFails) {
  EXPECT_FALSE(TryMark("Ev1", Count(7)).has_value());
  EXPECT_FALSE(stage_.Stored("Ev1").has_value());
  EXPECT_EQ(TryMark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(Counted(), 1);
}

// Only the usual case is decided: a new event whose effect can be written at once. Take tells about
// the others.
TEST_F(EffectTest, HappensOnceWhenTheEventComesSeveralTimes) {
  EXPECT_EQ(TryMark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(TextIn(stage_.RowOf("Ev1"), "status"), "done");
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  EXPECT_EQ(Take("Ev1").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(Counted(), 1);
}

// The try is repeated, and recognises its own row by the nonce.
TEST_F(EffectTest, HappensOnceWhenTheReplyToATryIsLost) {
  stage_.tables.decide = First({LostReply()});
  EXPECT_EQ(TryMark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(Counted(), 1);
}

// After the last lost reply the try does not know the outcome; Take finds out.
TEST_F(EffectTest, HappensOnceWhenAllRepliesToATryAreLost) {
  stage_.tables.decide = [](testing::Operation) { return LostReply(); };
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  stage_.tables.decide = nullptr;
  EXPECT_EQ(Take("Ev1").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(Counted(), 1);
}

// What memory decided in an outage is written before anything new.
TEST_F(EffectTest, IsNotTriedBeforeTheOutageIsWrittenBack) {
  stage_.tables.decide = [](testing::Operation) { return Throttled(); };
  const ClaimReply local = Take("Ev1");
  ASSERT_TRUE(local.claim && local.claim->local);
  stage_.tables.decide = nullptr;
  EXPECT_FALSE(TryMark("Ev2", Count()).has_value());
  stage_.clock.Advance(DeduplicatorOptions().outage);
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  EXPECT_FALSE(TryMark("Ev2", Count()).has_value());
  EXPECT_EQ(Counted(), 0);
  // A blocking call writes it back, and then it is the usual case again.
  EXPECT_EQ(Take("Ev2").outcome, ClaimOutcome::kNew);
  EXPECT_EQ(TryMark("Ev3", Count())->outcome, ClaimOutcome::kNew);
}

// Two deliveries at the same time: the second gets nullopt, and Take answers that it runs.
TEST_F(EffectTest, IsTriedOnceAtATime) {
  bool asked = false;
  stage_.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    if (!testing::Writes(operation) || asked) return std::nullopt;
    asked = true;
    EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
    EXPECT_EQ(Take("Ev1").outcome, ClaimOutcome::kRunning);
    return std::nullopt;
  };
  EXPECT_EQ(TryMark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_TRUE(asked);
  EXPECT_EQ(Counted(), 1);
}

// A mark does not take a claim away from the worker that holds it.
TEST_F(EffectTest, IsNotWrittenWhileAnotherHoldsTheClaim) {
  stage_.Taken("Ev1");
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  EXPECT_EQ(TextIn(stage_.RowOf("Ev1"), "status"), "claimed");
  EXPECT_EQ(Counted(), 0);
}

// Without the store the caller gets a local claim and writes the effect itself.
TEST_F(EffectTest, IsLeftToTheCallerWhileTheStoreIsUnavailable) {
  stage_.tables.decide = [](testing::Operation) { return Throttled(); };
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  const ClaimReply reply = Take("Ev1");
  ASSERT_TRUE(reply.claim);
  EXPECT_TRUE(reply.claim->local);
  EXPECT_EQ(Counted(), 0);
  // Not completed yet: another delivery has to wait.
  EXPECT_EQ(Take("Ev1").outcome, ClaimOutcome::kRunning);
}

}  // namespace
}  // namespace tidemark::dedup
