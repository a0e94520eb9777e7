// States of accounts and addresses, and stores that fail: statements 003-41 to 003-46.
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attempts/stage.h"

namespace tidemark::attempts {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// Spec: 003-41
TEST(StatesTest, RefusesABlockedAccountInEveryJourneyUntilCleared) {
  Stage stage;
  const std::vector<Name> actions = {kPassword,
                                     ErrorsOf("REAUTHENTICATION", "EMAIL_ENTRY"),
                                     ErrorsOf("ACCOUNT_CREATION", "EMAIL_CODE_ENTRY"),
                                     ErrorsOf("PASSWORD_RESET", "CODE_ENTRY"),
                                     ErrorsOf("PASSWORD_RESET_MFA", "MFA_CODE_ENTRY"),
                                     ErrorsOf("ACCOUNT_RECOVERY", "MFA_CODE_ENTRY"),
                                     ErrorsOf("ACCOUNT_MANAGEMENT", "PASSWORD_ENTRY")};
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kBlocked, "fraud"));
  EXPECT_THAT(*stage.attempts.States(stage.person), ElementsAre(AccountState::kBlocked));
  for (const Name& action : actions) {
    EXPECT_EQ(stage.VerdictOf(action), Verdict::kBlocked) << action.journey;
    EXPECT_EQ(stage.attempts.DecideJourney({stage.person}, action.journey)->verdict,
              Verdict::kBlocked);
  }
  ASSERT_TRUE(stage.attempts.ClearState(stage.person, AccountState::kBlocked));
  for (const Name& action : actions) EXPECT_EQ(stage.VerdictOf(action), Verdict::kPermitted);
}

// A slot that was reserved before the block is not given again after it.
TEST(StatesTest, RefusesARepeatedReserveAfterABlock) {
  Stage stage;
  const ReserveRequest slot{.subject = stage.person, .name = kPassword, .attempt_id = "a"};
  EXPECT_EQ(stage.Reserve(slot).verdict, Verdict::kPermitted);
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kBlocked, ""));
  EXPECT_EQ(stage.Reserve(slot).verdict, Verdict::kBlocked);
}

// Spec: 003-42
TEST(StatesTest, DistinguishesTheStates) {
  for (const AccountState state :
       {AccountState::kSuspended, AccountState::kResetPassword, AccountState::kReproveIdentity}) {
    Stage stage;
    ASSERT_TRUE(stage.attempts.SetState(stage.person, state, ""));
    EXPECT_THAT(*stage.attempts.States(stage.person), ElementsAre(state));
  }
  Stage stage;
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kReproveIdentity, ""));
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kResetPassword, ""));
  EXPECT_EQ(stage.attempts.Decide({.subject = stage.person, .name = kPassword})->state,
            AccountState::kResetPassword);
  EXPECT_EQ(stage.VerdictOf(ErrorsOf("PASSWORD_RESET", "CODE_ENTRY")), Verdict::kPermitted);
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kSuspended, ""));
  EXPECT_EQ(stage.attempts.Decide({.subject = stage.person, .name = kPassword})->state,
            AccountState::kSuspended);
  EXPECT_EQ(stage.VerdictOf(ErrorsOf("PASSWORD_RESET", "CODE_ENTRY")), Verdict::kBlocked);
  EXPECT_EQ(stage.attempts.States(stage.person)->size(), 3u);
}

