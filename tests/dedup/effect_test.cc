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
  std::optional<ClaimReply> Mark(const std::string& key, const Effect& effect) {
    return *dedup_.MarkWith({.keys = {key}}, effect);
  }

  // The same without blocking; the model answers at once.
  std::optional<ClaimReply> TryMark(const std::string& key, const Effect& effect) {
    const auto answer = dedup_.TryMarkWith({.keys = {key}}, effect).Wait();
    EXPECT_TRUE(answer.has_value());
    return answer ? *answer : std::nullopt;
  }

  Stage stage_;
  Deduplicator dedup_{{}, &stage_.claims, stage_.test.runtime()};
};

TEST_F(EffectTest, HappensOnceWhenTheEventComesSeveralTimes) {
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(TextIn(stage_.RowOf("Ev1"), "status"), "done");
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kDone);
  EXPECT_EQ(Counted(), 1);
}

// Without the effect there must be no mark: otherwise the event would be lost.
TEST_F(EffectTest, LeavesNoMarkWhenItsConditionFails) {
  EXPECT_FALSE(Mark("Ev1", Count(7)).has_value());
  EXPECT_FALSE(stage_.Stored("Ev1").has_value());
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(Counted(), 1);
}

// Without blocking only the usual case is decided: a new event whose effect can be written at once.
TEST_F(EffectTest, IsWrittenWithoutBlockingInTheUsualCase) {
  EXPECT_EQ(TryMark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(TextIn(stage_.RowOf("Ev1"), "status"), "done");
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  EXPECT_FALSE(TryMark("Ev2", Count(7)).has_value());
  EXPECT_FALSE(stage_.Stored("Ev2").has_value());
  stage_.Taken("Ev3");
  EXPECT_FALSE(TryMark("Ev3", Count()).has_value());
  EXPECT_EQ(Counted(), 1);
  // A try leaves nothing behind that would prevent the next one.
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kDone);
  EXPECT_EQ(Mark("Ev2", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(Counted(), 2);
}

// The try is repeated, and recognises its own row by the nonce.
TEST_F(EffectTest, HappensOnceWhenTheReplyToATryIsLost) {
  stage_.tables.decide = First({LostReply()});
  EXPECT_EQ(TryMark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(Counted(), 1);
}

// After the last lost reply the try does not know the outcome; MarkWith finds out.
TEST_F(EffectTest, HappensOnceWhenAllRepliesToATryAreLost) {
  stage_.tables.decide = [](testing::Operation) { return LostReply(); };
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  stage_.tables.decide = nullptr;
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kDone);
  EXPECT_EQ(Counted(), 1);
}

// What memory decided in an outage is written before anything new.
TEST_F(EffectTest, IsNotTriedBeforeTheOutageIsWrittenBack) {
  stage_.tables.decide = [](testing::Operation) { return Throttled(); };
  const auto local = Mark("Ev1", Count());
  ASSERT_TRUE(local && local->claim && local->claim->local);
  stage_.tables.decide = nullptr;
  EXPECT_FALSE(TryMark("Ev2", Count()).has_value());
  stage_.clock.Advance(DeduplicatorOptions().outage);
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  EXPECT_FALSE(TryMark("Ev2", Count()).has_value());
  EXPECT_EQ(Counted(), 0);
  // A blocking call writes it back, and then it is the usual case again.
  EXPECT_EQ(Mark("Ev2", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(TryMark("Ev3", Count())->outcome, ClaimOutcome::kNew);
}

// Two deliveries at the same time: the second gets nullopt, and MarkWith answers that it runs.
TEST_F(EffectTest, IsTriedOnceAtATime) {
  bool asked = false;
  stage_.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    if (!testing::Writes(operation) || asked) return std::nullopt;
    asked = true;
    EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
    EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kRunning);
    return std::nullopt;
  };
  EXPECT_EQ(TryMark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_TRUE(asked);
  EXPECT_EQ(Counted(), 1);
}

// A mark does not take a claim away from the worker that holds it.
TEST_F(EffectTest, IsNotWrittenWhileAnotherHoldsTheClaim) {
  stage_.Taken("Ev1");
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kRunning);
  EXPECT_EQ(Counted(), 0);
}

// The repeated transaction is refused by its own row and recognises it by the nonce.
TEST_F(EffectTest, HappensOnceWhenTheReplyIsLost) {
  stage_.tables.decide = First({LostReply()});
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(Counted(), 1);
}

// Without the store the caller gets a local claim and writes the effect itself.
TEST_F(EffectTest, IsLeftToTheCallerWhileTheStoreIsUnavailable) {
  stage_.tables.decide = [](testing::Operation) { return Throttled(); };
  const auto reply = Mark("Ev1", Count());
  ASSERT_TRUE(reply && reply->claim);
  EXPECT_TRUE(reply->claim->local);
  EXPECT_EQ(Counted(), 0);
  // Not completed yet: another delivery has to wait.
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kRunning);
}

}  // namespace
}  // namespace tidemark::dedup
