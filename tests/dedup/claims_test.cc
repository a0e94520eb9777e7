#include "apps/dedup/claims.h"

#include <chrono>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dedup/stage.h"
#include "tests/support/offset_clock.h"
#include "tests/support/process_runtime.h"

namespace tidemark::dedup {
namespace {

using namespace std::chrono_literals;
using testing::Denied;
using testing::LostReply;
using testing::LostRequest;
using testing::Operation;
using testing::Throttled;

constexpr std::string_view kTable = kDefaultTable;

// ---- Rows ----

// The seed's row, attribute for attribute.
// Spec: 004-04
TEST(ClaimsTest, AMarkWritesTheSameRowAsTheSeed) {
  Stage stage;
  const EpochSeconds t = stage.clock.NowSeconds();
  const auto reply = stage.claims.Mark({.keys = {"Ev1"},
                                        .metadata = {{"file_id", "F1"},
                                                     {"channel_id", "C1"},
                                                     {"user_id", "U1"},
                                                     {"lambda_instance_id", "i-1"}}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->outcome, ClaimOutcome::kNew);
  const item::Item row = stage.RowOf("Ev1");
  EXPECT_EQ(TextIn(row, "event_key"), "Ev1");
  EXPECT_EQ(NumberIn(row, "processed_at"), t);
  EXPECT_EQ(TextIn(row, "file_id"), "F1");
  EXPECT_EQ(TextIn(row, "channel_id"), "C1");
  EXPECT_EQ(TextIn(row, "user_id"), "U1");
  EXPECT_EQ(TextIn(row, "lambda_instance_id"), "i-1");
  EXPECT_EQ(NumberIn(row, "ttl"), t + 21600);
  EXPECT_EQ(TextIn(row, "status"), "done");
}

// A field of a message must not decide how long it is remembered.
// Spec: 004-05
TEST(ClaimsTest, MetadataDoesNotReplaceTheClaimsOwnValues) {
  Stage stage;
  const EpochSeconds t = stage.clock.NowSeconds();
  const Metadata hostile = {{"event_key", "other"}, {"ttl", "1"},     {"processed_at", "1"},
                            {"owner", "me"},        {"status", "x"},  {"generation", "9"},
                            {"lease_until", "9"},   {"main_key", "y"}};
  ASSERT_TRUE(stage.claims.Mark({.keys = {"Ev1"}, .metadata = hostile, .nonce = "n"}));
  const item::Item row = stage.RowOf("Ev1");
  EXPECT_EQ(NumberIn(row, "ttl"), t + 21600);
  EXPECT_EQ(NumberIn(row, "processed_at"), t);
  EXPECT_EQ(NumberIn(row, "generation"), 1);
  EXPECT_EQ(TextIn(row, "owner"), "n");
  EXPECT_EQ(TextIn(row, "status"), "done");
  EXPECT_FALSE(row.Contains("main_key"));
  EXPECT_FALSE(stage.Stored("other").has_value());
}

// A bot's post has no user. That is not an error.
// Spec: 004-06
TEST(ClaimsTest, EmptyMetadataIsLeftOut) {
  Stage stage;
  const auto reply = stage.claims.Mark({.keys = {"Ev1"}, .metadata = {{"user_id", ""}, {"", "x"}}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->outcome, ClaimOutcome::kNew);
  EXPECT_FALSE(stage.RowOf("Ev1").Contains("user_id"));
}

// Invalid keys are refused before anything is written.
TEST(ClaimsTest, RefusesInvalidKeys) {
  Stage stage;
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{}, {""}, {"Ev1", ""}, {"content#T1#abc"}, {"near#T1#0#abcd"}}) {
    const auto reply = stage.claims.Take({.keys = keys});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(stage.claims.ListHistory(std::nullopt, 10)->rows.size(), 0u);
}

// ---- Deciding ----

// Spec: 004-08
TEST(ClaimsTest, AKeyIsNewOnce) {
  Stage stage;
  EXPECT_EQ(stage.claims.Mark({.keys = {"Ev1"}})->outcome, ClaimOutcome::kNew);
  const auto again = stage.claims.Mark({.keys = {"Ev1"}});
  EXPECT_EQ(again->outcome, ClaimOutcome::kDone);
  EXPECT_FALSE(again->claim.has_value());
  EXPECT_EQ(again->reason, "Already processed by another instance");
}

// Spec: 004-10
TEST(ClaimsTest, DifferentKeysAreAllNew) {
  Stage stage;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(stage.claims.Mark({.keys = {"Ev" + std::to_string(i)}})->outcome, ClaimOutcome::kNew);
  }
}

// The sweeper may run days later: the condition itself treats an expired row as absent.
// Spec: 004-13
TEST(ClaimsTest, AnExpiredRowIsReplaced) {
  Stage stage;
  ASSERT_TRUE(stage.claims.Mark({.keys = {"Ev1"}, .nonce = "first"}));
  stage.clock.Advance(6h);
  EXPECT_EQ(stage.claims.Mark({.keys = {"Ev1"}, .nonce = "second"})->outcome, ClaimOutcome::kNew);
  const item::Item row = stage.RowOf("Ev1");
  EXPECT_EQ(TextIn(row, "owner"), "second");
  EXPECT_EQ(NumberIn(row, "processed_at"), stage.clock.NowSeconds());
}

// The window ends at the exact second.
// Spec: 004-14
TEST(ClaimsTest, TheWindowEndsAfterSixHours) {
  Stage stage;
  ASSERT_TRUE(stage.claims.Mark({.keys = {"Ev1"}}));
  stage.clock.Advance(5h + 59min);
  EXPECT_EQ(stage.claims.Mark({.keys = {"Ev1"}})->outcome, ClaimOutcome::kDone);
  stage.clock.Advance(59s);
  EXPECT_EQ(stage.claims.Mark({.keys = {"Ev1"}})->outcome, ClaimOutcome::kDone);
  stage.clock.Advance(1s);
  EXPECT_EQ(stage.claims.Mark({.keys = {"Ev1"}})->outcome, ClaimOutcome::kNew);
}

// Spec: 004-15
TEST(ClaimsTest, TheSweeperTakesExpiredRowsOnly) {
  Stage stage;
  ASSERT_TRUE(stage.claims.Mark({.keys = {"old"}}));
  stage.clock.Advance(1h);
  ASSERT_TRUE(stage.claims.Mark({.keys = {"young"}}));
  stage.clock.Advance(5h);
  stage.model.Maintain();
  EXPECT_FALSE(stage.Stored("old").has_value());
  EXPECT_TRUE(stage.Stored("young").has_value());
}

// A row that the seed's own code wrote has no status.
TEST(ClaimsTest, ARowWrittenByTheSeedMeansDone) {
  Stage stage;
  ASSERT_TRUE(
      stage.model.Put({.table = std::string(kTable),
                       .item = {{"event_key", "Ev1"},
                                {"processed_at", item::Number::FromInt(stage.clock.NowSeconds())},
                                {"ttl", item::Number::FromInt(stage.clock.NowSeconds() + 100)}}}));
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kDone);
}

// A key with another payload gets an answer of its own.
TEST(ClaimsTest, AnotherPayloadUnderTheSameKeyIsAMismatch) {
  Stage stage;
  const ClaimRequest first{.keys = {"Ev1"}, .payload_hash = "aa"};
  ASSERT_EQ(stage.claims.Take(first)->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(stage.claims.Take({.keys = {"Ev1"}, .payload_hash = "bb"})->outcome,
            ClaimOutcome::kPayloadMismatch);
  EXPECT_EQ(stage.claims.Take(first)->outcome, ClaimOutcome::kRunning);
  EXPECT_EQ(stage.claims.Take({.keys = {"Ev1"}})->outcome, ClaimOutcome::kRunning);
}

// Slack's retries: almost at once, after a minute, after five.
// Spec: 004-16
TEST(ClaimsTest, SlacksRetriesRunOnce) {
  Stage stage;
  const Claim claim = stage.Taken("Ev1");
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kRunning);
  ASSERT_EQ(*stage.claims.Complete(claim), SettleOutcome::kSettled);
  stage.clock.Advance(60s);
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kDone);
  stage.clock.Advance(240s);
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kDone);
}

