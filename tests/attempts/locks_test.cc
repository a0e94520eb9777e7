// Limits, and the locks that follow from them: statements 003-18 and 003-23 to 003-40.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attempts/stage.h"
#include "tests/support/threads.h"

namespace tidemark::attempts {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr EpochSeconds kLocksStart = 1'700'000'000;

// Spec: 003-23
TEST(LocksTest, LocksAtTheSixthWrongPasswordAndRemovesTheCount) {
  Stage stage;
  const Decision fifth = stage.Fail(kPassword, 5);
  EXPECT_EQ(fifth.verdict, Verdict::kPermitted);
  EXPECT_EQ(fifth.count, 5u);
  EXPECT_EQ(fifth.remaining, 1u);
  EXPECT_FALSE(fifth.just_reached);
  const Decision sixth = stage.Fail(kPassword);
  EXPECT_EQ(sixth.verdict, Verdict::kTemporarilyLocked);
  EXPECT_TRUE(sixth.just_reached);
  ASSERT_EQ(stage.Locks().size(), 1u);
  EXPECT_EQ(stage.Locks()[0].kind, LockKind::kStandard);
  EXPECT_EQ(stage.Locks()[0].until, kLocksStart + 900);
  EXPECT_EQ(stage.CountOf(kPassword), 0u);
  EXPECT_FALSE(stage.Stored("SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY").has_value());
}

// Without a slot the page verifies nothing, so a right password is refused too.
// Spec: 003-24
TEST(LocksTest, GivesNoSlotWhileLocked) {
  Stage stage;
  stage.Fail(kPassword, 6);
  EXPECT_EQ(stage.Reserve({.subject = stage.person, .name = kPassword, .attempt_id = "r"}).verdict,
            Verdict::kTemporarilyLocked);
  const auto settled =
      *SettleNow(stage.attempts,
                 {.subject = stage.person, .name = kPassword, .attempt_id = "r", .right = true});
  EXPECT_FALSE(settled.known);
  EXPECT_FALSE(settled.right);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
}

// Spec: 003-25
TEST(LocksTest, EndsALockAtItsSecondWithoutTheSweeper) {
  for (const bool swept : {false, true}) {
    Stage stage;
    stage.Fail(kPassword, 6);
    stage.Pass(899);
    if (swept) stage.model.Maintain();
    EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
    stage.Pass(1);
    if (swept) stage.model.Maintain();
    EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
    EXPECT_TRUE(stage.Locks().empty());
    EXPECT_EQ(stage.Fail(kPassword).count, 1u);
  }
}

// Spec: 003-26
TEST(LocksTest, LocksRegistrationAndRecoveryForAShorterTime) {
  for (const char* journey : {"ACCOUNT_CREATION", "ACCOUNT_RECOVERY"}) {
    Stage stage;
    stage.Fail(ErrorsOf(journey, "MFA_CODE_ENTRY"), 6, "SMS");
    ASSERT_EQ(stage.Locks().size(), 1u);
    EXPECT_EQ(stage.Locks()[0].kind, LockKind::kReduced);
    EXPECT_EQ(stage.Locks()[0].until, kLocksStart + 300);
  }
  for (const char* journey : {"SIGN_IN", "PASSWORD_RESET_MFA", "ACCOUNT_MANAGEMENT"}) {
    Stage stage;
    stage.Fail(ErrorsOf(journey, "MFA_CODE_ENTRY"), 6, "SMS");
    ASSERT_EQ(stage.Locks().size(), 1u);
    EXPECT_EQ(stage.Locks()[0].kind, LockKind::kStandard);
    EXPECT_EQ(stage.Locks()[0].until, kLocksStart + 900);
  }
}

// Somebody who has recovered the account can use the second factor everywhere.
TEST(LocksTest, AFinishedRecoveryLiftsTheLocksOfTheSecondFactor) {
  const std::vector<Name> lifted = {
      LockOf("SIGN_IN", "MFA_CODE_ENTRY"), LockOf("REAUTHENTICATION", "MFA_CODE_ENTRY"),
      LockOf("ACCOUNT_MANAGEMENT", "MFA_CODE_ENTRY"),
      LockOf("PASSWORD_RESET_MFA", "MFA_CODE_ENTRY"), LockOf("PASSWORD_RESET", "CODE_ENTRY")};
  Stage stage;
  for (const Name& name : lifted) {
    ASSERT_TRUE(stage.attempts.SetLock(stage.person, {.name = name}, std::chrono::seconds(900)));
  }
  ASSERT_TRUE(
      stage.attempts.SetLock(stage.person, {.name = kPasswordLock}, std::chrono::seconds(900)));
  ASSERT_EQ(stage.Locks().size(), lifted.size() + 1);
  ASSERT_TRUE(stage.attempts.ClearJourney({stage.person}, "ACCOUNT_RECOVERY").has_value());
  ASSERT_EQ(stage.Locks().size(), 1u);
  EXPECT_EQ(stage.Locks()[0].name, kPasswordLock) << "it says nothing about the password";
}

struct LockKindCase {
  Name lock;
  Name refuses;
};

// Spec: 003-27
TEST(LocksTest, RefusesOnlyTheLockedActionAndJourney) {
  const std::vector<LockKindCase> kinds = {
      {LockOf("SIGN_IN", "MFA_CODE_REQUEST"), RequestsOf("SIGN_IN", "MFA_CODE")},
      {kPasswordLock, kPassword},
      {LockOf("SIGN_IN", "MFA_CODE_ENTRY"), kMfaCode},
      {LockOf("ACCOUNT_CREATION", "EMAIL_CODE_REQUEST"),
       RequestsOf("ACCOUNT_CREATION", "EMAIL_CODE")},
      {LockOf("ACCOUNT_RECOVERY", "MFA_CODE_ENTRY"),
       ErrorsOf("ACCOUNT_RECOVERY", "MFA_CODE_ENTRY")},
      {LockOf("PASSWORD_RESET", "CODE_ENTRY"), ErrorsOf("PASSWORD_RESET", "CODE_ENTRY")},
      {LockOf("ACCOUNT_MANAGEMENT", "EMAIL_CODE_ENTRY"),
       ErrorsOf("ACCOUNT_MANAGEMENT", "EMAIL_CODE_ENTRY")}};
  for (const LockKindCase& set : kinds) {
    Stage stage;
    ASSERT_TRUE(stage.attempts.SetLock(stage.person, {.name = set.lock}, 900s));
    for (const LockKindCase& asked : kinds) {
      EXPECT_EQ(stage.VerdictOf(asked.refuses),
                asked.lock == set.lock ? Verdict::kTemporarilyLocked : Verdict::kPermitted);
    }
  }
}

// Otherwise anybody who keeps trying could keep the owner out for ever.
// Spec: 003-28
TEST(LocksTest, NeverMovesAnExistingLock) {
  Stage stage;
  // Reserved before the lock, and failed after it.
  for (const char* id : {"a", "b"}) {
    stage.Reserve({.subject = stage.person, .name = kPassword, .attempt_id = id});
  }
  stage.Fail(kPassword, 4);
  stage.Settle({.subject = stage.person, .name = kPassword, .attempt_id = "a"});
  ASSERT_TRUE(stage.attempts.SetLock(stage.person, {.name = kPasswordLock}, 900s));
  stage.Pass(50);
  stage.Settle(
      {.subject = stage.person, .name = kPassword, .attempt_id = "b", .lock_length = 5000s});
  ASSERT_EQ(stage.Locks().size(), 1u);
  EXPECT_EQ(stage.Locks()[0].until, kLocksStart + 900);
  const Lock held = *stage.attempts.SetLock(stage.person, {.name = kPasswordLock}, 10s);
  EXPECT_EQ(held.until, kLocksStart + 900);
  EXPECT_EQ(stage.Locks()[0].until, kLocksStart + 900);
}

// Spec: 003-29
TEST(LocksTest, ReportsKindReasonAndEndOfALock) {
  Stage stage;
  stage.Fail(kPassword, 6);
  stage.Pass(100);
  const Decision decision = *stage.attempts.Decide({.subject = stage.person, .name = kPassword});
  ASSERT_TRUE(decision.lock.has_value());
  EXPECT_EQ(decision.lock->kind, LockKind::kStandard);
  EXPECT_EQ(decision.lock->reason, "ERROR_COUNT PASSWORD_ENTRY");
  EXPECT_EQ(decision.lock->until, kLocksStart + 900);
  EXPECT_EQ(decision.remaining_seconds, 800);
  stage.Pass(799);
  EXPECT_EQ(stage.attempts.Decide({.subject = stage.person, .name = kPassword})->remaining_seconds,
            1);
}

// Of two locks on one action the one that ends later decides.
TEST(LocksTest, ReportsTheLaterOfTwoLocks) {
  Stage stage;
  const Name device = ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY", "d1");
  ASSERT_TRUE(
      stage.attempts.SetLock(stage.person, {.name = LockOf("SIGN_IN", "MFA_CODE_ENTRY")}, 100s));
  ASSERT_TRUE(stage.attempts.SetLock(stage.person,
                                     {.name = LockOf("SIGN_IN", "MFA_CODE_ENTRY", "d1")}, 200s));
  EXPECT_EQ(stage.attempts.Decide({.subject = stage.person, .name = device})->remaining_seconds,
            200);
  EXPECT_EQ(stage.attempts.Decide({.subject = stage.person, .name = kMfaCode})->remaining_seconds,
            100);
}

// Spec: 003-30
TEST(LocksTest, KeepsPermanentLocksAndStates) {
  Stage stage;
  ASSERT_TRUE(stage.attempts.SetLock(stage.person,
                                     {.name = kPasswordLock, .kind = LockKind::kPermanent}, 0s));
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kSuspended, ""));
  stage.Pass(400LL * 86'400);
  stage.model.Maintain();
  EXPECT_EQ(stage.Locks().size(), 1u);
  EXPECT_EQ(stage.Locks()[0].until, std::nullopt);
  EXPECT_EQ(stage.attempts.States(stage.person)->size(), 1u);
  ASSERT_TRUE(stage.attempts.ClearState(stage.person, AccountState::kSuspended));
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kIndefinitelyLocked);
}

