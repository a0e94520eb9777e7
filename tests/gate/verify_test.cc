// Which calls a check makes to Slack, and which verdict the answers give.
#include <latch>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gate/gate_stage.h"
#include "tests/support/threads.h"

namespace tidemark::gate {

using namespace testing;
using slack::LookupOutcome;

// Spec: 000-26
TEST(VerifyTest, AMissAsksOnceForEachId) {
  Stage stage;
  stage.existence->Check(Triple());
  EXPECT_EQ(stage.slack.sets(), 1);
  EXPECT_EQ(stage.slack.asked(),
            (std::vector<slack::Lookup>{{slack::EntityKind::kTeam, kTeam},
                                        {slack::EntityKind::kUser, kUser},
                                        {slack::EntityKind::kChannel, kChannel}}));
}

// The server answers every deny with the same 403 (tests/front_door compares the bodies).
// Spec: 000-27
TEST(VerifyTest, RefusesLogsAndCountsAFakeId) {
  const std::vector<std::pair<const char*, Reason>> fakes = {{kTeam, Reason::kTeamNotFound},
                                                             {kUser, Reason::kUserNotFound},
                                                             {kChannel, Reason::kChannelNotFound}};
  for (const auto& [fake, reason] : fakes) {
    GateStage stage;
    stage.slack.Set(fake, LookupOutcome::kNotFound, "not_found_says_slack");
    EXPECT_EQ(stage.gate->CheckExistence(Message(), "request-1"), Refused(reason));
    EXPECT_EQ(stage.LogLines("gate refused"), 1U);
    const std::string log = stage.Log();
    for (const std::string part :
         {"decision=deny", "team=T01234567", "user=U01234567", "channel=C01234567",
          "request_id=request-1", "detail=not_found_says_slack"}) {
      EXPECT_NE(log.find(part), std::string::npos) << part << " in " << log;
    }
    EXPECT_NE(log.find("reason=" + std::string(ToString(reason))), std::string::npos) << log;
    EXPECT_EQ(stage.Metric("tidemark_gate_existence_failures_total"), 1);
    EXPECT_EQ(stage.Metric("tidemark_gate_verdicts_total{decision=\"deny\"}"), 1);
  }
}

// WebApi reports an answer with another id as not found (web_api_test.cc).
// Spec: 000-28
TEST(VerifyTest, RefusesDeactivatedAndWrongIds) {
  Stage stage;
  stage.slack.Set(kUser, LookupOutcome::kInactive);
  EXPECT_EQ(stage.existence->Check(Triple()), Refused(Reason::kUserInactive));

  Stage mistaken;
  mistaken.slack.Set(kUser, LookupOutcome::kNotFound, "another_id");
  EXPECT_EQ(mistaken.existence->Check(Triple()), Refused(Reason::kUserNotFound));

  Stage strict({.existence = {.refuse_archived_channels = true}});
  strict.slack.Set(kChannel, LookupOutcome::kInactive);
  EXPECT_EQ(strict.existence->Check(Triple()), Refused(Reason::kChannelInactive));

  Stage lenient;
  lenient.slack.Set(kChannel, LookupOutcome::kInactive);
  EXPECT_EQ(lenient.existence->Check(Triple()), Allowed(Reason::kVerified));
  EXPECT_EQ(lenient.existence->Check(Triple()), Allowed(Reason::kCached));
}

// A row that was written under one setting must not decide under another.
TEST(VerifyTest, AnArchivedChannelIsRefusedAtOnceWhenThePolicyChanges) {
  Stage stage;
  stage.slack.Set(kChannel, LookupOutcome::kInactive);
  EXPECT_EQ(stage.existence->Check(Triple()).decision, Decision::kAllow);
  Existence strict({.refuse_archived_channels = true}, &stage.tables, &stage.slack, &stage.tokens,
                   stage.AnotherRuntime());
  EXPECT_EQ(strict.Check(Triple()), Refused(Reason::kChannelInactive));
}

// Unknown is neither allow nor deny. Only the policy kQuarantine acknowledges such an event.
TEST(VerifyTest, TheVerdictIsUnknownWhenSlackDoesNotSay) {
  for (auto [outcome, reason] : {std::pair(LookupOutcome::kTimeout, Reason::kTimeout),
                                 std::pair(LookupOutcome::kRateLimited, Reason::kRateLimited),
                                 std::pair(LookupOutcome::kApiError, Reason::kApiError)}) {
    for (const char* part : {kTeam, kUser, kChannel}) {
      Stage stage;
      stage.slack.Set(part, outcome);
      EXPECT_EQ(stage.existence->Check(Triple()), NotKnown(reason));
      EXPECT_FALSE(stage.Row(kTripleKey));
      for (const item::Item& row : stage.AllRows(std::string(kDefaultCacheTable))) {
        EXPECT_EQ(*row.Find("state"), item::Value("active"));
      }
    }
  }
}

TEST(VerifyTest, ARefusedIdDecidesEvenIfOthersAreUnknown) {
  Stage stage;
  stage.slack.Set(kTeam, LookupOutcome::kTimeout);
  stage.slack.Set(kChannel, LookupOutcome::kNotFound);
  EXPECT_EQ(stage.existence->Check(Triple()), Refused(Reason::kChannelNotFound));
}

// Spec: 000-34
TEST(VerifyTest, WhileSlackIsDownOnlyStoredTriplesPass) {
  Stage stage;
  stage.existence->Check(Triple());
  stage.slack.SetAll(LookupOutcome::kApiError);
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
  EXPECT_EQ(stage.existence->Check(Triple("U09")), NotKnown(Reason::kApiError));
  EXPECT_EQ(stage.existence->Check(Triple(kUser, "C09", "T09")), NotKnown(Reason::kApiError));
}

// Requests with random ids must not use up our calls to Slack.
// Spec: 000-35
TEST(VerifyTest, AsksForAFakeIdOnceInThirtySeconds) {
  for (const char* fake : {kTeam, kUser, kChannel}) {
    Stage stage;
    stage.slack.Set(fake, LookupOutcome::kNotFound);
    const Verdict first = stage.existence->Check(Triple());
    stage.clock.Advance(std::chrono::seconds(29));
    EXPECT_EQ(stage.existence->Check(Triple()), first);
    EXPECT_EQ(stage.AnotherProcess()->Check(Triple()), first);
    EXPECT_EQ(stage.slack.sets(), 1);
    stage.clock.Advance(std::chrono::seconds(1));
    EXPECT_EQ(stage.existence->Check(Triple()), first);
    EXPECT_EQ(stage.slack.sets(), 2);
  }
}

// A refusal because of a temporary failure must not be remembered.
TEST(VerifyTest, NeverStoresTransientErrors) {
  for (LookupOutcome outcome :
       {LookupOutcome::kTimeout, LookupOutcome::kRateLimited, LookupOutcome::kApiError}) {
    Stage stage;
    stage.slack.SetAll(outcome);
    EXPECT_EQ(stage.existence->Check(Triple()).decision, Decision::kUnknown);
    EXPECT_TRUE(stage.AllRows(std::string(kDefaultCacheTable)).empty());
    stage.slack.SetAll(LookupOutcome::kActive);
    EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  }
}

// Slack answers only after all checks have missed the table. A check that joins too late for the
// shared calls finds the result in the table.
// Spec: 000-36
TEST(VerifyTest, AHundredConcurrentChecksShareOneSetOfCalls) {
  for (LookupOutcome outcome : {LookupOutcome::kActive, LookupOutcome::kNotFound}) {
    Stage stage;
    stage.slack.Set(kUser, outcome);
    std::latch missed(100);
    std::mutex mutex;
    std::set<std::thread::id> readers;
    stage.fault = [&](Operation) -> std::optional<Fault> {
      const std::lock_guard lock(mutex);
      if (readers.insert(std::this_thread::get_id()).second) missed.count_down();
      return std::nullopt;
    };
    stage.slack.on_ask = [&] { missed.wait(); };
    std::vector<Verdict> verdicts(100);
    RunThreads(100,
               [&](int i) { verdicts[static_cast<size_t>(i)] = stage.existence->Check(Triple()); });
    for (const Verdict& verdict : verdicts) {
      if (outcome == LookupOutcome::kActive) {
        EXPECT_TRUE(verdict == Allowed(Reason::kVerified) || verdict == Allowed(Reason::kCached))
            << ::testing::PrintToString(verdict);
      } else {
        EXPECT_EQ(verdict, Refused(Reason::kUserNotFound));
      }
    }
    EXPECT_EQ(stage.slack.sets(), 1);
    EXPECT_EQ(stage.slack.asked().size(), 3U);
    EXPECT_EQ(stage.Metric("tidemark_gate_existence_cache_hits_total") +
                  stage.Metric("tidemark_gate_existence_cache_misses_total"),
              100);
  }
}

// A check after an invalidation must not share an answer from before it.
TEST(VerifyTest, AnInvalidationEndsTheSharingOfCalls) {
  for (bool has_table : {true, false}) {
    Stage stage({.existence = {.table = has_table ? std::string(kDefaultCacheTable) : ""}});
    Verdict later;
    stage.slack.on_answer = [&] {
      // The old answer is on its way. Now the user is removed, and another check begins.
      stage.slack.on_answer = nullptr;
      stage.slack.Set(kUser, LookupOutcome::kInactive);
      EXPECT_TRUE(stage.existence->Invalidate(slack::EntityKind::kUser, kUser));
      later = stage.existence->Check(Triple());
    };
    EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
    EXPECT_EQ(later, Refused(Reason::kUserInactive));
    EXPECT_EQ(stage.existence->Check(Triple()), Refused(Reason::kUserInactive));
  }
}

// A flood of one team must not use up the calls or the workers that other teams need.
TEST(VerifyTest, AsksNothingBeyondTheLimitOfATeam) {
  Stage stage({.existence = {.checks_per_team_minute = 3}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(stage.existence->Check(Triple("U0" + std::to_string(i))).reason, Reason::kVerified);
  }
  EXPECT_EQ(stage.existence->Check(Triple("U09")), NotKnown(Reason::kRateLimited));
  EXPECT_EQ(stage.slack.sets(), 3);
  EXPECT_EQ(stage.existence->Check(Triple("U00")), Allowed(Reason::kCached));
  EXPECT_EQ(stage.existence->Check(Triple("U09", kChannel, "T09")), Allowed(Reason::kVerified));
  stage.clock.Advance(std::chrono::seconds(20));
  EXPECT_EQ(stage.existence->Check(Triple("U09")), Allowed(Reason::kCached));
}

TEST(VerifyTest, LimitsTheConcurrentSetsOfLookups) {
  Stage stage({.existence = {.max_under_way = 1}});
  Verdict second;
  stage.slack.on_ask = [&] {
    stage.slack.on_ask = nullptr;
    second = stage.existence->Check(Triple("U09"));
  };
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  EXPECT_EQ(second, NotKnown(Reason::kBusy));
  EXPECT_EQ(stage.existence->Check(Triple("U09")), Allowed(Reason::kVerified));
}

// Metrics are counted in memory and returned only on request. So no request can fail because
// metrics cannot be sent, and the results are the same when the metrics are never read.
// Spec: 000-41
TEST(VerifyTest, TheResultsDoNotDependOnWhoReadsTheMetrics) {
  auto run = [](bool is_read) {
    GateStage stage;
    std::string story;
    auto tell = [&](const Verdict& verdict) {
      if (is_read) stage.runtime().metrics.Expose();
      story += std::string(ToString(verdict.decision)) + "/" +
               std::string(ToString(verdict.reason)) + " ";
    };
    tell(stage.gate->CheckExistence(Message(), "1"));
    tell(stage.gate->CheckExistence(Message(), "2"));
    slack::EventCallback fake = Message();
    fake.event.user = "U09";
    stage.slack.Set("U09", LookupOutcome::kNotFound);
    tell(stage.gate->CheckExistence(fake, "3"));
    fake.event.user = "U10";
    stage.slack.Set("U10", LookupOutcome::kTimeout);
    tell(stage.gate->CheckExistence(fake, "4"));
    const Delivery delivery = stage.Sign("{}");
    for (int i = 0; i < 2; ++i) story += stage.Authenticate(delivery).reason + " ";
    story += stage.gate->Authenticate({}, "5").reason;
    return story;
  };
  EXPECT_EQ(run(false), run(true));
  EXPECT_EQ(run(false),
            "allow/verified allow/cached deny/user_not_found unknown/timeout  replayed "
            "missing_header");
}

TEST(VerifyTest, TheCacheTouchesNoOtherTables) {
  Stage stage;
  const std::vector<std::string> others = {"slack-classify-bot-processed-events", "slack-history",
                                           "slack-tokens"};
  for (const std::string& table : others) {
    ASSERT_TRUE(
        stage.model.CreateTable({.table = table, .keys = {.partition = {.name = "cache_key"}}}));
    for (const char* key : {kTripleKey, "entity#user#U01234567", "generation#U01234567"}) {
      ASSERT_TRUE(stage.model.Put({.table = table, .item = {{"cache_key", key}, {"note", "x"}}}));
    }
  }
  auto clear = [&](const std::string& table) {
    for (const item::Item& row : stage.AllRows(table)) {
      ASSERT_TRUE(
          stage.model.Delete({.table = table, .key = {{"cache_key", *row.Find("cache_key")}}}));
    }
  };
  std::map<std::string, std::vector<item::Item>> before;
  for (const std::string& table : others) before[table] = stage.AllRows(table);

  stage.existence->Check(Triple());
  ASSERT_TRUE(stage.existence->InvalidateTriple(Triple()));
  clear(std::string(kDefaultCacheTable));
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  for (const std::string& table : others) EXPECT_EQ(stage.AllRows(table), before[table]) << table;

  const std::vector<item::Item> cached = stage.AllRows(std::string(kDefaultCacheTable));
  for (const std::string& table : others) clear(table);
  EXPECT_EQ(stage.AllRows(std::string(kDefaultCacheTable)), cached);
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
}

// Spec: 000-43
TEST(VerifyTest, RepeatedChecksAreHits) {
  Stage stage;
  for (int i = 0; i < 1'000; ++i) {
    const std::string number = std::to_string(i % 10);
    Subject triple = Triple("U0" + number, "C0" + number);
    EXPECT_EQ(stage.existence->Check(triple).decision, Decision::kAllow);
    if (i % 4 == 0) stage.clock.Advance(std::chrono::seconds(1));
  }
  ASSERT_LT(stage.clock.Monotonic(), std::chrono::seconds(300));
  double hits = stage.Metric("tidemark_gate_existence_cache_hits_total");
  double misses = stage.Metric("tidemark_gate_existence_cache_misses_total");
  EXPECT_EQ(hits + misses, 1'000);
  EXPECT_GE(hits, 800);
  EXPECT_EQ(misses, 10);
}

// A hit makes one read, no write and no call to Slack. tests/front_door and bench/gate.cc measure
// its time.
TEST(VerifyTest, AHitIsOneReadAndNothingElse) {
  Stage stage;
  stage.existence->Check(Triple());
  stage.reads = stage.writes = 0;
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
  EXPECT_EQ(stage.reads, 1);
  EXPECT_EQ(stage.writes, 0);
  EXPECT_EQ(stage.slack.sets(), 1);
}

// Spec: 000-45
TEST(VerifyTest, TheTableHasTheLayoutOfTheSeed) {
  for (const std::string& name : {ExistenceOptions().table, std::string("named-otherwise")}) {
    Stage stage({.existence = {.table = name}});
    tables::TableDescription table = stage.model.DescribeTable(name).value();
    EXPECT_EQ(table.keys.partition, (item::KeyAttribute{"cache_key", item::Type::kString}));
    EXPECT_FALSE(table.keys.sort);
    EXPECT_EQ(table.ttl_attribute, "ttl");
    EXPECT_FALSE(table.throughput);
    EXPECT_TRUE(table.indexes.empty());
    EXPECT_TRUE(stage.existence->CreateTable());  // A second start finds it.
    stage.existence->Check(Triple());
    EXPECT_TRUE(stage.Row(kTripleKey));
  }
  EXPECT_EQ(ExistenceOptions().table, "slack-existence-check-cache");
}

// With all our limits switched off, and a Slack without limits, each request is verified.
// slack_calls_test.cc tests the default limits.
// Spec: 000-46
TEST(VerifyTest, WithoutATableEachCheckAsksSlack) {
  Stage stage({.existence = {.table = "", .checks_per_team_minute = 0}});
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  }
  EXPECT_EQ(stage.slack.sets(), 200);
  EXPECT_EQ(stage.reads + stage.writes, 0);
  EXPECT_EQ(stage.LogLines("warning existence cache is off"), 1U);
  EXPECT_EQ(stage.LogLines(""), 1U);
  EXPECT_TRUE(stage.existence->Invalidate(slack::EntityKind::kUser, kUser));
}

}  // namespace tidemark::gate
