#include "apps/dedup/deduplicator.h"

#include <chrono>
#include <functional>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dedup/mark_now.h"
#include "tests/dedup/stage.h"

namespace tidemark::dedup {
namespace {

const std::string kTableLabel = "table=\"slack-classify-bot-processed-events\"";

using namespace std::chrono_literals;
using testing::Denied;
using ::testing::HasSubstr;
using testing::LostReply;
using testing::Operation;
using testing::Throttled;

// A process: its own memory, and a store that all processes share.
class Process {
 public:
  explicit Process(Stage* stage, const DeduplicatorOptions& options = {})
      : random_(stage->random.Next()),
        logger_({.level = LogLevel::kDebug, .format = LogFormat::kJson}, stage->clock, &log),
        dedup(options, &stage->claims,
              {.clock = stage->clock,
               .random = random_,
               .sleeper = stage->sleeper,
               .logger = logger_,
               .metrics = metrics}) {}

  ClaimReply Mark(const std::string& key) { return *MarkNow(dedup, {.keys = {key}}); }
  ClaimReply Take(const std::string& key) { return *dedup.Take({.keys = {key}}); }
  size_t LogLines(std::string_view text) const {
    size_t count = 0;
    std::istringstream lines(log.str());
    for (std::string line; std::getline(lines, line);) {
      if (line.find(text) != std::string::npos) ++count;
    }
    return count;
  }

 private:
  SeededRandom random_;

 public:
  std::ostringstream log;
  Metrics metrics;

 private:
  Logger logger_;

 public:
  Deduplicator dedup;
};

// Fails every call while it is set, and counts them.
class Switch {
 public:
  explicit Switch(Stage* stage) : stage_(*stage) { Set(std::nullopt); }
  void Set(std::optional<testing::Fault> fault) {
    stage_.tables.decide = [this, fault](Operation) {
      ++calls;
      return fault;
    };
  }
  int calls = 0;