// ---- Claim, complete, release ----

// Spec: 004-17
TEST(ClaimsTest, CompletionIsKeptUntilTheWindowEnds) {
  Stage stage;
  const EpochSeconds t = stage.clock.NowSeconds();
  const Claim claim = stage.Taken("Ev1");
  EXPECT_EQ(TextIn(stage.RowOf("Ev1"), "status"), "claimed");
  stage.clock.Advance(7s);
  ASSERT_EQ(*stage.claims.Complete(claim, "posted 3 files"), SettleOutcome::kSettled);
  const item::Item row = stage.RowOf("Ev1");
  EXPECT_EQ(TextIn(row, "status"), "done");
  EXPECT_EQ(NumberIn(row, "completed_at"), t + 7);
  EXPECT_EQ(NumberIn(row, "ttl"), t + 21600);
  const auto later = stage.claims.Take({.keys = {"Ev1"}});
  EXPECT_EQ(later->outcome, ClaimOutcome::kDone);
  EXPECT_EQ(later->result, "posted 3 files");
  // Settling the same claim again is not an error and changes nothing.
  stage.clock.Advance(1s);
  EXPECT_EQ(*stage.claims.Complete(claim), SettleOutcome::kSettled);
  EXPECT_EQ(stage.RowOf("Ev1"), row);
}