// The example of the seed has a ttl on a permanent block, so it would end.
// Spec: 003-30
TEST(LocksTest, IgnoresTheEndInTheRowOfAPermanentBlock) {
  Stage stage;
  stage.Store({{"sk", "ACCOUNT_INTERVENTION#STATE#BLOCKED"},
               {"block_type", "PERMANENT"},
               {"intervention_state", "BLOCKED"},
               {"ttl", Int(kLocksStart - 5)}});
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kBlocked);
}

// Threads over the model; the embedded tables have their own test.
// Spec: 003-31
TEST(LocksTest, EvaluatesSixOfFiftyWrongGuessesAtOnce) {
  Stage stage;
  std::atomic<int> verified = 0;
  testing::RunThreads(50, [&](int guesser) {
    const std::string id = "guess-" + std::to_string(guesser);
    const auto slot =
        ReserveNow(stage.attempts, {.subject = stage.person, .name = kPassword, .attempt_id = id});
    ASSERT_TRUE(slot.has_value()) << slot.error().message;
    if (slot->verdict != Verdict::kPermitted) return;
    ++verified;
    EXPECT_TRUE(
        SettleNow(stage.attempts, {.subject = stage.person, .name = kPassword, .attempt_id = id}));
  });
  EXPECT_EQ(verified, 6);
  EXPECT_EQ(stage.Locks().size(), 1u);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
}

