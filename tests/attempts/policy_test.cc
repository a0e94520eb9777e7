// The policy file, and the probability that guessing succeeds.
#include "apps/attempts/policy.h"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::attempts {
namespace {

using ::testing::HasSubstr;

// A policy with one rule: the default fields, changed by `fields`.
std::string WithRule(const std::string& fields, const std::string& others = "") {
  return R"({"journeys": ["A"], "counts": ["B"], "classifiers": ["C"], )" + others +
         R"("rules": [{"journey": "A", "count": "B", "classifier": "C", )" + fields + "}]}";
}

Odds OddsOf(const std::string& fields, const std::string& others = "") {
  const auto policy = Policy::Parse(WithRule(fields, others));
  EXPECT_TRUE(policy.has_value()) << policy.error().message;
  const std::vector<Odds> odds = policy->GuessOdds();
  EXPECT_EQ(odds.size(), 1u);
  return odds.at(0);
}

// `tidemark attempts policy` prints this text.
TEST(PolicyTest, ParsesTheDefaultTextToTheDefault) {
  const auto parsed = Policy::Parse(Policy::DefaultText());
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->rules().size(), Policy::Default().rules().size());
  EXPECT_EQ(Policy::Default().ceiling(), 100u);
  for (const Rule& rule : Policy::Default().rules()) {
    const uint32_t limit = rule.journey == kSourceJourney ? 100 : 6;
    EXPECT_TRUE(rule.limit == limit || rule.limit == 999'999) << rule.journey;
  }
}

// Otherwise a stranger who guesses for some hours could lock the owner out for good.
// Review: T5
TEST(PolicyTest, HasAJourneyThatLiftsEachCeiling) {
  const Policy& policy = Policy::Default();
  std::set<std::string> with_ceiling;
  std::set<std::string> lifted;
  for (const Rule& rule : policy.rules()) {
    if (rule.HasCeiling()) with_ceiling.insert(rule.classifier);
    for (const Rule& of_journey : policy.rules()) {
      const Name lock{.journey = rule.journey, .count = "LOCK", .classifier = rule.lock_classifier};
      if (of_journey.journey != rule.journey && policy.IsLifted(lock, of_journey.journey)) {
        lifted.insert(rule.classifier);
      }
    }
  }
  EXPECT_THAT(with_ceiling, ::testing::IsSubsetOf(lifted));
}

TEST(PolicyTest, NamesTheFieldOfEveryFault) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"[]", "policy should be an object"},
      {"{", "the policy"},
      {R"({"rules": [], "colour": 1})", "colour"},
      {R"({"journeys": ["A"]})", "policy.rules should be a list"},
      {R"({"journeys": ["A#B"], "rules": []})", "policy.journeys"},
      {R"({"journeys": [3], "rules": []})", "policy.journeys"},
      {R"({"counts": ["LOCK"], "rules": []})", "LOCK"},
      {R"({"counts": ["STATE"], "rules": []})", "STATE"},
      {R"({"counts": ["KNOWN"], "rules": []})", "KNOWN"},
      {R"({"journeys": ["A"], "aliases": {"X": "Y"}, "rules": []})", "policy.aliases.X"},
      {R"({"journeys": ["A", "B"], "aliases": {"A": "B"}, "rules": []})", "policy.aliases.A"},
      {R"({"aliases": [], "rules": []})", "policy.aliases"},
      {R"({"states": {"HAPPY": []}, "rules": []})", "policy.states.HAPPY"},
      {R"({"states": {"BLOCKED": "A"}, "rules": []})", "policy.states.BLOCKED"},
      {R"({"states": {"BLOCKED": ["Q"]}, "rules": []})", "policy.states.BLOCKED"},
      {R"({"lock_seconds": {"STANDARD": 0}, "rules": []})", "policy.lock_seconds.STANDARD"},
      {R"({"ceiling": 0, "rules": []})", "policy.ceiling"},
      {WithRule(R"("limit": 0)"), "policy.rules[0].limit"},
      {WithRule(R"("limit": "6")"), "policy.rules[0].limit"},
      {WithRule(R"("total_limit": 1000000)"), "policy.rules[0].total_limit"},
      {WithRule(R"("window": "round")"), "policy.rules[0].window"},
      {WithRule(R"("on_limit": "cry")"), "policy.rules[0].on_limit"},
      {WithRule(R"("lock": "SOFT")"), "policy.rules[0].lock"},
      {WithRule(R"("lock_classifier": "a#b")"), "lock_classifier"},
      {WithRule(R"("lock_classifier": "D")"), "lock_classifier"},
      {WithRule(R"("clears": ["a#b"])"), "clears"},
      {WithRule(R"("clears": "C")"), "policy.rules[0].clears"},
      {WithRule(R"("lifts": "A#LOCK#C")"), "policy.rules[0].lifts"},
      {WithRule(R"("lifts": ["A#LOCK"])"), "lifts"},
      {WithRule(R"("lifts": ["A#B#C"])"), "lifts should name locks"},
      {WithRule(R"("lifts": ["A#LOCK#C#m"])"), "lifts should name locks"},
      {WithRule(R"("lifts": ["A#LOCK#D"])"), "lifts"},
      {WithRule(R"("lifts": ["X#LOCK#C"])"), "lifts"},
      {WithRule(R"("lifts": ["A#LOCK#C"], "on_limit": "reset")"), "which no rule sets"},
      {WithRule(R"("on_limit": "cry")"), "one of lock, reset, hold, not \"cry\""},
      {WithRule(R"("limit": 5, "limit": 6)"), "has the key \"limit\" twice"},
      {R"({"ceiling": 5, "ceiling": 6, "rules": []})", "has the key \"ceiling\" twice"},
      {R"({"states": {"HAPPY": []}, "rules": []})", "they are BLOCKED SUSPENDED"},
      {WithRule(R"("method_type": "a#b")"), "method_type"},
      {WithRule(R"("mystery": 1)"), "mystery"},
      {R"({"journeys": ["A"], "counts": ["B"], "classifiers": ["C"],
           "rules": [{"journey": "X", "count": "B", "classifier": "C"}]})",
       "policy.rules[0]"},
      {R"({"journeys": ["A"], "counts": ["B"], "classifiers": ["C"],
           "rules": [{"journey": "A", "count": "B", "classifier": "C"},
                     {"journey": "A", "count": "B", "classifier": "C"}]})",
       "two rules for A#B#C"},
  };
  for (const auto& [text, named] : faults) {
    const auto policy = Policy::Parse(text);
    ASSERT_FALSE(policy.has_value()) << text;
    EXPECT_EQ(policy.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(policy.error().message, HasSubstr(named)) << text;
  }
}

// A rule that names an alias is a rule of the journey.
TEST(PolicyTest, AcceptsAnAliasInARule) {
  const auto policy = Policy::Parse(R"({"journeys": ["SIGN_IN"], "counts": ["B"],
      "classifiers": ["C"], "aliases": {"LOGIN": "SIGN_IN"},
      "rules": [{"journey": "LOGIN", "count": "B", "classifier": "C", "limit": 3}]})");
  ASSERT_TRUE(policy.has_value());
  const Name name = *policy->Resolve({.journey = "LOGIN", .count = "B", .classifier = "C"});
  const Rule* rule = policy->FindRule(name, "");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->limit, 3u);
}

// Two servers with different policies on one table, as during a change of the policy: the rows are
// common, and each server judges them by its own limits.
TEST(PolicyTest, OfEachServerIsAppliedToTheSharedRows) {
  Stage lenient;
  std::string text(Policy::DefaultText());
  const std::string rule = R"("classifier": "PASSWORD_ENTRY",
 "lock_classifier": "PASSWORD_RESET",)";
  ASSERT_NE(text.find(rule), std::string::npos);
  text.insert(text.find(rule), R"("limit": 3, )");
  OwnRuntime own(&lenient.clock, &lenient.random);
  Attempts strict(*Policy::Parse(text), &lenient.table, own.runtime());
  const auto verdict_of_strict = [&] {
    return strict.Decide({.subject = lenient.person, .name = kPassword})->verdict;
  };
  lenient.Fail(kPassword, 2);
  EXPECT_EQ(strict.Decide({.subject = lenient.person, .name = kPassword})->remaining, 1u);
  // The strict server refuses at its limit, even if another server counted the failures. It sets a
  // lock only when it counts a failure itself, so its verdict is busy.
  lenient.Fail(kPassword, 1);
  EXPECT_EQ(verdict_of_strict(), Verdict::kBusy);
  // The lenient one goes on to its own limit. Its lock holds for both.
  EXPECT_EQ(lenient.Fail(kPassword, 3).verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(verdict_of_strict(), Verdict::kTemporarilyLocked);
}

TEST(PolicyTest, PrefersTheRuleOfTheMethodType) {
  const Policy& policy = Policy::Default();
  const Name name{
      .journey = "ACCOUNT_CREATION", .count = "ERROR_COUNT", .classifier = "MFA_CODE_ENTRY"};
  EXPECT_EQ(policy.FindRule(name, "AUTH_APP")->limit, 999'999u);
  EXPECT_EQ(policy.FindRule(name, "SMS")->limit, 6u);
  EXPECT_EQ(policy.FindRule(name, "")->limit, 6u);
}

constexpr char kNoCeiling[] = R"("ceiling": 999999, )";

// By hand: a year has 31,536,000 s, thus 35,040 locks of 900 s with 6 guesses before each.
TEST(OddsTest, AssumesAGuesserWhoWaitsForEachLock) {
  const Odds odds = OddsOf(R"("space": 1000000)", kNoCeiling);
  EXPECT_DOUBLE_EQ(odds.guesses_a_year, 210'240);
  // 1 - (1 - 1e-6)^210240 = 1 - e^-0.2102401.
  EXPECT_NEAR(odds.a_year, 0.18961, 0.00001);
  EXPECT_EQ(odds.rule, "A#B#C");
}

TEST(OddsTest, AreBoundedByTheCeiling) {
  const Odds odds = OddsOf(R"("space": 1000000)");
  EXPECT_DOUBLE_EQ(odds.guesses_between_successes, 100);
  EXPECT_NEAR(odds.between_successes, 0.000099995, 1e-9);
}

// Each success of the owner allows a hundred guesses more.
// Review: T17
TEST(OddsTest, OfAYearAreThoseOfAnOwnerWhoSucceedsEveryDay) {
  const Odds odds = OddsOf(R"("space": 1000000)");
  EXPECT_DOUBLE_EQ(odds.guesses_a_year, 36'500);
  EXPECT_NEAR(odds.a_year, 0.03584, 0.00001);
}

// A long lock is not waited for: five in each life of the count, 35,040 times.
TEST(OddsTest, AssumesAGuesserBelowTheLimitWhenThatIsFaster) {
  const Odds odds =
      OddsOf(R"("space": 1000000)", R"("ceiling": 999999, "lock_seconds": {"STANDARD": 7200}, )");
  EXPECT_DOUBLE_EQ(odds.guesses_a_year, 5 * 35'040);
}

TEST(OddsTest, CountGuessesBelowThePermanentLock) {
  EXPECT_DOUBLE_EQ(OddsOf(R"("space": 10, "lock": "PERMANENT")", kNoCeiling).guesses_a_year,
                   5 * 35'040);
  EXPECT_DOUBLE_EQ(
      OddsOf(R"("space": 10, "lock": "PERMANENT", "limit": 1)", kNoCeiling).guesses_a_year, 1);
}

// Without a lock a guesser need not wait, and there is no ceiling either.
TEST(OddsTest, AreCertainAfterAReset) {
  EXPECT_DOUBLE_EQ(OddsOf(R"("space": 10, "on_limit": "reset")", R"("ceiling": 100, )").a_year, 1);
}

TEST(OddsTest, CountTheLimitInEachLifeOfAHeldCount) {
  EXPECT_DOUBLE_EQ(
      OddsOf(R"("space": 10, "on_limit": "hold", "life": 3600)", kNoCeiling).guesses_a_year,
      6 * 8'760);
}

TEST(OddsTest, UseTheTotalOfSeveralMethods) {
  EXPECT_DOUBLE_EQ(OddsOf(R"("space": 10, "total_limit": 11)", kNoCeiling).guesses_a_year,
                   11 * 35'040);
}

// With two secrets, a hundred guesses fail with a probability of 2^-100.
TEST(OddsTest, AreNearlyOneForASmallSpace) {
  EXPECT_NEAR(OddsOf(R"("space": 2)").a_year, 1, 1e-12);
  EXPECT_NEAR(OddsOf(R"("space": 1)").a_year, 1, 1e-12);
}

TEST(OddsTest, AreRefusedAboveTheBound) {
  EXPECT_TRUE(CheckOdds(Policy::Default(), {}).has_value());
  const auto policy = Policy::Parse(WithRule(R"("space": 1000)"));
  const Status checked = CheckOdds(*policy, {});
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(checked.error().message, HasSubstr("A#B#C"));
  EXPECT_THAT(checked.error().message, HasSubstr("0.0952"));
  EXPECT_THAT(checked.error().message, HasSubstr("lower its limit"));
  // The yearly odds have a bound of their own.
  EXPECT_THAT(CheckOdds(*policy, {.between_successes = 0.1}).error().message,
              HasSubstr("above attempts.max-yearly-odds = 0.05"));
  EXPECT_TRUE(CheckOdds(*policy, {.between_successes = 0.1, .a_year = 1}).has_value());
}

}  // namespace
}  // namespace tidemark::attempts
