// A mark together with its effect: both are there or neither, and the effect happens once.
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

  // The same without waiting; the model answers at once.
  std::optional<ClaimReply> TryMark(const std::string& key, const Effect& effect) {
    std::optional<std::optional<ClaimReply>> answer;
    dedup_.TryMarkWith({.keys = {key}}, effect,
                       [&](std::optional<ClaimReply> reply) { answer = std::move(reply); });
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(std::nullopt);
  }

  Stage stage_;
  Deduplicator dedup_{{}, &stage_.claims, &stage_.clock, &stage_.random, nullptr, nullptr};
};

TEST_F(EffectTest, HappensOnceHoweverOftenTheEventComes) {
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(TextIn(stage_.RowOf("Ev1"), "status"), "done");
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kDone);
  EXPECT_EQ(Counted(), 1);
}

// The mark must not outlive an effect that did not happen: the event would be lost.
TEST_F(EffectTest, LeavesNoMarkWhenItsConditionFails) {
  EXPECT_FALSE(Mark("Ev1", Count(7)).has_value());
  EXPECT_FALSE(stage_.Stored("Ev1").has_value());
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(Counted(), 1);
}

// Without waiting only the usual case is decided: a new event that can be taken in at once.
TEST_F(EffectTest, IsTriedWithoutWaiting) {
  EXPECT_EQ(TryMark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(TextIn(stage_.RowOf("Ev1"), "status"), "done");
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  EXPECT_FALSE(TryMark("Ev2", Count(7)).has_value());
  EXPECT_FALSE(stage_.Stored("Ev2").has_value());
  stage_.Taken("Ev3");
  EXPECT_FALSE(TryMark("Ev3", Count()).has_value());
  EXPECT_EQ(Counted(), 1);
  // A try leaves nothing behind that would be in the way of the next.
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kDone);
  EXPECT_EQ(Mark("Ev2", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(Counted(), 2);
}

// Of a lost reply the try knows nothing; asking again finds out.
TEST_F(EffectTest, HappensOnceWhenTheReplyToATryIsLost) {
  stage_.tables.decide = First({LostReply()});
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kDone);
  EXPECT_EQ(Counted(), 1);
}

// What memory decided while the store was away comes before anything new.
TEST_F(EffectTest, IsNotTriedBeforeTheStoreKnowsWhatHappenedWithoutIt) {
  stage_.tables.decide = [](testing::Operation) { return Throttled(); };
  const auto local = Mark("Ev1", Count());
  ASSERT_TRUE(local && local->claim && local->claim->local);
  stage_.tables.decide = nullptr;
  EXPECT_FALSE(TryMark("Ev2", Count()).has_value());
  stage_.clock.Advance(DeduplicatorOptions().outage);
  EXPECT_FALSE(TryMark("Ev1", Count()).has_value());
  EXPECT_FALSE(TryMark("Ev2", Count()).has_value());
  EXPECT_EQ(Counted(), 0);
  // Somebody who waits brings it there, and then it is the usual case again.
  EXPECT_EQ(Mark("Ev2", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(TryMark("Ev3", Count())->outcome, ClaimOutcome::kNew);
}

// Two deliveries at the same moment: the second is told to ask, and hears that it is under way.
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

// Who is at work on it finishes it; a mark does not take it away.
TEST_F(EffectTest, IsNotMadeUnderAnothersClaim) {
  stage_.Taken("Ev1");
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kRunning);
  EXPECT_EQ(Counted(), 0);
}

// Sent again, the transaction is refused by its own row, which is known by its nonce.
TEST_F(EffectTest, HappensOnceWhenTheReplyIsLost) {
  stage_.tables.decide = First({LostReply()});
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(Counted(), 1);
}

// Without the store the caller holds a local claim and makes the effect by itself.
TEST_F(EffectTest, IsLeftToTheCallerWhileTheStoreIsAway) {
  stage_.tables.decide = [](testing::Operation) { return Throttled(); };
  const auto reply = Mark("Ev1", Count());
  ASSERT_TRUE(reply && reply->claim);
  EXPECT_TRUE(reply->claim->local);
  EXPECT_EQ(Counted(), 0);
  // Not completed yet: another delivery waits.
  EXPECT_EQ(Mark("Ev1", Count())->outcome, ClaimOutcome::kRunning);
}

}  // namespace
}  // namespace tidemark::dedup