TEST(ClaimsTest, AResultHasALimit) {
  Stage stage;
  const Claim claim = stage.Taken("Ev1");
  EXPECT_TRUE(stage.claims.Complete(claim, std::string(1024, 'x')));
  EXPECT_EQ(stage.claims.Complete(claim, std::string(1025, 'x')).error().code, ErrorCode::kInvalid);
}

// Spec: 004-18
TEST(ClaimsTest, AReleasedKeyIsNewAgain) {
  Stage stage;
  const Claim claim = stage.Taken("Ev1");
  ASSERT_EQ(*stage.claims.Release(claim), SettleOutcome::kSettled);
  EXPECT_EQ(*stage.claims.Release(claim), SettleOutcome::kSettled);
  const Claim next = stage.Taken("Ev1");
  EXPECT_EQ(next.generation, 2);
  EXPECT_EQ(*stage.claims.Complete(next), SettleOutcome::kSettled);
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kDone);
}

// A claim is taken over only when its lease has ended for the length of the skew.
// Spec: 004-19
TEST(ClaimsTest, ACrashedOwnersKeyIsNewAfterItsLease) {
  Stage stage;
  stage.Taken("Ev1");
  stage.clock.Advance(60s);
  const auto running = stage.claims.Take({.keys = {"Ev1"}});
  EXPECT_EQ(running->outcome, ClaimOutcome::kRunning);
  EXPECT_EQ(running->lease_until, stage.clock.NowSeconds());
  stage.clock.Advance(2s);
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kRunning);
  stage.clock.Advance(1s);
  EXPECT_EQ(stage.Taken("Ev1").generation, 2);
}

// A process whose clock is ahead by the declared skew does not take over before the lease has
// ended. With a larger difference it may; the owner then finds out when it settles.
TEST(ClaimsTest, AClockThatIsAheadByTheSkewDoesNotTakeOverTooEarly) {
  for (const auto& [ahead, early] : {std::pair{2s, false}, std::pair{3s, true}}) {
    Stage stage;
    const testing::OffsetClock fast(&stage.clock, ahead);
    testing::ProcessRuntime process(fast, &stage.clock, 2);
    Claims taker({}, &stage.tables, process.runtime());
    const Claim claim = stage.Taken("Ev1");
    stage.clock.Advance(60s);  // Its last second.
    const bool taken = taker.Take({.keys = {"Ev1"}})->outcome == ClaimOutcome::kNew;
    EXPECT_EQ(taken, early);
    EXPECT_EQ(*stage.claims.Complete(claim),
              early ? SettleOutcome::kSuperseded : SettleOutcome::kSettled);
  }
}