// Spec: 003-32
TEST(LocksTest, StartsFromZeroAfterAnUnlock) {
  Stage stage;
  stage.Fail(kPassword, 6);
  ASSERT_TRUE(stage.attempts.Unlock(stage.person, kPasswordLock));
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
  EXPECT_EQ(stage.CountOf(kPassword), 0u);
  EXPECT_EQ(stage.Fail(kPassword).remaining, 5u);
}

// A reset is finished when the new password is stored; the code alone is only one step. Afterwards
// all counts start from zero, whether the person was locked or not.
// Spec: 003-32
TEST(LocksTest, StartsFromZeroAfterAPasswordReset) {
  for (const int failures : {6, 3}) {
    Stage stage;
    stage.Fail(kPassword, failures);
    stage.Fail(kMfaCode, 2);
    stage.Try(ErrorsOf("PASSWORD_RESET", "CODE_ENTRY"), true);
    EXPECT_EQ(stage.Locks().size(), failures == 6 ? 1u : 0u);
    ASSERT_TRUE(stage.attempts.ClearJourney({stage.person}, "PASSWORD_RESET"));
    EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
    EXPECT_EQ(stage.CountOf(kPassword), 0u);
    EXPECT_TRUE(stage.Locks().empty());
    EXPECT_EQ(stage.Fail(kPassword).remaining, 5u);
    EXPECT_EQ(stage.CountOf(kMfaCode), 2u) << "of another secret";
  }
}

// A known device was locked in its own lane for the same password.
// Spec: 003-32
TEST(LocksTest, LiftsTheLocksOfAllDevicesAfterAPasswordReset) {
  Stage stage;
  const auto settle = [&](bool right) {
    const std::string id = stage.NextId();
    const Decision slot = stage.Reserve(
        {.subject = stage.person, .name = kPassword, .attempt_id = id, .device = "phone"});
    EXPECT_EQ(slot.verdict, Verdict::kPermitted);
    return stage.Settle({.subject = stage.person,
                         .name = kPassword,
                         .attempt_id = id,
                         .device = "phone",
                         .right = right});
  };
  settle(true);
  stage.Fail(kPassword, 6);
  for (int i = 0; i < 6; ++i) settle(false);
  EXPECT_EQ(stage.Locks().size(), 2u);
  ASSERT_TRUE(stage.attempts.ClearJourney({stage.person}, "PASSWORD_RESET"));
  EXPECT_TRUE(stage.Locks().empty());
  EXPECT_EQ(settle(false).remaining, 5u);
}