// Spec: 003-43
TEST(StatesTest, AllowsAnAddressAfterItsFraudBlockEnds) {
  for (const bool swept : {false, true}) {
    Stage stage;
    const Subject email = *Subject::OfEmail("ann@example.com", Secret("k"));
    EXPECT_EQ(*stage.attempts.GetEmailFraud(email), EmailFraud::kPending);
    ASSERT_TRUE(stage.attempts.SetEmailFraud(email, EmailFraud::kDeny, 900s));
    const item::Item row = *stage.Stored(email, "EMAIL_FRAUD#STATE#BLOCKED");
    EXPECT_EQ(TextIn(row, "intervention_state"), "FRAUD_BLOCKED");
    EXPECT_EQ(TextIn(row, "block_type"), "STANDARD");
    EXPECT_EQ(NumberIn(row, "block_duration"), 900);
    stage.Pass(899);
    EXPECT_EQ(*stage.attempts.GetEmailFraud(email), EmailFraud::kDeny);
    stage.Pass(1);
    if (swept) stage.model.Maintain();
    EXPECT_EQ(*stage.attempts.GetEmailFraud(email), EmailFraud::kAllow);
    ASSERT_TRUE(stage.attempts.SetEmailFraud(email, EmailFraud::kPending, std::nullopt));
    EXPECT_EQ(*stage.attempts.GetEmailFraud(email), EmailFraud::kPending);
  }
}

// Every call to the store fails once, with every error code.
// Spec: 003-46
TEST(StatesTest, PermitsNothingWhenTheStoreFails) {
  const auto refused = [](ErrorCode code) { return testing::Fault{{code, "for the test"}}; };
  const std::set<ErrorCode> cannot_decide = {ErrorCode::kUnavailable, ErrorCode::kUnknown,
                                             ErrorCode::kCorrupt, ErrorCode::kInternal};
  for (const testing::Fault& fault :
       {testing::Throttled(), testing::LostReply(), testing::LostRequest(), testing::Denied(),
        refused(ErrorCode::kNotFound), refused(ErrorCode::kInvalid), refused(ErrorCode::kInUse),
        refused(ErrorCode::kConflict), refused(ErrorCode::kCorrupt),
        refused(ErrorCode::kInternal)}) {
    for (int failing = 0;; ++failing) {
      Stage stage;
      int calls = 0;
      bool failed = false;
      // From this call on, so that trying again does not help.
      stage.tables.decide = [&](testing::Operation) -> std::optional<testing::Fault> {
        if (calls++ < failing) return std::nullopt;
        failed = true;
        return fault;
      };
      const ReserveRequest request{.subject = stage.person, .name = kPassword, .attempt_id = "a"};
      const auto reserved = ReserveNow(stage.attempts, request);
      if (!failed) {
        EXPECT_TRUE(reserved.has_value());
        break;
      }
      ASSERT_FALSE(reserved.has_value()) << "permitted at call " << failing;
      EXPECT_TRUE(cannot_decide.contains(reserved.error().code))
          << ToString(reserved.error().code) << " for " << ToString(fault.error.code);
      failed = false;
      const auto decided = stage.attempts.Decide(request);
      ASSERT_FALSE(decided.has_value());
      EXPECT_TRUE(cannot_decide.contains(decided.error().code)) << ToString(decided.error().code);
      EXPECT_FALSE(stage.attempts.Spend(request).has_value());
      EXPECT_FALSE(stage.attempts.DecideJourney({stage.person}, "SIGN_IN").has_value());
      EXPECT_FALSE(stage.attempts.GetEmailFraud(stage.person).has_value());
      EXPECT_FALSE(stage.attempts.Locks(stage.person).has_value());
    }
  }
}

// After one lost reply the answer is the same as without it.
TEST(StatesTest, FindsItsOwnWriteAfterALostReply) {
  for (const testing::Fault& fault : {testing::LostReply(), testing::LostRequest()}) {
    Stage stage;
    int writes = 0;
    stage.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
      if (!testing::Writes(operation) || ++writes % 2 == 0) return std::nullopt;
      return fault;
    };
    for (int i = 0; i < 6; ++i) {
      writes = 0;
      const std::string id = std::to_string(i);
      EXPECT_EQ(
          stage.Reserve({.subject = stage.person, .name = kPassword, .attempt_id = id}).verdict,
          Verdict::kPermitted);
      writes = 0;
      stage.Settle({.subject = stage.person, .name = kPassword, .attempt_id = id});
    }
    EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
    EXPECT_EQ(stage.Locks().size(), 1u);
  }
}

}  // namespace
}  // namespace tidemark::attempts