// Work that must not be repeated is left to a person.
TEST(ClaimsTest, ALapsedClaimIsReportedWhenItMustNotBeRepeated) {
  Stage stage;
  const ClaimRequest request{.keys = {"Ev1"}, .on_lapse = OnLapse::kReport};
  ASSERT_EQ(stage.claims.Take(request)->outcome, ClaimOutcome::kNew);
  stage.clock.Advance(63s);
  EXPECT_EQ(stage.claims.Take(request)->outcome, ClaimOutcome::kOutcomeUnknown);
  // A person who found out that the work was done marks it.
  EXPECT_EQ(stage.claims.Mark({.keys = {"Ev1"}})->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(stage.claims.Take(request)->outcome, ClaimOutcome::kDone);
}

// Spec: 004-20
TEST(ClaimsTest, ASupersededOwnerChangesNothing) {
  Stage stage;
  Claim a = stage.Taken("Ev1");
  stage.clock.Advance(63s);
  const Claim b = stage.Taken("Ev1");
  const item::Item row = stage.RowOf("Ev1");
  EXPECT_EQ(*stage.claims.Complete(a), SettleOutcome::kSuperseded);
  EXPECT_EQ(*stage.claims.Release(a), SettleOutcome::kSuperseded);
  EXPECT_EQ(*stage.claims.Fail(a, "late"), SettleOutcome::kSuperseded);
  EXPECT_EQ(*stage.claims.Renew(&a), SettleOutcome::kSuperseded);
  EXPECT_EQ(stage.RowOf("Ev1"), row);
  EXPECT_EQ(*stage.claims.Complete(b), SettleOutcome::kSettled);
}

// The nonce alone is not enough: the same owner may have held an earlier generation.
TEST(ClaimsTest, AnEarlierGenerationOfTheSameOwnerIsSuperseded) {
  Stage stage;
  const Claim first = *stage.claims.Take({.keys = {"Ev1"}, .nonce = "n"})->claim;
  ASSERT_EQ(*stage.claims.Release(first), SettleOutcome::kSettled);
  const Claim second = *stage.claims.Take({.keys = {"Ev1"}, .nonce = "n"})->claim;
  EXPECT_EQ(second.generation, 2);
  EXPECT_EQ(*stage.claims.Complete(first), SettleOutcome::kSuperseded);
  EXPECT_EQ(*stage.claims.Complete(second), SettleOutcome::kSettled);
}

// No other worker took the claim over, so completing it late is fine.
TEST(ClaimsTest, ALapsedOwnerMayStillCompleteWhenNobodyTookOver) {
  Stage stage;
  const Claim claim = stage.Taken("Ev1");
  stage.clock.Advance(1h);
  EXPECT_EQ(*stage.claims.Complete(claim), SettleOutcome::kSettled);
}

// It must make no difference whether the sweeper has run.
TEST(ClaimsTest, AnExpiredClaimIsSupersededWhetherSweptOrNot) {
  for (const bool swept : {false, true}) {
    Stage stage;
    const Claim claim = stage.Taken("Ev1");
    stage.clock.Advance(6h);
    if (swept) stage.model.Maintain();
    EXPECT_EQ(*stage.claims.Complete(claim), SettleOutcome::kSuperseded) << swept;
  }
}

// Spec: 004-21
TEST(ClaimsTest, ARenewedClaimIsStillRunning) {
  Stage stage;
  Claim claim = stage.Taken("Ev1");
  for (int i = 0; i < 10; ++i) {
    stage.clock.Advance(50s);
    ASSERT_EQ(*stage.claims.Renew(&claim), SettleOutcome::kSettled);
    EXPECT_EQ(claim.lease_until, stage.clock.NowSeconds() + 60);
    EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kRunning);
  }
  stage.clock.Advance(59s);
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kRunning);
  EXPECT_EQ(*stage.claims.Complete(claim), SettleOutcome::kSettled);
}

// Renewed work that lasts longer than the window is not given to others.
TEST(ClaimsTest, ARenewedClaimOutlivesTheWindow) {
  Stage stage({.window = 100s});
  Claim claim = stage.Taken("Ev1");
  for (int i = 0; i < 10; ++i) {
    stage.clock.Advance(50s);
    ASSERT_EQ(*stage.claims.Renew(&claim), SettleOutcome::kSettled);
    EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kRunning);
  }
}