// Locks of other actions and permanent locks stay.
TEST(LocksTest, LiftsOnlyTheLocksThatTheJourneyNames) {
  Stage stage;
  stage.Fail(kMfaCode, 6);
  stage.Fail(kPassword, 6);
  ASSERT_TRUE(stage.attempts.ClearJourney({stage.person}, "REAUTHENTICATION"));
  ASSERT_TRUE(stage.attempts.ClearJourney({stage.person}, "SIGN_IN"));
  ASSERT_TRUE(stage.attempts.ResetAll(stage.person));
  EXPECT_EQ(stage.Locks().size(), 2u);
  ASSERT_TRUE(stage.attempts.Unlock(stage.person, kPasswordLock));
  ASSERT_TRUE(stage.attempts.SetLock(stage.person,
                                     {.name = kPasswordLock, .kind = LockKind::kPermanent}, 0s));
  ASSERT_TRUE(stage.attempts.ClearJourney({stage.person}, "PASSWORD_RESET"));
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kIndefinitelyLocked);
  EXPECT_EQ(stage.VerdictOf(kMfaCode), Verdict::kTemporarilyLocked);
}

// They need several writes.
TEST(LocksTest, LiftsMoreLocksThanOneTransactionCanHold) {
  Stage stage;
  for (int i = 0; i < 70; ++i) {
    const std::string method = "m" + std::to_string(i);
    ASSERT_TRUE(stage.attempts.SetLock(
        stage.person, {.name = LockOf("SIGN_IN", "PASSWORD_RESET", method)}, 900s));
    stage.Add(ErrorsOf("SIGN_IN", "PASSWORD_ENTRY", method));
  }
  ASSERT_TRUE(stage.attempts.ClearJourney({stage.person}, "PASSWORD_RESET"));
  EXPECT_TRUE(stage.Locks().empty());
  EXPECT_EQ(*stage.attempts.Sum(stage.person, kPassword), 0u);
}

// The failures of a locked method count towards the total until its lock is lifted.
// Spec: 003-32
TEST(LocksTest, StartsAMethodFromZeroAfterItsUnlock) {
  Stage stage;
  const Name device = ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY", "d1");
  const Name other = ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY", "d2");
  stage.Fail(device, 6);
  stage.Fail(other, 2);
  ASSERT_TRUE(stage.attempts.Unlock(stage.person, LockOf("SIGN_IN", "MFA_CODE_ENTRY", "d1")));
  EXPECT_EQ(stage.CountOf(device), 0u);
  EXPECT_EQ(stage.CountOf(other), 2u);
  EXPECT_EQ(stage.Fail(device).remaining, 5u);
}

