// Which rows are written to the table, which are used, and for how long.
#include <string>

#include <gtest/gtest.h>

#include "apps/gate/cache_rows.h"
#include "item/size.h"
#include "tests/gate/stage.h"
#include "tests/support/print_items.h"

namespace tidemark::gate {

using namespace testing;
using item::Number;
using slack::LookupOutcome;

Number At(const Stage& stage, EpochSeconds seconds) {
  return Number::FromInt(stage.clock.NowSeconds() + seconds);
}

// ---- Writing ----

// Spec: 000-08
TEST(ExistenceCacheTest, StoresAVerifiedTripleWithItsTimes) {
  Stage stage;
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  item::Item row = stage.Row(kTripleKey).value();
  EXPECT_EQ(*row.Find("cache_key"), item::Value(kTripleKey));
  EXPECT_EQ(*row.Find("ttl"), item::Value(At(stage, 300)));
  EXPECT_EQ(*row.Find("verified_at"), item::Value(At(stage, 0)));
}

// A triple whose ids were checked at different times must expire with the oldest of the checks.
TEST(ExistenceCacheTest, AStoredTripleIsAsOldAsItsOldestPart) {
  Stage stage;
  Number start = At(stage, 0);
  stage.existence->Check(Triple());
  stage.clock.Advance(std::chrono::seconds(200));
  EXPECT_EQ(stage.existence->Check(Triple("U09")), Allowed(Reason::kVerified));
  EXPECT_EQ(stage.slack.asked().back().id, "U09");
  item::Item row = stage.Row("T01234567#U09#C01234567").value();
  EXPECT_EQ(*row.Find("verified_at"), item::Value(start));
  EXPECT_EQ(*row.Find("ttl"), item::Value(At(stage, 100)));
}

// Spec: 000-09
TEST(ExistenceCacheTest, WritesNoRowWithoutAValidTtl) {
  Stage stage;
  CacheRows rows(std::string(kDefaultCacheTable), &stage.tables, &stage.clock);
  item::Item row = TripleRow(kTripleKey, "g", {.verified_at = stage.clock.NowSeconds()});
  for (const item::Value& ttl :
       {item::Value(Number()), item::Value(Number::FromInt(-5)),
        item::Value(Number::Parse("99999999999.5").value()), item::Value(At(stage, 0)),
        item::Value(At(stage, -1)), item::Value("99999999999")}) {
    row.Set("ttl", ttl);
    EXPECT_EQ(rows.Write(row).error().code, ErrorCode::kInvalid) << item::ToJson(ttl);
  }
  row.Erase("ttl");
  EXPECT_EQ(rows.Write(row).error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(stage.Row(kTripleKey));

  row.Set("ttl", At(stage, 1));
  EXPECT_TRUE(rows.Write(row).value().applied);
  EXPECT_TRUE(stage.Row(kTripleKey));
}

// Spec: 000-10
TEST(ExistenceCacheTest, ARowWithoutVerifiedAtWorksTheSame) {
  Stage stage;
  stage.existence->Check(Triple());
  item::Item row = stage.Row(kTripleKey).value();
  row.Erase("verified_at");
  CacheRows rows(std::string(kDefaultCacheTable), &stage.tables, &stage.clock);
  ASSERT_TRUE(rows.Write(row).value().applied);
  EXPECT_EQ(stage.Row(kTripleKey).value(), row);
  int sets = stage.slack.sets();
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
  EXPECT_EQ(stage.slack.sets(), sets);
}

// Spec: 000-11
TEST(ExistenceCacheTest, StoresNoTripleWhenOneIdFails) {
  for (const char* failing : {kTeam, kUser, kChannel}) {
    for (LookupOutcome outcome : {LookupOutcome::kNotFound, LookupOutcome::kTimeout,
                                  LookupOutcome::kRateLimited, LookupOutcome::kApiError}) {
      Stage stage;
      stage.slack.Set(failing, outcome);
      EXPECT_NE(stage.existence->Check(Triple()).decision, Decision::kAllow);
      EXPECT_FALSE(stage.Row(kTripleKey)) << failing;
      for (const item::Item& row : stage.AllRows(std::string(kDefaultCacheTable))) {
        const std::string key = *row.Find("cache_key")->As<std::string>();
        bool is_failing = key.ends_with(failing);
        EXPECT_EQ(*row.Find("state"), item::Value(is_failing ? "absent" : "active")) << key;
      }
    }
  }
}

// Spec: 000-12
TEST(ExistenceCacheTest, EveryRowIsBelowAKilobyte) {
  Stage stage;
  auto id = [](char prefix) { return prefix + std::string(31, '9'); };
  Subject subject = Triple(id('U'), id('C'), id('T'));
  for (const std::string& part : {id('T'), id('U'), id('C')}) {
    stage.PutRow({{"cache_key", GenerationKey(part)},
                  {"generation", Number::FromInt(9'000'000'000'000'000'000)}});
  }
  EXPECT_EQ(stage.existence->Check(subject), Allowed(Reason::kVerified));
  std::vector<item::Item> rows = stage.AllRows(std::string(kDefaultCacheTable));
  EXPECT_EQ(rows.size(), 7U);
  for (const item::Item& row : rows) EXPECT_LT(item::SizeBytes(row), 1024U) << item::ToJson(row);
}

// Two processes miss at the same moment; the second writes while the first still waits for Slack.
// Spec: 000-13
TEST(ExistenceCacheTest, TheLastOfTwoWritersWins) {
  Stage stage;
  std::unique_ptr<Existence> other = stage.AnotherProcess();
  Verdict verdict_of_other;
  std::optional<item::Item> row_of_other;
  stage.slack.on_answer = [&] {
    stage.slack.on_answer = nullptr;
    verdict_of_other = other->Check(Triple());
    row_of_other = stage.Row(kTripleKey);
    // Marked, so that the test can see whether the row is replaced.
    item::Item marked = *row_of_other;
    marked.Set("note", "of the other");
    stage.PutRow(marked);
  };
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  EXPECT_EQ(verdict_of_other, Allowed(Reason::kVerified));
  EXPECT_EQ(stage.Row(kTripleKey),
            row_of_other);  // The row was replaced: it is equal except for the mark.
}

// With the times of the statement, on the row of the user that both checks are about.
// Spec: 000-14
TEST(ExistenceCacheTest, ALateRefusalDoesNotReplaceANewerConfirmation) {
  Stage stage;
  std::unique_ptr<Existence> other = stage.AnotherProcess();
  stage.clock.SetNow(1'700'000'005);
  stage.slack.Set(kUser, LookupOutcome::kNotFound);
  stage.slack.on_answer = [&] {
    // Slack answers "not found" at 5 s. Before that answer arrives, another check finds the user at
    // 10 s.
    stage.slack.on_answer = nullptr;
    stage.slack.Set(kUser, LookupOutcome::kActive);
    stage.clock.SetNow(1'700'000'010);
    EXPECT_EQ(other->Check(Triple()), Allowed(Reason::kVerified));
  };
  EXPECT_EQ(stage.existence->Check(Triple()), Refused(Reason::kUserNotFound));
  item::Item entity = stage.Row("entity#user#U01234567").value();
  EXPECT_EQ(*entity.Find("state"), item::Value("active"));
  EXPECT_EQ(*entity.Find("verified_at"), item::Value(Number::FromInt(1'700'000'010)));
  int sets = stage.slack.sets();
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
  EXPECT_EQ(stage.slack.sets(), sets);
}

// In the opposite order, a late confirmation would allow a user who is gone.
TEST(ExistenceCacheTest, ALateConfirmationDoesNotReplaceANewerRefusal) {
  Stage stage;
  std::unique_ptr<Existence> other = stage.AnotherProcess();
  stage.slack.on_answer = [&] {
    stage.slack.on_answer = nullptr;
    stage.slack.Set(kUser, LookupOutcome::kInactive);
    stage.clock.Advance(std::chrono::seconds(1));
    EXPECT_EQ(other->Check(Triple()), Refused(Reason::kUserInactive));
  };
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  EXPECT_FALSE(stage.Row(kTripleKey));
  EXPECT_EQ(stage.existence->Check(Triple()), Refused(Reason::kUserInactive));
}

// Spec: 000-15
TEST(ExistenceCacheTest, AFailedWriteOnlyLogsAWarning) {
  for (const Fault& failure : {Throttled(), LostRequest(), Denied()}) {
    Stage stage;
    stage.fault = [&](Operation operation) {
      return Writes(operation) ? std::optional(failure) : std::nullopt;
    };
    EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
    EXPECT_GE(stage.LogLines("warning existence cache save failed"), 1U);
    EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
    EXPECT_EQ(stage.slack.asked().size(), 6U);
  }
}

// ---- Reading and expiry ----

// Spec: 000-16
TEST(ExistenceCacheTest, ALiveRowAnswersWithoutSlack) {
  Stage stage;
  stage.existence->Check(Triple());
  stage.clock.Advance(std::chrono::seconds(299));
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
  EXPECT_EQ(stage.AnotherProcess()->Check(Triple()), Allowed(Reason::kCached));
  EXPECT_EQ(stage.slack.sets(), 1);
}

// Spec: 000-17
TEST(ExistenceCacheTest, ARowIsLiveUntilTheSecondBeforeItsTtl) {
  for (auto [offset, is_live] : {std::pair(1, true), std::pair(0, false), std::pair(-1, false)}) {
    Stage stage;
    stage.existence->Check(Triple());
    stage.PutTtl(At(stage, offset));
    // The rows of the single ids must not answer instead.
    for (const char* key :
         {"entity#team#T01234567", "entity#user#U01234567", "entity#channel#C01234567"}) {
      EXPECT_TRUE(stage.model.Delete(
          {.table = std::string(kDefaultCacheTable), .key = {{"cache_key", key}}}));
    }
    Reason expected = is_live ? Reason::kCached : Reason::kVerified;
    EXPECT_EQ(stage.existence->Check(Triple()), Allowed(expected)) << offset;
    EXPECT_EQ(stage.slack.sets(), is_live ? 1 : 2) << offset;
  }
}

// A clock that was wrong when the row was written must not make it last for hours.
TEST(ExistenceCacheTest, IgnoresARowFromTheFarFuture) {
  Stage stage;
  stage.clock.Advance(std::chrono::hours(1));
  stage.existence->Check(Triple());
  stage.clock.SetNow(stage.clock.NowSeconds() - 3600);
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  // The row that replaced it is used.
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
  EXPECT_EQ(stage.slack.sets(), 2);
}

// Spec: 000-18
TEST(ExistenceCacheTest, ReplacesAnExpiredRow) {
  Stage stage;
  stage.existence->Check(Triple());
  stage.clock.Advance(std::chrono::seconds(300));
  ASSERT_TRUE(stage.Row(kTripleKey));
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  EXPECT_EQ(stage.slack.asked().size(), 6U);
  EXPECT_EQ(*stage.Row(kTripleKey).value().Find("ttl"), item::Value(At(stage, 300)));
}

// Spec: 000-19
TEST(ExistenceCacheTest, AsksSlackWithoutARow) {
  Stage stage;
  EXPECT_FALSE(stage.Row(kTripleKey));
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  EXPECT_EQ(stage.slack.sets(), 1);
}

// Spec: 000-20
TEST(ExistenceCacheTest, TreatsARowWithoutATtlAsAMissAndLogsAWarning) {
  for (const std::optional<item::Value>& ttl :
       {std::optional<item::Value>(), std::optional<item::Value>("soon"),
        std::optional<item::Value>(Number::Parse("99999999999.5").value())}) {
    Stage stage;
    stage.existence->Check(Triple());
    for (item::Item row : stage.AllRows(std::string(kDefaultCacheTable))) {
      row.Erase("ttl");
      if (ttl) row.Set("ttl", *ttl);
      stage.PutRow(row);
    }
    EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
    EXPECT_EQ(stage.slack.asked().size(), 6U);
    EXPECT_GE(stage.LogLines("warning existence cache has a row without a time"), 1U);
    // The damaged rows are gone.
    EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
  }
}

// The seed's own program writes rows without a generation, with or without verified_at. While it
// runs beside this one, what it verified is not asked again.
// Review: F15
TEST(ExistenceCacheTest, UsesARowOfTheSeedsOwnProgram) {
  Stage stage;
  stage.PutRow({{"cache_key", kTripleKey}, {"ttl", At(stage, 300)}});
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
  EXPECT_TRUE(stage.slack.asked().empty());
  stage.clock.Advance(std::chrono::seconds(300));
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
}

// The seed's program does not know invalidations, so its row may be older than one.
// Review: F15
TEST(ExistenceCacheTest, IgnoresARowOfTheSeedAfterAnInvalidation) {
  Stage stage;
  EXPECT_TRUE(stage.existence->Invalidate(slack::EntityKind::kUser, "U01234567"));
  stage.PutRow({{"cache_key", kTripleKey}, {"ttl", At(stage, 300)}, {"verified_at", At(stage, 0)}});
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
}

// A row with a damaged generation is not one of the seed.
TEST(ExistenceCacheTest, IgnoresARowWhoseGenerationIsNoText) {
  Stage stage;
  stage.PutRow({{"cache_key", kTripleKey}, {"ttl", At(stage, 300)}, {"generation", At(stage, 0)}});
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
}

// Spec: 000-21
TEST(ExistenceCacheTest, TheSweeperDeletesOnlyExpiredRows) {
  Stage stage;
  int deletes = 0;
  stage.fault = [&](Operation operation) -> std::optional<Fault> {
    deletes += operation == Operation::kDelete || operation == Operation::kBatch;
    return std::nullopt;
  };
  stage.existence->Check(Triple());
  EXPECT_TRUE(stage.existence->Invalidate(slack::EntityKind::kChannel, "C09"));
  stage.clock.Advance(std::chrono::seconds(200));
  stage.existence->Check(Triple("U09", "C09", "T09"));
  stage.clock.Advance(std::chrono::seconds(100));
  EXPECT_EQ(stage.AllRows(std::string(kDefaultCacheTable)).size(), 9U);
  stage.model.Maintain();
  EXPECT_FALSE(stage.Row(kTripleKey));
  EXPECT_FALSE(stage.Row("entity#user#U01234567"));
  EXPECT_TRUE(stage.Row("T09#U09#C09"));
  EXPECT_TRUE(stage.Row("entity#user#U09"));
  EXPECT_TRUE(stage.Row("generation#C09"));
  EXPECT_EQ(stage.AllRows(std::string(kDefaultCacheTable)).size(), 5U);
  EXPECT_EQ(deletes, 0);
}

// The same two days are simulated twice: with a sweeper that runs all the time, and without one.
// Spec: 000-22
TEST(ExistenceCacheTest, ASweeperThatNeverRunsChangesNoAnswer) {
  const uint64_t seed = 11;
  SCOPED_TRACE(seed);
  auto run = [&](bool is_swept) {
    Stage stage;
    SeededRandom random(seed);
    std::string story;
    for (int i = 0; i < 400; ++i) {
      const std::string user = "U0" + std::to_string(random.Below(4));
      const std::string channel = "C0" + std::to_string(random.Below(3));
      uint64_t what = random.Below(20);
      if (what == 0) stage.slack.Set(user, LookupOutcome::kInactive);
      if (what == 1) stage.slack.Set(user, LookupOutcome::kActive);
      if (what == 2) stage.existence->Invalidate(slack::EntityKind::kUser, user).value();
      if (is_swept) stage.model.Maintain();
      Verdict verdict = stage.existence->Check(Triple(user, channel));
      story += std::string(ToString(verdict.reason)) + std::to_string(stage.slack.sets()) + " ";
      stage.clock.Advance(
          std::chrono::seconds(random.Below(2) == 0 ? random.Below(5) : random.Below(2'000)));
    }
    EXPECT_GT(stage.clock.Monotonic(), std::chrono::hours(48));
    return story;
  };
  EXPECT_EQ(run(true), run(false));
}

// Spec: 000-23
TEST(ExistenceCacheTest, TreatsAFailedReadAsAMissAndLogsAWarning) {
  Stage stage;
  stage.existence->Check(Triple());
  stage.fault = [](Operation operation) {
    return operation == Operation::kRead ? std::optional(Throttled()) : std::nullopt;
  };
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  EXPECT_EQ(stage.slack.asked().size(), 6U);
  EXPECT_GE(stage.LogLines("warning existence cache read failed"), 1U);
  EXPECT_EQ(stage.Metric("tidemark_gate_existence_cache_misses_total"), 2);
}

// A damaged generation must not be treated as absent: it may have been raised.
TEST(ExistenceCacheTest, UsesNoRowWhenAGenerationIsDamaged) {
  Stage stage;
  stage.existence->Check(Triple());
  stage.PutRow({{"cache_key", "generation#U01234567"}, {"generation", "one"}});
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  EXPECT_EQ(stage.slack.sets(), 2);
  EXPECT_GE(stage.LogLines("warning existence cache has a damaged generation"), 1U);
}

// Spec: 000-24
TEST(ExistenceCacheTest, AfterThreeHundredSecondsSlackIsAskedAgain) {
  Stage stage;
  stage.existence->Check(Triple());
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
  EXPECT_EQ(stage.slack.sets(), 1);
  stage.clock.Advance(std::chrono::seconds(300));
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  EXPECT_EQ(stage.slack.sets(), 2);
}

// Spec: 000-25
TEST(ExistenceCacheTest, AsksAgainAfterAnInvalidation) {
  using slack::EntityKind;
  const std::vector<std::function<Status(Existence&)>> invalidations = {
      [](Existence& existence) { return existence.InvalidateTriple(Triple()); },
      [](Existence& existence) { return existence.Invalidate(EntityKind::kUser, kUser); },
      [](Existence& existence) { return existence.Invalidate(EntityKind::kChannel, kChannel); },
      [](Existence& existence) { return existence.Invalidate(EntityKind::kTeam, kTeam); }};
  for (size_t i = 0; i < invalidations.size(); ++i) {
    Stage stage;
    std::unique_ptr<Existence> other = stage.AnotherProcess();
    stage.existence->Check(Triple());
    ASSERT_TRUE(invalidations[i](*stage.existence));
    // Another process sees the invalidation at once, and asks Slack, which reports the removal.
    stage.slack.Set(i == 2 ? kChannel : kUser, LookupOutcome::kNotFound);
    EXPECT_EQ(other->Check(Triple()).decision, Decision::kDeny) << i;
    EXPECT_EQ(stage.slack.sets(), 2) << i;
  }
}

TEST(ExistenceCacheTest, AnInvalidationDoesNotAffectOtherIds) {
  Stage stage;
  stage.existence->Check(Triple());
  stage.existence->Check(Triple("U09"));
  ASSERT_TRUE(stage.existence->Invalidate(slack::EntityKind::kUser, "U09"));
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
  EXPECT_EQ(stage.existence->Check(Triple("U09")), Allowed(Reason::kVerified));
  EXPECT_EQ(stage.slack.asked().size(),
            5U);  // For the second triple only the user is looked up, twice.
}

TEST(ExistenceCacheTest, OnlyIdsCanBeInvalidated) {
  Stage stage;
  EXPECT_EQ(stage.existence->Invalidate(slack::EntityKind::kUser, kChannel).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(stage.existence->Invalidate(slack::EntityKind::kTeam, "T1#U1").error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(stage.writes, 0);
}

// The caller must know that the invalidation was not stored.
TEST(ExistenceCacheTest, ReportsAFailedInvalidation) {
  Stage stage;
  stage.fault = [](Operation) { return std::optional(Throttled()); };
  EXPECT_EQ(stage.existence->Invalidate(slack::EntityKind::kUser, kUser).error().code,
            ErrorCode::kUnavailable);
}

// Rows that were verified with the old token must not be used after the token was replaced.
TEST(ExistenceCacheTest, ARotatedTokenTakesEffectAtOnce) {
  Stage stage;
  stage.existence->Check(Triple());
  stage.tokens.Set("xoxb-another");
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
  EXPECT_EQ(stage.slack.asked().size(), 6U);
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kCached));
}

// Triples that share a user or a channel share its look-up (decision 22).
TEST(ExistenceCacheTest, AsksOnceForIdsThatTriplesShare) {
  Stage stage({.existence = {.checks_per_team_minute = 0}});
  for (int user = 0; user < 20; ++user) {
    for (int channel = 0; channel < 10; ++channel) {
      Subject triple = Triple("U0" + std::to_string(user), "C0" + std::to_string(channel));
      EXPECT_EQ(stage.existence->Check(triple).decision, Decision::kAllow);
    }
  }
  EXPECT_EQ(stage.slack.asked().size(), 31U);
}

}  // namespace tidemark::gate