// A caller shows its claim when it renews it, and may have written any time into it.
// Review: F11
TEST(ClaimsTest, ARenewalIsNoLongerThanALeaseMayBe) {
  Stage stage;
  Claim claim = stage.Taken("Ev1");
  for (const EpochSeconds asked :
       {stage.clock.NowSeconds() + 3'000'000'000, std::numeric_limits<EpochSeconds>::max()}) {
    claim.lease_until = asked;
    ASSERT_EQ(*stage.claims.Renew(&claim), SettleOutcome::kSettled);
    EXPECT_EQ(claim.lease_until, stage.clock.NowSeconds() + 12 * 3600);
  }
}

// A claim that was taken for longer than usual is not cut short by its renewal.
TEST(ClaimsTest, ARenewalDoesNotShortenALongLease) {
  Stage stage;
  Claim claim = *stage.claims.Take({.keys = {"Ev1"}, .lease = 2h})->claim;
  const EpochSeconds until = claim.lease_until;
  ASSERT_EQ(*stage.claims.Renew(&claim), SettleOutcome::kSettled);
  EXPECT_EQ(claim.lease_until, until);
}

// Review: F14
TEST(ClaimsTest, AKeyLongerThanATableTakesIsTheCallersMistake) {
  Stage stage;
  EXPECT_TRUE(stage.claims.Take({.keys = {std::string(2048, 'k')}}));
  const auto reply = stage.claims.Take({.keys = {std::string(2049, 'k')}});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalid);
}

// Spec: 004-22
TEST(ClaimsTest, ReleasingACompletedKeyChangesNothing) {
  Stage stage;
  const Claim claim = stage.Taken("Ev1");
  ASSERT_EQ(*stage.claims.Complete(claim), SettleOutcome::kSettled);
  const item::Item row = stage.RowOf("Ev1");
  EXPECT_EQ(*stage.claims.Release(claim), SettleOutcome::kSuperseded);
  EXPECT_EQ(stage.RowOf("Ev1"), row);
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kDone);
}

// Spec: 004-23
TEST(ClaimsTest, WorkThatFailsTooOftenIsNotRunAgain) {
  Stage stage({.max_failures = 3});
  for (int i = 1; i <= 3; ++i) {
    const Claim claim = stage.Taken("Ev1");
    EXPECT_EQ(*stage.claims.Fail(claim, "no such file"), SettleOutcome::kSettled);
    EXPECT_EQ(*stage.claims.Fail(claim, "no such file"), SettleOutcome::kSettled);
    EXPECT_EQ(NumberIn(stage.RowOf("Ev1"), "failures"), i);
  }
  const auto reply = stage.claims.Take({.keys = {"Ev1"}});
  EXPECT_EQ(reply->outcome, ClaimOutcome::kFailed);
  EXPECT_EQ(reply->reason, "Failed 3 times: no such file");
  stage.clock.Advance(1h);
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kFailed);
}

// One failure is enough when none is allowed. A reason with any bytes is stored as valid text.
TEST(ClaimsTest, TheReasonOfAFailureIsStoredAsValidText) {
  Stage stage({.max_failures = 1});
  const Claim claim = stage.Taken("Ev1");
  EXPECT_EQ(*stage.claims.Fail(claim, "\xff\xfe" + std::string(2000, 'x')),
            SettleOutcome::kSettled);
  const item::Item row = stage.RowOf("Ev1");
  EXPECT_EQ(TextIn(row, "failure"), "??" + std::string(1022, 'x'));
  EXPECT_EQ(TextIn(row, "status"), "failed");
}

// A release is not a failure, and does not reset the count of failures.
TEST(ClaimsTest, ReleaseKeepsTheCountOfFailures) {
  Stage stage({.max_failures = 2});
  EXPECT_EQ(*stage.claims.Fail(stage.Taken("Ev1"), "x"), SettleOutcome::kSettled);
  EXPECT_EQ(*stage.claims.Release(stage.Taken("Ev1")), SettleOutcome::kSettled);
  EXPECT_EQ(*stage.claims.Fail(stage.Taken("Ev1"), "x"), SettleOutcome::kSettled);
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kFailed);
}