// Both limits of the seed: of a device, and of all devices together.
// Spec: 003-18
TEST(LocksTest, LocksADeviceAtItsLimitAndTheUserAtTheTotal) {
  Stage stage;
  const auto device = [](int number) {
    return ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY", "device-" + std::to_string(number));
  };
  EXPECT_EQ(stage.Fail(device(1), 6).verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(stage.VerdictOf(device(2)), Verdict::kPermitted);
  ASSERT_EQ(stage.Locks().size(), 1u);
  EXPECT_EQ(stage.Locks()[0].name.method, "device-1");
  // Ten are allowed, and the eleventh that fails refuses everything.
  EXPECT_EQ(stage.Fail(device(2), 4).verdict, Verdict::kPermitted);
  EXPECT_EQ(stage.VerdictOf(device(3)), Verdict::kPermitted);
  const Decision eleventh = stage.Fail(device(3));
  EXPECT_EQ(eleventh.verdict, Verdict::kTemporarilyLocked);
  EXPECT_TRUE(eleventh.just_reached);
  for (int number = 1; number <= 4; ++number) {
    EXPECT_EQ(stage.VerdictOf(device(number)), Verdict::kTemporarilyLocked) << number;
  }
  EXPECT_EQ(*stage.attempts.Sum(stage.person, kMfaCode), 0u);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
  stage.Pass(900);
  EXPECT_EQ(stage.VerdictOf(device(1)), Verdict::kPermitted);
}

// Open attempts count towards the total too.
// Spec: 003-18
TEST(LocksTest, CountsOpenAttemptsTowardsTheTotal) {
  Stage stage;
  int permitted = 0;
  for (int i = 0; i < 30; ++i) {
    const Name device = ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY", "d" + std::to_string(i));
    const Decision slot =
        stage.Reserve({.subject = stage.person, .name = device, .attempt_id = stage.NextId()});
    permitted += slot.verdict == Verdict::kPermitted ? 1 : 0;
  }
  EXPECT_EQ(permitted, 11);
  EXPECT_TRUE(stage.Locks().empty());
}

// Spec: 003-33
TEST(LocksTest, KeepsOrClearsACountAfterARightPasswordAsThePolicySays) {
  Stage keeps;
  keeps.Fail(kPassword, 3);
  keeps.Try(kPassword, true);
  EXPECT_EQ(keeps.CountOf(kPassword), 3u);

  std::string text(Policy::DefaultText());
  const std::string rule = R"("lock_classifier": "PASSWORD_RESET",)";
  ASSERT_NE(text.find(rule), std::string::npos);
  text.replace(text.find(rule), rule.size(), rule + R"("clears": ["PASSWORD_ENTRY"],)");
  Stage clears(*Policy::Parse(text));
  clears.Fail(kPassword, 3);
  clears.Try(kPassword, true);
  EXPECT_EQ(clears.CountOf(kPassword), 0u);
}

// Spec: 003-34
TEST(LocksTest, ClearsTheCountsOfCodesAfterARightCode) {
  Stage stage;
  stage.Fail(kMfaCode, 3, "SMS");
  stage.Fail(kPassword, 2);
  stage.Try(kMfaCode, true, "SMS");
  EXPECT_EQ(*stage.attempts.Sum(stage.person, kMfaCode), 0u);
  EXPECT_EQ(stage.CountOf(kPassword), 2u);
}

// Spec: 003-34
TEST(LocksTest, ClearsBothIdsAfterReauthenticationAndAuditsTheirCounts) {
  Stage stage;
  const Subject pairwise = *Subject::OfPairwise("rp-1");
  const Name email = ErrorsOf("REAUTHENTICATION", "EMAIL_ENTRY");
  const Name password = ErrorsOf("REAUTHENTICATION", "PASSWORD_ENTRY");
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(stage.attempts.Increment({.subject = pairwise, .name = email}));
  }
  stage.Fail(password, 3);
  stage.Fail(kPassword, 1);
  // The audit line is written before each write. So it exists even if the process ends right after
  // the write.
  std::vector<std::string> before_writes;
  stage.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    if (testing::Writes(operation)) before_writes.push_back(stage.Logged());
    return std::nullopt;
  };
  ASSERT_TRUE(stage.attempts.ClearJourney({stage.person, pairwise}, "REAUTHENTICATION"));
  ASSERT_EQ(before_writes.size(), 2u);
  EXPECT_THAT(before_writes[0],
              AllOf(HasSubstr("about to be cleared"), HasSubstr(pairwise.ForLog()),
                    HasSubstr("REAUTHENTICATION#ERROR_COUNT#EMAIL_ENTRY"), HasSubstr("count=2"),
                    Not(HasSubstr("count cleared"))));
  EXPECT_THAT(before_writes[1], AllOf(HasSubstr("REAUTHENTICATION#ERROR_COUNT#PASSWORD_ENTRY"),
                                      HasSubstr("count=3")));
  EXPECT_EQ(*stage.attempts.Get(pairwise, email), 0u);
  EXPECT_EQ(stage.CountOf(password), 0u);
  EXPECT_EQ(stage.CountOf(kPassword), 1u);
  EXPECT_THAT(stage.Logged(), HasSubstr("REAUTHENTICATION#ERROR_COUNT#EMAIL_ENTRY"));
  EXPECT_THAT(stage.Logged(), HasSubstr("REAUTHENTICATION#ERROR_COUNT#PASSWORD_ENTRY"));
  EXPECT_THAT(stage.Logged(), HasSubstr("count=2"));
  EXPECT_THAT(stage.Logged(), HasSubstr("count=3"));
}

// A right e-mail address must not clear the failures of guessed passwords.
TEST(LocksTest, ClearsNothingAfterOneStepOfReauthentication) {
  Stage stage;
  const Name password = ErrorsOf("REAUTHENTICATION", "PASSWORD_ENTRY");
  stage.Fail(password, 5);
  for (const char* step : {"EMAIL_ENTRY", "PASSWORD_ENTRY", "MFA_CODE_ENTRY"}) {
    stage.Try(ErrorsOf("REAUTHENTICATION", step), true);
  }
  EXPECT_EQ(stage.CountOf(password), 5u);
}