 private:
  Stage& stage_;
};

// ---- The store is unavailable ----

// A short throttling is not an outage.
// Spec: 004-25
TEST(DeduplicatorTest, ThrottlingIsRetriedBeforeMemoryDecides) {
  Stage stage({.retry = {.max_retries = 4, .first_wait = 25ms, .longest_wait = 400ms}});
  Process process(&stage);
  stage.tables.decide = First({Throttled(), Throttled()});
  const ClaimReply reply = process.Mark("Ev1");
  EXPECT_EQ(reply.outcome, ClaimOutcome::kNew);
  EXPECT_FALSE(reply.fallback);
  EXPECT_FALSE(process.dedup.in_fallback());
  EXPECT_THAT(stage.sleeper.slept(), ::testing::ElementsAre(25ms, 50ms));
  EXPECT_EQ(TextIn(stage.RowOf("Ev1"), "owner"), reply.claim->nonce);
}

// Spec: 004-26
TEST(DeduplicatorTest, MemoryDecidesWhenTheStoreIsUnavailable) {
  Stage stage;
  Process process(&stage);
  Switch store(&stage);
  store.Set(Throttled());
  const ClaimReply first = process.Mark("Ev1");
  EXPECT_EQ(store.calls, 5);  // One call and its four retries: nobody else retries.
  EXPECT_EQ(first.outcome, ClaimOutcome::kNew);
  EXPECT_TRUE(first.fallback);
  EXPECT_TRUE(first.claim->local);
  const ClaimReply second = process.Mark("Ev1");
  EXPECT_EQ(second.outcome, ClaimOutcome::kDone);
  EXPECT_EQ(second.reason, "In-memory duplicate check");
  EXPECT_EQ(process.Mark("Ev2").outcome, ClaimOutcome::kNew);
}

// Each of the four ways to the store makes one call and its four retries, and then no more until
// the outage ends. Otherwise a store that has too much to do gets twice the load.
TEST(DeduplicatorTest, OnePlaceRetriesWhileTheStoreIsUnavailable) {
  const auto calls_of = [](const std::function<void(Process&)>& use) {
    Stage stage;
    Process process(&stage);
    Switch store(&stage);
    store.Set(Throttled());
    use(process);
    EXPECT_TRUE(process.dedup.in_fallback());
    return store.calls;
  };
  EXPECT_EQ(calls_of([](Process& process) { process.Take("Ev1"); }), 5);
  EXPECT_EQ(calls_of([](Process& process) { process.Mark("Ev1"); }), 5);
  EXPECT_EQ(calls_of([](Process& process) { *TakeNow(process.dedup, {.keys = {"Ev1"}}); }), 5);
  // As the front door: the mark with its effect, and then the claim.
  EXPECT_EQ(calls_of([](Process& process) {
              EXPECT_EQ(*process.dedup.TryMarkWith({.keys = {"Ev1"}}, {}).Wait(), std::nullopt);
              EXPECT_TRUE(process.Take("Ev1").claim->local);
            }),
            5);
}

// Spec: 004-27
TEST(DeduplicatorTest, TheStoreIsAskedAgainAfterAMinute) {
  Stage stage;
  Process process(&stage);
  Switch store(&stage);
  store.Set(Throttled());
  process.Mark("Ev1");
  EXPECT_TRUE(process.dedup.in_fallback());
  const int before = store.calls;
  store.Set(std::nullopt);
  stage.clock.Advance(59'999ms);
  EXPECT_TRUE(process.Mark("Ev2").fallback);
  EXPECT_EQ(store.calls, before);
  stage.clock.Advance(1ms);
  EXPECT_FALSE(process.Mark("Ev3").fallback);
  EXPECT_GT(store.calls, before);
  EXPECT_FALSE(process.dedup.in_fallback());
  EXPECT_TRUE(stage.Stored("Ev3").has_value());
}

// A timer stops while the process is frozen, and the monotonic clock may stop as well.
// Spec: 004-28
TEST(DeduplicatorTest, AFrozenProcessAsksTheStoreWhenItWakesUp) {
  for (const bool suspended : {false, true}) {
    Stage stage;
    Process process(&stage);
    Switch store(&stage);
    store.Set(Throttled());
    process.Mark("Ev1");
    store.Set(std::nullopt);
    if (suspended) {
      stage.clock.SetNow(stage.clock.NowSeconds() + 600);
    } else {
      stage.clock.Advance(10min);
    }
    EXPECT_FALSE(process.dedup.in_fallback());
    EXPECT_FALSE(process.Mark("Ev2").fallback);
  }
}

// Setting the wall clock back must not prolong the outage.
TEST(DeduplicatorTest, AClockThatIsSetBackDoesNotProlongTheOutage) {
  Stage stage;
  Process process(&stage);
  Switch store(&stage);
  store.Set(Throttled());
  process.Mark("Ev1");
  store.Set(std::nullopt);
  stage.clock.SetNow(stage.clock.NowSeconds() - 3600);
  stage.clock.Advance(60s);
  EXPECT_FALSE(process.Mark("Ev2").fallback);
}

// Spec: 004-29
TEST(DeduplicatorTest, AFailedRetryBeginsANewPeriodWithOneErrorLine) {
  Stage stage;
  Process process(&stage);
  Switch store(&stage);
  store.Set(Throttled());
  for (int i = 0; i < 10; ++i) process.Mark("a" + std::to_string(i));
  EXPECT_EQ(process.LogLines("deduplication store is not available"), 1u);
  EXPECT_EQ(process.LogLines("\"level\":\"error\""), 1u);
  stage.clock.Advance(60s);
  for (int i = 0; i < 10; ++i) process.Mark("b" + std::to_string(i));
  EXPECT_EQ(process.LogLines("deduplication store is not available"), 2u);
  const int before = store.calls;
  stage.clock.Advance(58s);  // The failure started a new period.
  process.Mark("c");
  EXPECT_EQ(store.calls, before);
}

// An error that is the store's decision must not look like an outage.
// Spec: 004-30
TEST(DeduplicatorTest, RefusalsOfTheStoreSurface) {
  for (const ErrorCode code : {ErrorCode::kDenied, ErrorCode::kInvalid, ErrorCode::kNotFound}) {
    Stage stage;
    Process process(&stage);
    Switch store(&stage);
    store.Set(testing::Fault{{code, "no"}});
    const auto reply = process.dedup.Take({.keys = {"Ev1"}});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, code);
    EXPECT_FALSE(process.dedup.in_fallback());
    EXPECT_EQ(store.calls, 1);
    store.Set(std::nullopt);
    EXPECT_EQ(process.Take("Ev1").outcome,
              ClaimOutcome::kNew);  // Memory has nothing about the key.
  }
}

// Spec: 004-31
TEST(DeduplicatorTest, AnswersOfTheStoreAreRememberedInAnOutage) {
  Stage stage;
  Process process(&stage);
  const Claim completed = *process.Take("completed").claim;
  ASSERT_EQ(*process.dedup.Complete(completed), SettleOutcome::kSettled);
  process.Mark("marked");
  ASSERT_TRUE(stage.claims.Mark({.keys = {"elsewhere"}}));
  EXPECT_EQ(process.Take("elsewhere").outcome, ClaimOutcome::kDone);
  const Claim running = *process.Take("running").claim;
  Switch store(&stage);
  store.Set(Throttled());
  EXPECT_EQ(process.Take("completed").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(process.Take("marked").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(process.Take("elsewhere").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(process.Take("running").outcome, ClaimOutcome::kRunning);
  EXPECT_EQ(process.Take("unseen").outcome, ClaimOutcome::kNew);
}

// The same for a claim that was completed in a transaction with its effect.
TEST(DeduplicatorTest, ACompletionByTransactionIsRememberedInAnOutage) {
  Stage stage;
  Process process(&stage);
  const Claim claim = *process.Take("k").claim;
  ASSERT_EQ(stage.model.TransactWrite({.actions = process.dedup.Completion(claim)})->outcome,
            tables::TransactOutcome::kApplied);
  process.dedup.NoteCompletion(claim);
  Switch store(&stage);
  store.Set(Throttled());
  EXPECT_EQ(process.Take("k").outcome, ClaimOutcome::kDone);
}

// Spec: 004-32
TEST(DeduplicatorTest, MarksOfAnOutageAreWrittenBack) {
  Stage stage;
  Process process(&stage);
  Switch store(&stage);
  store.Set(Throttled());
  process.Mark("marked");
  const Claim claim = *process.Take("completed").claim;
  EXPECT_EQ(*process.dedup.Complete(claim, "r"), SettleOutcome::kSettled);
  store.Set(std::nullopt);
  stage.clock.Advance(60s);
  EXPECT_EQ(process.Mark("marked").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(TextIn(stage.RowOf("marked"), "status"), "done");
  // Another process sees it as well.
  Process other(&stage);
  const ClaimReply reply = other.Take("completed");
  EXPECT_EQ(reply.outcome, ClaimOutcome::kDone);
  EXPECT_FALSE(reply.fallback);
  EXPECT_EQ(reply.result, "r");
  EXPECT_TRUE(process.dedup.PossibleDuplicates().empty());
}

// Even an outage that is longer than memory keeps rows leaves no gap.
TEST(DeduplicatorTest, MarksOfALongOutageAreWrittenBack) {
  Stage stage;
  Process process(&stage);
  Switch store(&stage);
  store.Set(Throttled());
  for (int i = 0; i < 60; ++i) {
    process.Mark("Ev" + std::to_string(i));
    stage.clock.Advance(60s);
  }
  store.Set(std::nullopt);
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(process.Mark("Ev" + std::to_string(i)).outcome, ClaimOutcome::kDone) << i;
  }
}

// Two processes may both answer "new" in an outage. Afterwards these keys are reported.
TEST(DeduplicatorTest, PossibleDuplicatesAreReported) {
  Stage stage;
  Process here(&stage);
  Process there(&stage);
  Switch store(&stage);
  store.Set(Throttled());
  EXPECT_EQ(here.Mark("both").outcome, ClaimOutcome::kNew);
  EXPECT_EQ(there.Mark("both").outcome, ClaimOutcome::kNew);
  EXPECT_EQ(there.Mark("alone").outcome, ClaimOutcome::kNew);
  store.Set(std::nullopt);
  stage.clock.Advance(60s);
  here.Mark("x");
  there.Mark("y");
  EXPECT_TRUE(here.dedup.PossibleDuplicates().empty());
  const auto found = there.dedup.PossibleDuplicates();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key, "both");
  EXPECT_THAT(found[0].reason, HasSubstr("done"));
  EXPECT_EQ(there.LogLines("event may have been handled twice"), 1u);
  EXPECT_THAT(there.metrics.Expose(),
              HasSubstr("tidemark_dedup_possible_duplicates_total{" + kTableLabel + "} 1"));
}

// Work that began in the outage and ends after it is settled in the store.
TEST(DeduplicatorTest, ALocalClaimMovesToTheStore) {
  Stage stage;
  Process process(&stage);
  Switch store(&stage);
  store.Set(Throttled());
  Claim completed = *process.Take("completed").claim;
  Claim renewed = *process.Take("renewed").claim;
  Claim released = *process.Take("released").claim;
  Claim failed = *process.Take("failed").claim;
  EXPECT_EQ(*process.dedup.Renew(&renewed), SettleOutcome::kSettled);
  EXPECT_TRUE(renewed.local);
  store.Set(std::nullopt);
  stage.clock.Advance(60s);
  EXPECT_EQ(*process.dedup.Renew(&renewed), SettleOutcome::kSettled);
  EXPECT_FALSE(renewed.local);
  Process other(&stage);
  EXPECT_EQ(other.Take("completed").outcome,
            ClaimOutcome::kRunning);  // It has been written back by now.
  EXPECT_EQ(*process.dedup.Complete(completed), SettleOutcome::kSettled);
  EXPECT_EQ(*process.dedup.Release(released), SettleOutcome::kSettled);
  EXPECT_EQ(*process.dedup.Fail(failed, "x"), SettleOutcome::kSettled);
  EXPECT_EQ(other.Take("completed").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(other.Take("renewed").outcome, ClaimOutcome::kRunning);
  EXPECT_EQ(other.Take("released").outcome, ClaimOutcome::kNew);
  EXPECT_EQ(other.Take("failed").outcome, ClaimOutcome::kNew);
  EXPECT_EQ(NumberIn(stage.RowOf("failed"), "failures"), 1);
}

// Another process finished it in the meantime: the late one must not report success.
TEST(DeduplicatorTest, ALocalClaimIsSupersededByAClaimInTheStore) {
  Stage stage;
  Process process(&stage);
  Switch store(&stage);
  store.Set(Throttled());
  const Claim claim = *process.Take("Ev1").claim;
  store.Set(std::nullopt);
  ASSERT_EQ(stage.claims.Mark({.keys = {"Ev1"}})->outcome, ClaimOutcome::kNew);
  stage.clock.Advance(60s);
  EXPECT_EQ(*process.dedup.Complete(claim), SettleOutcome::kSuperseded);
  EXPECT_EQ(process.dedup.PossibleDuplicates().size(), 1u);
}

// The store granted the claim, and the work ended during an outage. The completion is written when
// the store is back.
TEST(DeduplicatorTest, ACompletionDuringAnOutageIsWrittenLater) {
  Stage stage;
  Process process(&stage);
  const Claim claim = *process.Take("Ev1").claim;
  Switch store(&stage);
  store.Set(Throttled());
  EXPECT_EQ(process.dedup.Complete(claim).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(process.Take("Ev1").outcome, ClaimOutcome::kDone);
  store.Set(std::nullopt);
  stage.clock.Advance(2min);
  Process other(&stage);
  process.Mark("Ev2");
  EXPECT_EQ(other.Take("Ev1").outcome, ClaimOutcome::kDone);
  EXPECT_TRUE(process.dedup.PossibleDuplicates().empty());
}

TEST(DeduplicatorTest, ACompletionWrittenTooLateIsReported) {
  Stage stage;
  Process process(&stage);
  const Claim claim = *process.Take("Ev1").claim;
  Switch store(&stage);
  store.Set(Throttled());
  EXPECT_FALSE(process.dedup.Complete(claim));
  store.Set(std::nullopt);
  stage.clock.Advance(2min);
  Process other(&stage);
  EXPECT_EQ(other.Take("Ev1").outcome, ClaimOutcome::kNew);  // The lease had ended.
  process.Mark("Ev2");
  ASSERT_EQ(process.dedup.PossibleDuplicates().size(), 1u);
  EXPECT_THAT(process.dedup.PossibleDuplicates()[0].reason, HasSubstr("superseded"));
  EXPECT_EQ(TextIn(stage.RowOf("Ev1"), "status"), "claimed");
}

// The put was applied, and then the store failed. Memory and store recognise the claim by the same
// nonce.
TEST(DeduplicatorTest, AClaimWhoseReplyWasLostIsNotADuplicate) {
  Stage stage;
  Process process(&stage);
  Switch store(&stage);
  store.Set(LostReply());
  const ClaimReply reply = process.Take("Ev1");
  EXPECT_EQ(reply.outcome, ClaimOutcome::kNew);
  EXPECT_TRUE(stage.Stored("Ev1").has_value());
  store.Set(std::nullopt);
  stage.clock.Advance(60s);
  EXPECT_EQ(*process.dedup.Complete(*reply.claim), SettleOutcome::kSettled);
  EXPECT_TRUE(process.dedup.PossibleDuplicates().empty());
  EXPECT_EQ(TextIn(stage.RowOf("Ev1"), "status"), "done");
}

// Spec: 004-33
TEST(DeduplicatorTest, MemoryIsBoundedInAgeAndNumber) {
  Stage stage;
  Process process(&stage, {.max_memory = 100});
  Switch store(&stage);
  store.Set(Throttled());
  for (int i = 0; i < 1000; ++i) process.Mark("Ev" + std::to_string(i));
  EXPECT_EQ(process.Mark("Ev999").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(process.Mark("Ev901").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(process.Mark("Ev0").outcome, ClaimOutcome::kNew);  // It was dropped to make room.
  // A write that was dropped is reported.
  EXPECT_EQ(process.dedup.PossibleDuplicates().size(), 901u);
  stage.clock.Advance(10min);
  EXPECT_EQ(process.Mark("Ev999").outcome, ClaimOutcome::kNew);
}

// Spec: 004-34
TEST(DeduplicatorTest, ThePolicyRefuseAnswersRefused) {
  Stage stage;
  Process process(&stage, {.policy = OutagePolicy::kRefuse});
  Switch store(&stage);
  store.Set(Throttled());
  for (int i = 0; i < 2; ++i) {
    const ClaimReply reply = process.Take("Ev1");
    EXPECT_EQ(reply.outcome, ClaimOutcome::kRefused);
    EXPECT_FALSE(reply.claim.has_value());
    EXPECT_FALSE(reply.reason.empty());
  }
  store.Set(std::nullopt);
  stage.clock.Advance(60s);
  EXPECT_EQ(process.Take("Ev1").outcome, ClaimOutcome::kNew);
}

// ---- Monitoring ----

// Spec: 004-41
TEST(DeduplicatorTest, EveryCheckIsLogged) {
  Stage stage({.retry = {.max_retries = 1, .first_wait = 30ms, .longest_wait = 30ms}});
  Process process(&stage);
  process.Mark("Ev1");
  EXPECT_THAT(process.log.str(), HasSubstr("\"message\":\"deduplication check\",\"key\":\"Ev1\","
                                           "\"result\":\"new\",\"reason\":\"\",\"latency_ms\":0"));
  EXPECT_THAT(process.log.str(), HasSubstr("\"fallback\":false"));
  process.log.str("");
  process.Mark("Ev1");
  EXPECT_THAT(process.log.str(), HasSubstr("\"result\":\"duplicate\""));
  process.log.str("");
  Switch store(&stage);
  store.Set(Throttled());
  process.Mark("Ev2");
  EXPECT_THAT(process.log.str(), HasSubstr("\"key\":\"Ev2\",\"result\":\"new\""));
  EXPECT_THAT(process.log.str(), HasSubstr("\"latency_ms\":30"));
  EXPECT_THAT(process.log.str(), HasSubstr("\"fallback\":true"));
}

// Spec: 004-42
TEST(DeduplicatorTest, MetricsCountWhatHappened) {
  Stage stage({.retry = {.max_retries = 1, .first_wait = 30ms, .longest_wait = 30ms}});
  Process process(&stage);
  for (int i = 0; i < 4; ++i) process.Mark("Ev" + std::to_string(i));
  for (int i = 0; i < 3; ++i) process.Mark("Ev1");
  process.Take("running");
  process.Take("running");
  Switch store(&stage);
  store.Set(Denied());
  EXPECT_FALSE(MarkNow(process.dedup, {.keys = {"Ev9"}}));
  store.Set(Throttled());
  process.Mark("Ev10");
  const std::string text = process.metrics.Expose();
  EXPECT_THAT(text, HasSubstr("tidemark_dedup_checks_total{result=\"new\"," + kTableLabel + "} 6"));
  EXPECT_THAT(text,
              HasSubstr("tidemark_dedup_checks_total{result=\"duplicate\"," + kTableLabel + "} 3"));
  EXPECT_THAT(text,
              HasSubstr("tidemark_dedup_checks_total{result=\"running\"," + kTableLabel + "} 1"));
  EXPECT_THAT(text,
              HasSubstr("tidemark_dedup_checks_total{result=\"error\"," + kTableLabel + "} 1"));
  EXPECT_THAT(text, HasSubstr("tidemark_dedup_store_errors_total{" + kTableLabel + "} 2"));
  EXPECT_THAT(text, HasSubstr("tidemark_dedup_check_seconds_count{" + kTableLabel + "} 11"));
  EXPECT_THAT(
      text, HasSubstr("tidemark_dedup_check_seconds_bucket{" + kTableLabel + ",le=\"0.025\"} 10"));
  EXPECT_THAT(text,
              HasSubstr("tidemark_dedup_check_seconds_bucket{" + kTableLabel + ",le=\"0.05\"} 11"));
  EXPECT_THAT(text, HasSubstr("tidemark_dedup_fallback{" + kTableLabel + "} 1"));
  store.Set(std::nullopt);
  stage.clock.Advance(60s);
  process.Mark("Ev11");
  EXPECT_THAT(process.metrics.Expose(),
              HasSubstr("tidemark_dedup_fallback{" + kTableLabel + "} 0"));
}

// ---- Rollout ----

// Spec: 004-44
TEST(DeduplicatorTest, AShareOfTheKeysUsesTheStore) {
  for (const uint32_t percent : {10u, 50u, 100u}) {
    Stage stage;
    Process process(&stage, {.rollout_percent = percent});
    Process other(&stage, {.rollout_percent = percent});
    uint32_t stored = 0;
    for (int i = 0; i < 500; ++i) {
      const std::string key = "Ev" + std::to_string(i);
      const ClaimReply first = process.Mark(key);
      const ClaimReply second = process.Mark(key);
      ASSERT_EQ(first.outcome, ClaimOutcome::kNew);
      ASSERT_EQ(second.outcome, ClaimOutcome::kDone);
      // Both deliveries are decided by the same side, in every process.
      ASSERT_EQ(first.fallback, second.fallback);
      ASSERT_EQ(other.Mark(key).fallback, first.fallback);
      ASSERT_EQ(stage.Stored(key).has_value(), !first.fallback);
      if (!first.fallback) ++stored;
    }
    EXPECT_NEAR(stored, 5.0 * percent, 35) << percent;
  }
}

// What memory alone decides is not written to the store: there was no outage.
TEST(DeduplicatorTest, KeysOutsideTheShareAreSettledInMemory) {
  Stage stage;
  Process process(&stage, {.rollout_percent = 0});
  Switch store(&stage);
  Claim claim = *process.Take("Ev1").claim;
  EXPECT_EQ(*process.dedup.Renew(&claim), SettleOutcome::kSettled);
  EXPECT_EQ(process.Take("Ev1").outcome, ClaimOutcome::kRunning);
  EXPECT_EQ(*process.dedup.Fail(claim, "x"), SettleOutcome::kSettled);
  claim = *process.Take("Ev1").claim;
  EXPECT_EQ(*process.dedup.Release(claim), SettleOutcome::kSettled);
  claim = *process.Take("Ev1").claim;
  EXPECT_EQ(*process.dedup.Complete(claim), SettleOutcome::kSettled);
  EXPECT_EQ(*process.dedup.Release(claim), SettleOutcome::kSuperseded);
  EXPECT_EQ(process.Take("Ev1").outcome, ClaimOutcome::kDone);
  EXPECT_EQ(store.calls, 0);
}

// At 100 % no answer comes from memory while the store answers. Every process sees the same,
// also for keys that memory decided in an earlier phase.
// Spec: 004-45
TEST(DeduplicatorTest, InTheFinalPhaseMemoryDecidesNothing) {
  Stage stage;
  Process process(&stage, {.rollout_percent = 100});
  for (int i = 0; i < 100; ++i) {
    const std::string key = "Ev" + std::to_string(i);
    ASSERT_FALSE(process.Mark(key).fallback);
    // Memory still has the key, but the table decides.
    ASSERT_TRUE(
        stage.model.Delete({.table = std::string(kDefaultTable), .key = {{"event_key", key}}}));
    ASSERT_EQ(process.Mark(key).outcome, ClaimOutcome::kNew);
  }
}

}  // namespace
}  // namespace tidemark::dedup