// The owner's own retry must not look like a duplicate: otherwise the work would not be done.
// Spec: 004-24
TEST(ClaimsTest, ALostReplyIsRecognisedByItsNonce) {
  for (const auto& fault : {LostReply(), LostRequest()}) {
    Stage stage;
    stage.tables.decide = First({fault});
    const Claim claim = stage.Taken("Ev1");
    EXPECT_EQ(claim.generation, 1);
    EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kRunning);
    stage.tables.decide = First({fault});
    EXPECT_EQ(*stage.claims.Complete(claim), SettleOutcome::kSettled);
    EXPECT_EQ(stage.claims.Mark({.keys = {"Ev1"}})->outcome, ClaimOutcome::kDone);
    stage.tables.decide = First({fault});
    EXPECT_EQ(stage.claims.Mark({.keys = {"Ev2"}})->outcome, ClaimOutcome::kNew);
  }
}

// A client that lost the HTTP reply repeats the whole call with the same nonce.
TEST(ClaimsTest, ACallRepeatedWithTheSameNonceGetsTheSameClaim) {
  Stage stage;
  const ClaimRequest request{.keys = {"Ev1", "F1_1.2"}, .nonce = "mine"};
  const Claim first = *stage.claims.Take(request)->claim;
  stage.clock.Advance(5s);
  const auto again = stage.claims.Take(request);
  ASSERT_EQ(again->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(again->claim->generation, first.generation);
  EXPECT_EQ(again->claim->lease_until, first.lease_until);
  ASSERT_EQ(*stage.claims.Complete(first), SettleOutcome::kSettled);
  const auto late = stage.claims.Take(request);
  EXPECT_EQ(late->outcome, ClaimOutcome::kDone);
  EXPECT_TRUE(late->own);
}

// ---- Aliases ----

// An upload has several keys. A claim on one of them claims all.
TEST(ClaimsTest, AliasesAreClaimedTogetherOrNotAtAll) {
  Stage stage;
  const auto reply = stage.claims.Take({.keys = {"a", "b", "a"}});
  ASSERT_EQ(reply->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(reply->claim->keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(TextIn(stage.RowOf("b"), "main_key"), "a");
  EXPECT_EQ(stage.claims.Take({.keys = {"c", "b"}})->outcome, ClaimOutcome::kRunning);
  EXPECT_FALSE(stage.Stored("c").has_value());
  ASSERT_EQ(*stage.claims.Complete(*reply->claim), SettleOutcome::kSettled);
  EXPECT_EQ(stage.Outcome("b"), ClaimOutcome::kDone);
  EXPECT_EQ(stage.claims.Take({.keys = {"c", "b"}})->outcome, ClaimOutcome::kDone);
}

// The strongest answer counts, at any position in the list.
TEST(ClaimsTest, TheStrongestOfSeveralAnswersCounts) {
  Stage stage;
  stage.Taken("running");
  ASSERT_TRUE(stage.claims.Mark({.keys = {"done"}}));
  EXPECT_EQ(stage.claims.Take({.keys = {"running", "done"}})->outcome, ClaimOutcome::kDone);
  EXPECT_EQ(stage.claims.Take({.keys = {"done", "running"}})->outcome, ClaimOutcome::kDone);
  EXPECT_EQ(stage.claims.Take({.keys = {"new", "running"}})->outcome, ClaimOutcome::kRunning);
}

// A released key and a new key become one claim with one generation.
TEST(ClaimsTest, AClaimOverReleasedAndNewKeysHasOneGeneration) {
  Stage stage;
  ASSERT_TRUE(stage.claims.Release(stage.Taken("a")));
  const auto reply = stage.claims.Take({.keys = {"b", "a"}});
  ASSERT_EQ(reply->outcome, ClaimOutcome::kNew);
  EXPECT_EQ(reply->claim->generation, 2);
  EXPECT_EQ(NumberIn(stage.RowOf("a"), "generation"), 2);
  EXPECT_EQ(NumberIn(stage.RowOf("b"), "generation"), 2);
  EXPECT_EQ(*stage.claims.Fail(*reply->claim, "x"), SettleOutcome::kSettled);
  EXPECT_EQ(TextIn(stage.RowOf("b"), "status"), "released");
}

// The effect and the mark are one transaction: both are written, or neither.
TEST(ClaimsTest, CompletionGoesIntoATransactionWithTheEffect) {
  Stage stage;
  ASSERT_TRUE(stage.model.CreateTable({.table = "effects", .keys = {.partition = {"id"}}}));
  const Claim a = stage.Taken("Ev1");
  stage.clock.Advance(63s);
  const Claim b = stage.Taken("Ev1");
  const auto with_effect = [&](const Claim& claim, const char* id) {
    auto actions = stage.claims.Completion(claim);
    actions.emplace_back(tables::PutRequest{.table = "effects", .item = {{"id", id}}});
    return stage.model.TransactWrite({.actions = actions})->outcome;
  };
  EXPECT_EQ(with_effect(a, "a"), tables::TransactOutcome::kCancelled);
  EXPECT_EQ(with_effect(b, "b"), tables::TransactOutcome::kApplied);
  EXPECT_EQ(stage.Outcome("Ev1"), ClaimOutcome::kDone);
  EXPECT_EQ(stage.model.Scan({.table = "effects"})->count, 1u);
}

// ---- Store errors ----

// Spec: 004-25
TEST(ClaimsTest, ThrottlingIsRetriedAfterGrowingWaits) {
  Stage stage({.retry = {.max_retries = 4, .first_wait = 25ms, .longest_wait = 400ms}});
  stage.tables.decide = First({Throttled(), Throttled()});
  const auto reply = stage.claims.Mark({.keys = {"Ev1"}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->outcome, ClaimOutcome::kNew);
  EXPECT_FALSE(reply->fallback);
  EXPECT_TRUE(stage.Stored("Ev1").has_value());
  EXPECT_THAT(stage.sleeper.slept(), ::testing::ElementsAre(25ms, 50ms));
}

TEST(ClaimsTest, RetriesEndWithTheDeadline) {
  Stage stage({.retry = {.max_retries = 100, .first_wait = 100ms, .longest_wait = 400ms},
               .deadline = 1000ms});
  stage.tables.decide = [](Operation) { return Throttled(); };
  const auto reply = stage.claims.Take({.keys = {"Ev1"}});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(stage.sleeper.slept(), ::testing::ElementsAre(100ms, 200ms, 400ms));
}

// When any of the tries may have been applied, the caller gets kUnknown.
TEST(ClaimsTest, ALostReplyAmongThrottlesIsUnknown) {
  Stage stage({.retry = {.max_retries = 1, .first_wait = 1ms, .longest_wait = 1ms}});
  stage.tables.decide = First({LostReply(), Throttled()});
  EXPECT_EQ(stage.claims.Take({.keys = {"Ev1"}}).error().code, ErrorCode::kUnknown);
}

// An error that is the store's decision is not an outage, and is not retried.
TEST(ClaimsTest, RefusalsOfTheStoreAreNotRetried) {
  Stage stage;
  int calls = 0;
  stage.tables.decide = [&](Operation) {
    ++calls;
    return Denied();
  };
  EXPECT_EQ(stage.claims.Take({.keys = {"Ev1"}}).error().code, ErrorCode::kDenied);
  EXPECT_EQ(stage.claims.Complete({.keys = {"Ev1"}, .nonce = "n"}).error().code,
            ErrorCode::kDenied);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(stage.sleeper.slept().empty());
}

// ---- The table ----

// Spec: 004-46
TEST(ClaimsTest, AMissingTableIsAClearError) {
  Stage stage;
  Claims elsewhere({.table = "no-such-table"}, &stage.tables, stage.test.runtime());
  const Status status = elsewhere.CheckTable();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(status.error().message, ::testing::HasSubstr("no-such-table"));
  EXPECT_THAT(status.error().message, ::testing::HasSubstr("DEDUP_TABLE_NAME"));
  EXPECT_TRUE(stage.claims.CheckTable());
  EXPECT_EQ(elsewhere.Take({.keys = {"Ev1"}}).error().code, ErrorCode::kNotFound);
}

// The table has the seed's layout, and only the seed's permissions and UpdateItem are needed.
// Spec: 004-47
TEST(ClaimsTest, TheTableHasTheSeedsLayoutAndNeedsFewPermissions) {
  Stage stage;
  const auto table = *stage.model.DescribeTable(std::string(kTable));
  EXPECT_EQ(table.keys, (item::KeySchema{.partition = {"event_key", item::Type::kString}}));
  EXPECT_EQ(table.ttl_attribute, "ttl");
  EXPECT_FALSE(table.throughput.has_value());
  EXPECT_EQ(stage.model.ListTags(std::string(kTable))->at("Application"), "slack-classify-bot");
  EXPECT_TRUE(stage.claims.CreateTable());  // The second call finds the table.

  stage.tables.decide = [](Operation operation) -> std::optional<testing::Fault> {
    const bool granted = operation == Operation::kDescribe || operation == Operation::kPut ||
                         operation == Operation::kUpdate;
    return granted ? std::nullopt : std::optional(Denied());
  };
  EXPECT_TRUE(stage.claims.CheckTable());
  EXPECT_EQ(stage.claims.Mark({.keys = {"Ev1"}})->outcome, ClaimOutcome::kNew);
  Claim claim = stage.Taken("Ev2");
  EXPECT_TRUE(stage.claims.Renew(&claim));
  EXPECT_TRUE(stage.claims.Complete(claim));
  EXPECT_TRUE(stage.claims.Release(stage.Taken("Ev3")));
  EXPECT_TRUE(stage.claims.Fail(stage.Taken("Ev4"), "x"));
}

// Several keys of one event are claimed in a transaction, which DynamoDB allows to a caller who
// may put, update and delete each of its items. The transaction has only such actions.
// Spec: 004-47
TEST(ClaimsTest, SeveralKeysNeedNoMorePermissions) {
  Stage stage;
  stage.tables.decide = [](Operation operation) -> std::optional<testing::Fault> {
    const bool granted = operation == Operation::kDescribe || operation == Operation::kPut ||
                         operation == Operation::kUpdate || operation == Operation::kTransact;
    return granted ? std::nullopt : std::optional(Denied());
  };
  const auto taken = [&](const std::string& name) {
    return stage.claims.Take({.keys = {name, name + "-alias"}})->claim.value();
  };
  EXPECT_EQ(stage.claims.Mark({.keys = {"Ev1", "Ev1-alias"}})->outcome, ClaimOutcome::kNew);
  Claim claim = taken("Ev2");
  EXPECT_TRUE(stage.claims.Renew(&claim));
  EXPECT_TRUE(stage.claims.Complete(claim));
  EXPECT_TRUE(stage.claims.Release(taken("Ev3")));
  EXPECT_TRUE(stage.claims.Fail(taken("Ev4"), "x"));
  EXPECT_EQ(stage.claims.Take({.keys = {"Ev2-alias"}})->outcome, ClaimOutcome::kDone);
  EXPECT_EQ(stage.claims.Take({.keys = {"Ev3-alias"}})->outcome, ClaimOutcome::kNew);
}

TEST(ClaimsTest, ATableWithOtherKeysIsRefused) {
  Stage stage;
  ASSERT_TRUE(stage.model.CreateTable({.table = "users", .keys = {.partition = {"id"}}}));
  Claims elsewhere({.table = "users"}, &stage.tables, stage.test.runtime());
  EXPECT_EQ(elsewhere.CreateTable().error().code, ErrorCode::kInvalid);
  EXPECT_EQ(elsewhere.CheckTable().error().code, ErrorCode::kInvalid);
}

// The pages have every claim once, without expired rows and content rows.
TEST(ClaimsTest, HistoryIsListedInPages) {
  Stage stage;
  ASSERT_TRUE(stage.claims.Mark({.keys = {"old"}}));
  stage.clock.Advance(6h);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(stage.claims.Mark({.keys = {"Ev" + std::to_string(i)}}));
  }
  ASSERT_TRUE(stage.claims.Fail(stage.Taken("bad"), "x"));
  std::map<std::string, RowStatus> seen;
  std::optional<std::string> after;
  do {
    const auto page = stage.claims.ListHistory(after, 3);
    ASSERT_TRUE(page);
    for (const Row& row : page->rows) {
      EXPECT_EQ(row.processed_at, stage.clock.NowSeconds());
      EXPECT_TRUE(seen.emplace(row.key, row.status).second);
    }
    after = page->last;
  } while (after);
  EXPECT_EQ(seen.size(), 11u);
  EXPECT_EQ(seen.at("bad"), RowStatus::kReleased);
  EXPECT_EQ(seen.at("Ev3"), RowStatus::kDone);
}

}  // namespace
}  // namespace tidemark::dedup