// Spec: 003-35
TEST(LocksTest, DoesNotLockAppCodesInRegistration) {
  Stage stage;
  const Name code = ErrorsOf("ACCOUNT_CREATION", "MFA_CODE_ENTRY");
  EXPECT_EQ(stage.Fail(code, 8, "AUTH_APP").verdict, Verdict::kPermitted);
  EXPECT_TRUE(stage.Locks().empty());
  EXPECT_EQ(stage.VerdictOf(code, "SMS"), Verdict::kPermitted);
  EXPECT_EQ(stage.Fail(code, 6, "SMS").verdict, Verdict::kTemporarilyLocked);
}

// Spec: 003-36
TEST(LocksTest, ResetsEmailCodesInRegistrationWithoutALock) {
  Stage stage;
  const Name code = ErrorsOf("ACCOUNT_CREATION", "EMAIL_CODE_ENTRY");
  EXPECT_FALSE(stage.Fail(code, 5).just_reached);
  EXPECT_TRUE(stage.Fail(code).just_reached);
  EXPECT_EQ(stage.CountOf(code), 0u);
  EXPECT_TRUE(stage.Locks().empty());
  EXPECT_EQ(stage.Fail(code).count, 1u);
}

// Spec: 003-37
TEST(LocksTest, RefusesTheSixthCodeRequestAndLocksTheNext) {
  Stage stage;
  const Name requests = RequestsOf("SIGN_IN", "MFA_CODE");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(stage.Spend(requests).verdict, Verdict::kPermitted);
  const Decision sixth = stage.Spend(requests);
  EXPECT_EQ(sixth.verdict, Verdict::kTemporarilyLocked);
  EXPECT_TRUE(sixth.just_reached);
  EXPECT_EQ(stage.CountOf(requests), 0u);
  ASSERT_EQ(stage.Locks().size(), 1u);
  EXPECT_EQ(stage.Locks()[0].name, LockOf("SIGN_IN", "MFA_CODE_REQUEST"));
  const Decision seventh = stage.Spend(requests);
  EXPECT_EQ(seventh.verdict, Verdict::kTemporarilyLocked);
  EXPECT_FALSE(seventh.just_reached);
  EXPECT_EQ(stage.VerdictOf(kMfaCode), Verdict::kPermitted);
}

// Spec: 003-38
TEST(LocksTest, RefusesOnlyTheSixthCodeRequestInReauthentication) {
  Stage stage;
  const Name requests = RequestsOf("REAUTHENTICATION", "MFA_CODE");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(stage.Spend(requests).verdict, Verdict::kPermitted);
  const Decision sixth = stage.Spend(requests);
  EXPECT_NE(sixth.verdict, Verdict::kPermitted);
  EXPECT_TRUE(sixth.just_reached);
  EXPECT_TRUE(stage.Locks().empty());
  EXPECT_EQ(stage.Spend(requests).verdict, Verdict::kPermitted);
}

// After a lost reply, or for a repeated call, the answer is the first one, also when reaching the
// limit stored no lock.
TEST(LocksTest, GivesTheSameAnswerWhenASpendIsRepeated) {
  for (const char* journey : {"SIGN_IN", "REAUTHENTICATION"}) {
    Stage stage;
    const Name requests = RequestsOf(journey, "MFA_CODE");
    for (int i = 0; i < 5; ++i) stage.Spend(requests);
    const ReserveRequest request{.subject = stage.person, .name = requests, .attempt_id = "s"};
    const Decision first = *stage.attempts.Spend(request);
    const Decision again = *stage.attempts.Spend(request);
    EXPECT_NE(first.verdict, Verdict::kPermitted);
    EXPECT_EQ(again.verdict, first.verdict);
    EXPECT_TRUE(again.just_reached);
    EXPECT_EQ(stage.CountOf(requests), 0u);
  }
}

// Spec: 003-39
TEST(LocksTest, RefusesAllOfReauthenticationWhenOneCountIsAtItsLimit) {
  Stage stage;
  const Name password = ErrorsOf("REAUTHENTICATION", "PASSWORD_ENTRY");
  stage.Fail(password, 6);
  for (const char* step : {"EMAIL_ENTRY", "PASSWORD_ENTRY", "MFA_CODE_ENTRY"}) {
    const Decision decision = *stage.attempts.Decide(
        {.subject = stage.person, .name = ErrorsOf("REAUTHENTICATION", step)});
    EXPECT_EQ(decision.verdict, Verdict::kTemporarilyLocked) << step;
    ASSERT_EQ(decision.blocking.size(), 1u);
    EXPECT_EQ(decision.blocking[0].name, password);
    EXPECT_EQ(decision.blocking[0].count, 6u);
    EXPECT_EQ(decision.remaining_seconds, 3600);
  }
  EXPECT_EQ(stage.Spend(RequestsOf("REAUTHENTICATION", "MFA_CODE")).verdict,
            Verdict::kTemporarilyLocked);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
  const Decision journey = *stage.attempts.DecideJourney({stage.person}, "REAUTHENTICATION");
  EXPECT_EQ(journey.verdict, Verdict::kTemporarilyLocked);
  ASSERT_EQ(journey.blocking.size(), 1u);
  stage.Pass(3600);
  EXPECT_EQ(stage.VerdictOf(password), Verdict::kPermitted);
}

// One person with two identifiers has one budget.
// Spec: 003-20, 003-39
TEST(LocksTest, SumsTheIdentifiersOfAPersonInReauthentication) {
  Stage stage;
  const Subject pairwise = *Subject::OfPairwise("rp-1");
  const Name code = ErrorsOf("REAUTHENTICATION", "MFA_CODE_ENTRY");
  stage.Fail(code, 2, "SMS");
  stage.Fail(code, 1, "AUTH_APP");
  const auto verdict = [&](const std::vector<Subject>& subjects) {
    return stage.attempts.DecideJourney(subjects, "REAUTHENTICATION")->verdict;
  };
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(stage.attempts.Increment({.subject = pairwise, .name = code}));
  }
  EXPECT_EQ(verdict({stage.person, pairwise}), Verdict::kPermitted);
  // A repeated identifier counts once.
  EXPECT_EQ(verdict({stage.person, stage.person, pairwise, pairwise}), Verdict::kPermitted);
  EXPECT_EQ(stage.attempts.DecideJourney({stage.person, stage.person}, "REAUTHENTICATION")->count,
            3u);
  ASSERT_TRUE(stage.attempts.Increment({.subject = pairwise, .name = code}));
  EXPECT_EQ(verdict({stage.person}), Verdict::kPermitted);
  EXPECT_EQ(verdict({pairwise}), Verdict::kPermitted);
  EXPECT_EQ(verdict({stage.person, pairwise}), Verdict::kTemporarilyLocked);
  const Decision decision =
      *stage.attempts.DecideJourney({pairwise, stage.person}, "REAUTHENTICATION");
  ASSERT_EQ(decision.blocking.size(), 1u);
  EXPECT_EQ(decision.blocking[0].count, 6u);
  EXPECT_EQ(decision.remaining_seconds, 3600);
  EXPECT_EQ(stage.attempts.DecideJourney({stage.person}, "SWIMMING").error().code,
            ErrorCode::kInvalid);
}

// Spec: 003-40
TEST(LocksTest, RefusesACodeThatTheJourneyDoesNotHave) {
  Stage stage;
  for (const Name& name :
       {RequestsOf("SIGN_IN", "EMAIL_CODE"), RequestsOf("PASSWORD_RESET", "MFA_CODE")}) {
    const auto decision =
        stage.attempts.Spend({.subject = stage.person, .name = name, .attempt_id = "a"});
    ASSERT_FALSE(decision.has_value());
    EXPECT_EQ(decision.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(decision.error().message, HasSubstr("no rule"));
    EXPECT_THAT(decision.error().message, HasSubstr(name.journey));
  }
}

// Spec: 003-60
TEST(LocksTest, UsesTheLengthThatTheCallerGives) {
  Stage stage;
  stage.Fail(kPassword, 5);
  stage.Reserve({.subject = stage.person, .name = kPassword, .attempt_id = "a"});
  stage.Settle(
      {.subject = stage.person, .name = kPassword, .attempt_id = "a", .lock_length = 123s});
  const item::Item row = *stage.Stored("SIGN_IN#LOCK#PASSWORD_RESET");
  EXPECT_EQ(NumberIn(row, "ttl"), kLocksStart + 123);
  EXPECT_EQ(NumberIn(row, "block_duration"), 123);
  const Name other = LockOf("SIGN_IN", "MFA_CODE_REQUEST");
  EXPECT_EQ(stage.attempts.SetLock(stage.person, {.name = other}, 7s)->until, kLocksStart + 7);
  EXPECT_FALSE(stage.attempts.SetLock(stage.person, {.name = other}, 0s).has_value());
  EXPECT_FALSE(
      SettleNow(stage.attempts,
                {.subject = stage.person, .name = kPassword, .attempt_id = "a", .lock_length = -1s})
          .has_value());
}

// The stored end has whole seconds.
// Review: T16
TEST(LocksTest, AreNotShorterThanTheirLength) {
  Stage stage;
  stage.clock.Advance(900ms);
  stage.Fail(kPassword, 6);
  const item::Item row = *stage.Stored("SIGN_IN#LOCK#PASSWORD_RESET");
  EXPECT_EQ(NumberIn(row, "ttl"), kLocksStart + 901);
  EXPECT_EQ(NumberIn(row, "ttl") - NumberIn(row, "last_updated"), 900);
  stage.clock.Advance(899'500ms);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
  stage.clock.Advance(600ms);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
}

// Spec: 003-61
TEST(LocksTest, AuditsALockWithoutSecrets) {
  Stage stage;
  stage.person = *Subject::OfEmail("ann@example.com", Secret("the key of the test"));
  stage.Fail(kPassword, 6);
  EXPECT_THAT(stage.Logged(), HasSubstr("attempts audit"));
  EXPECT_THAT(stage.Logged(), HasSubstr("lock set"));
  EXPECT_THAT(stage.Logged(), HasSubstr("SIGN_IN#LOCK#PASSWORD_RESET"));
  EXPECT_THAT(stage.Logged(), HasSubstr("reason=\"ERROR_COUNT PASSWORD_ENTRY\""));
  EXPECT_THAT(stage.Logged(), HasSubstr("count=6 limit=6"));
  EXPECT_THAT(stage.Logged(), HasSubstr(stage.person.text()));
  EXPECT_THAT(stage.Logged(), Not(HasSubstr("ann")));
  EXPECT_THAT(stage.Logged(), Not(HasSubstr("key of the test")));
}

// A lock is audited also when the reply to its write was lost, and only once.
// Spec: 003-61
TEST(LocksTest, AuditsALockOnceWhenItsReplyIsLost) {
  Stage stage;
  stage.Fail(kPassword, 5);
  stage.Reserve({.subject = stage.person, .name = kPassword, .attempt_id = "a"});
  int writes = 0;
  stage.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    if (!testing::Writes(operation) || ++writes > 1) return std::nullopt;
    return testing::LostReply();
  };
  const Decision decision =
      stage.Settle({.subject = stage.person, .name = kPassword, .attempt_id = "a"});
  EXPECT_TRUE(decision.just_reached);
  const std::string log = stage.Logged();
  const size_t told = log.find("lock set");
  ASSERT_NE(told, std::string::npos);
  EXPECT_EQ(log.find("lock set", told + 1), std::string::npos);
}

// Review: T7
TEST(HelpDeskTest, IsRefusedALockThatDoesNothing) {
  Stage stage;
  const auto lock = [&](const Name& name, LockKind kind) {
    return stage.attempts.SetLock(stage.person, {.name = name, .kind = kind}, 900s);
  };
  const auto refused = lock(LockOf("SIGN_IN", "PASSWORD_ENTRY"), LockKind::kStandard);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("its locks are MFA_CODE_ENTRY"));
  Name of_nobody = kPasswordLock;
  of_nobody.lane = "0123456789abcdef";
  EXPECT_EQ(lock(of_nobody, LockKind::kStandard).error().code, ErrorCode::kInvalid);
  // A permanent lock replaces one that ends, but not the other way round.
  ASSERT_TRUE(lock(kPasswordLock, LockKind::kStandard)->until.has_value());
  EXPECT_FALSE(lock(kPasswordLock, LockKind::kPermanent)->until.has_value());
  EXPECT_FALSE(lock(kPasswordLock, LockKind::kStandard)->until.has_value());
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kIndefinitelyLocked);
}

// Review: T9
TEST(HelpDeskTest, SeesAndLiftsAReauthenticationHold) {
  Stage stage;
  const Name name = ErrorsOf("REAUTHENTICATION", "PASSWORD_ENTRY");
  stage.Fail(name, 6);
  ASSERT_EQ(stage.Locks().size(), 1u);
  ASSERT_TRUE(stage.attempts.Unlock(stage.person, stage.Locks()[0].name).has_value());
  EXPECT_EQ(stage.VerdictOf(name), Verdict::kPermitted);
  EXPECT_TRUE(stage.Locks().empty());
}

// Review: T10
TEST(JourneyTest, IsRefusedWhileAStepOfItIsLocked) {
  Stage stage;
  stage.Fail(kPassword, 6);
  const Decision decision = *stage.attempts.DecideJourney({stage.person}, "SIGN_IN");
  EXPECT_EQ(decision.verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(decision.remaining_seconds, 900);
  EXPECT_EQ(stage.attempts.DecideJourney({stage.person}, "REAUTHENTICATION")->verdict,
            Verdict::kPermitted);
}

}  // namespace
}  // namespace tidemark::attempts
