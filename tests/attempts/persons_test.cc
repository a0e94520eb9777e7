// Limits beyond one subject: a person with several identifiers, and a source that tries many
// subjects.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/worker_pool.h"
#include "tests/attempts/stage.h"

namespace tidemark::attempts {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Name kAgain = ErrorsOf("REAUTHENTICATION", "PASSWORD_ENTRY");

class PersonsTest : public ::testing::Test, protected Stage {
 protected:
  ReserveRequest SlotUnder(const Subject& one, const Subject& other, const Name& name = kAgain) {
    return {.subject = one, .name = name, .attempt_id = NextId(), .also = {other, one}};
  }
  Verdict VerdictUnder(const Subject& one, const Subject& other, const Name& name = kAgain) {
    return Reserve(SlotUnder(one, other, name)).verdict;
  }
  Decision FailUnder(const Subject& one, const Subject& other, const Name& name = kAgain) {
    const ReserveRequest slot = SlotUnder(one, other, name);
    EXPECT_EQ(Reserve(slot).verdict, Verdict::kPermitted);
    return Settle({.subject = one, .name = name, .attempt_id = slot.attempt_id, .also = slot.also});
  }

  const Subject ann = SubjectOf("ann");
  const Subject pair = *Subject::OfPairwise("p");
};

// Review: T11
TEST_F(PersonsTest, HaveSixSlotsUnderTwoIds) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(VerdictUnder(ann, pair), Verdict::kPermitted);
    EXPECT_EQ(VerdictUnder(pair, ann), Verdict::kPermitted);
  }
  EXPECT_EQ(VerdictUnder(ann, pair), Verdict::kBusy);
  EXPECT_EQ(VerdictUnder(pair, ann), Verdict::kBusy);
  // Nobody settled them: they are booked as failures, and together hold the journey.
  Pass(63);
  EXPECT_EQ(VerdictUnder(ann, pair), Verdict::kTemporarilyLocked);
  EXPECT_EQ(VerdictUnder(pair, ann), Verdict::kTemporarilyLocked);
}

// Two pages at once: the second finds the account of the other id changed, and decides again.
// Review: T11
TEST_F(PersonsTest, HaveOneLastSlotWhenTwoIdsAskAtOnce) {
  for (int i = 0; i < 5; ++i) FailUnder(i % 2 == 0 ? ann : pair, ann);
  Verdict of_other = Verdict::kBlocked;
  tables.decide = [&, met = false](testing::Operation operation) mutable {
    if (testing::Writes(operation) && !std::exchange(met, true)) {
      of_other = VerdictUnder(pair, ann);
    }
    return std::optional<testing::Fault>();
  };
  EXPECT_EQ(VerdictUnder(ann, pair), Verdict::kBusy);
  EXPECT_EQ(of_other, Verdict::kPermitted);
}

// Review: T11
TEST_F(PersonsTest, AreLockedByTheSumOfTheirFailures) {
  for (int i = 0; i < 3; ++i) FailUnder(ann, pair, kPassword);
  for (int i = 0; i < 2; ++i) FailUnder(pair, ann, kPassword);
  const Decision sixth = FailUnder(pair, ann, kPassword);
  EXPECT_TRUE(sixth.just_reached);
  EXPECT_EQ(sixth.verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(VerdictUnder(ann, pair, kPassword), Verdict::kTemporarilyLocked);
}

TEST_F(PersonsTest, AreRefusedByTheStateOfAnotherId) {
  ASSERT_TRUE(attempts.SetState(pair, AccountState::kSuspended, ""));
  EXPECT_EQ(VerdictUnder(ann, pair), Verdict::kBlocked);
}

// A stranger who fails under one id must not keep out a device that the person uses under another.
TEST_F(PersonsTest, AreNotLockedOutOfAKnownDeviceByAStranger) {
  const auto by_phone = [&](bool right) {
    ReserveRequest slot = SlotUnder(ann, pair, kPassword);
    slot.device = "phone";
    const Verdict verdict = Reserve(slot).verdict;
    if (verdict != Verdict::kPermitted) return verdict;
    Settle({.subject = ann,
            .name = kPassword,
            .attempt_id = slot.attempt_id,
            .device = "phone",
            .right = right,
            .also = slot.also});
    return verdict;
  };
  EXPECT_EQ(by_phone(true), Verdict::kPermitted);
  person = pair;
  Fail(kPassword, 6);
  EXPECT_EQ(VerdictUnder(ann, pair, kPassword), Verdict::kTemporarilyLocked);
  EXPECT_EQ(by_phone(true), Verdict::kPermitted);
  // Nor by failures in a row.
  Store({{"sk", "!"},
         {"version", "v"},
         {"failures_in_a_row", item::Map{{"PASSWORD_ENTRY", Int(100)}}}});
  EXPECT_EQ(VerdictUnder(ann, pair, kPassword), Verdict::kIndefinitelyLocked);
  EXPECT_EQ(by_phone(true), Verdict::kPermitted);
  // The device itself has six tries, and a state is for everybody.
  for (int i = 0; i < 6; ++i) EXPECT_EQ(by_phone(false), Verdict::kPermitted);
  EXPECT_EQ(by_phone(true), Verdict::kTemporarilyLocked);
  Pass(900);
  ASSERT_TRUE(attempts.SetState(pair, AccountState::kSuspended, ""));
  EXPECT_EQ(by_phone(true), Verdict::kBlocked);
}

// The key of addresses was changed.
// Review: T19
TEST_F(PersonsTest, KeepTheirCountsUnderANewId) {
  const Subject before = *Subject::OfEmail("ann@example.com", Secret("old"));
  const Subject after = *Subject::OfEmail("ANN@example.com", Secret("new"));
  person = before;
  Fail(kPassword, 5);
  ASSERT_TRUE(attempts.SetState(before, AccountState::kReproveIdentity, "ticket 7"));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(attempts.TakeOver(before, after));
  person = after;
  EXPECT_EQ(attempts.States(after)->size(), 1u);
  EXPECT_EQ(Fail(kPassword, 1).verdict, Verdict::kTemporarilyLocked);
  // What was cleared since does not come back.
  ASSERT_TRUE(attempts.Unlock(after, kPasswordLock));
  ASSERT_TRUE(attempts.TakeOver(before, after));
  EXPECT_EQ(VerdictOf(kPassword), Verdict::kPermitted);
  EXPECT_EQ(CountOf(kPassword), 0u);
}

// The head ends long before a state that has no end.
TEST_F(PersonsTest, KeepTheirStatesUnderANewIdWithoutAHead) {
  const Subject before = *Subject::OfEmail("ann@example.com", Secret("old"));
  const Subject after = *Subject::OfEmail("ann@example.com", Secret("new"));
  ASSERT_TRUE(attempts.SetState(before, AccountState::kBlocked, "ticket 7"));
  Pass(402LL * 86'400);
  model.Maintain();
  ASSERT_FALSE(Stored(before, "!").has_value());
  ASSERT_TRUE(attempts.TakeOver(before, after));
  EXPECT_EQ(attempts.States(after)->size(), 1u);
  // What was cleared since does not come back while the new id is in use.
  ASSERT_TRUE(attempts.ClearState(after, AccountState::kBlocked));
  Pass(300LL * 86'400);
  model.Maintain();
  ASSERT_TRUE(attempts.TakeOver(before, after));
  EXPECT_TRUE(attempts.States(after)->empty());
}

// Rows of the new id are not mixed with those of the old one, also when its head is gone.
TEST_F(PersonsTest, KeepTheStatesOfTheirNewIdWithoutAHead) {
  ASSERT_TRUE(attempts.SetState(ann, AccountState::kSuspended, "ticket 7"));
  Pass(402LL * 86'400);
  model.Maintain();
  ASSERT_TRUE(attempts.SetState(pair, AccountState::kBlocked, "ticket 6"));
  ASSERT_TRUE(attempts.TakeOver(pair, ann));
  EXPECT_THAT(*attempts.States(ann), ::testing::ElementsAre(AccountState::kSuspended));
}

// ---- Sources ----

class SourceTest : public ::testing::Test, protected Stage {
 protected:
  ReserveRequest From(const std::string& source, const Subject& subject,
                      const std::string& device = "") {
    return {.subject = subject,
            .name = kPassword,
            .attempt_id = NextId(),
            .device = device,
            .source = *Subject::OfSource(source, Secret("key"))};
  }
  // One guess at the password of one more person.
  Verdict Spray(const std::string& source, bool right = false) {
    const Subject victim = SubjectOf("victim-" + std::to_string(++victims_));
    const ReserveRequest slot = From(source, victim);
    const Verdict verdict = Reserve(slot).verdict;
    if (verdict != Verdict::kPermitted) return verdict;
    Settle({.subject = victim, .name = kPassword, .attempt_id = slot.attempt_id, .right = right});
    return verdict;
  }
  std::vector<Lock> LocksOfSource(const std::string& source) {
    return *attempts.Locks(*Subject::OfSource(source, Secret("key")));
  }

  int victims_ = 0;
};

// One wrong password for each of many people reaches the limit of none of them.
// Review: T5
TEST_F(SourceTest, IsLockedAfterAHundredFailuresOverManyPeople) {
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Spray("net-1", /*right=*/true), Verdict::kPermitted);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Spray("net-1"), Verdict::kPermitted);
  EXPECT_EQ(Spray("net-1"), Verdict::kTemporarilyLocked);
  EXPECT_EQ(Spray("net-2"), Verdict::kPermitted);
  ASSERT_EQ(LocksOfSource("net-1").size(), 1u);
  EXPECT_THAT(Logged(), HasSubstr("subject=source~"));
  EXPECT_THAT(Logged(), Not(HasSubstr("net-1")));
  // The owner of the account is not told about it: nothing of it is locked.
  EXPECT_FALSE(Reserve(From("net-1", SubjectOf("ann"))).just_reached);
  EXPECT_TRUE(Locks().empty());
  Pass(900);
  EXPECT_EQ(Spray("net-1"), Verdict::kPermitted);
}

// Review: T5
TEST_F(SourceTest, CannotBeOutrunByParallelGuesses) {
  int permitted = 0;
  for (int i = 0; i < 200; ++i) {
    const auto decision = Reserve(From("net-1", SubjectOf("victim-" + std::to_string(i))));
    permitted += decision.verdict == Verdict::kPermitted ? 1 : 0;
  }
  EXPECT_EQ(permitted, 64) << "so many attempts of one source may be open at once";
}

// A stranger in the same network must not keep the owner out.
// Review: T5
TEST_F(SourceTest, DoesNotRefuseAKnownDevice) {
  const ReserveRequest first = From("net-1", person, "laptop");
  Reserve(first);
  Settle({.subject = person,
          .name = kPassword,
          .attempt_id = first.attempt_id,
          .device = "laptop",
          .right = true});
  for (int i = 0; i < 100; ++i) Spray("net-1");
  EXPECT_EQ(Reserve(From("net-1", person)).verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(attempts.Decide(From("net-1", person))->verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(attempts.Decide(From("net-1", person, "laptop"))->verdict, Verdict::kPermitted);
  EXPECT_EQ(Reserve(From("net-1", person, "laptop")).verdict, Verdict::kPermitted);
}

// Without a verification there is no failure.
TEST_F(SourceTest, GetsItsSlotBackWhenTheAccountIsLocked) {
  Fail(kPassword, 6);
  for (int i = 0; i < 110; ++i) {
    EXPECT_EQ(Reserve(From("net-1", person)).verdict, Verdict::kTemporarilyLocked);
  }
  Pass(63);
  EXPECT_EQ(Spray("net-1"), Verdict::kPermitted);
  EXPECT_TRUE(LocksOfSource("net-1").empty());
}

// Somebody who sends requests that cannot be decided must not use up the slots of a network.
TEST_F(SourceTest, GetsItsSlotBackWhenTheReservationFails) {
  WorkerPool workers{{.threads = 1, .max_waiting = 10}};
  const auto open_slots = [&] {
    const auto head = Stored(*Subject::OfSource("net-1", Secret("key")), "!");
    const auto* open = head ? head->Find("open") : nullptr;
    return open ? open->As<item::List>()->size() : 0u;
  };
  for (const bool blocks : {true, false}) {
    const auto reserve = [&](const ReserveRequest& request) {
      return blocks ? attempts.Reserve(request) : attempts.Reserve(request, &workers).Wait();
    };
    ReserveRequest unknown = From("net-1", person);
    unknown.name.classifier = "NO_SUCH_THING";
    EXPECT_EQ(reserve(unknown).error().code, ErrorCode::kInvalid);
    EXPECT_EQ(open_slots(), 0u);
    // The first write is that of the source, the second one that of the subject.
    tables.decide = [writes = 0](testing::Operation operation) mutable {
      const bool fails = testing::Writes(operation) && ++writes == 2;
      return fails ? std::optional(testing::Throttled()) : std::nullopt;
    };
    EXPECT_EQ(reserve(From("net-1", person)).error().code, ErrorCode::kUnavailable);
    tables.decide = nullptr;
    EXPECT_EQ(open_slots(), 0u);
  }
}

TEST_F(SourceTest, IsJudgedTheSameWithoutBlocking) {
  WorkerPool workers{{.threads = 1, .max_waiting = 10}};
  for (int i = 0; i < 101; ++i) {
    const Subject victim = SubjectOf("victim-" + std::to_string(i));
    const ReserveRequest slot = From("net-1", victim);
    const auto decision = attempts.Reserve(slot, &workers).Wait();
    ASSERT_TRUE(decision.has_value()) << decision.error().message;
    EXPECT_EQ(decision->verdict, i < 100 ? Verdict::kPermitted : Verdict::kTemporarilyLocked);
    if (i == 100) break;
    const SettleRequest wrong{.subject = victim, .name = kPassword, .attempt_id = slot.attempt_id};
    ASSERT_TRUE(attempts.Settle(wrong, &workers).Wait().has_value());
  }
  Fail(kPassword, 6);
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(attempts.Reserve(From("net-2", person), &workers).Wait()->verdict,
              Verdict::kTemporarilyLocked);
  }
  EXPECT_EQ(attempts.Reserve(From("net-2", SubjectOf("bob")), &workers).Wait()->verdict,
            Verdict::kPermitted);
}

TEST_F(SourceTest, NeedsARuleInThePolicy) {
  Stage other(*Policy::Parse(R"({"journeys": ["SIGN_IN"], "counts": ["ERROR_COUNT"],
    "classifiers": ["PASSWORD_ENTRY"], "rules": [{"journey": "SIGN_IN", "count": "ERROR_COUNT",
    "classifier": "PASSWORD_ENTRY"}]})"));
  const auto refused = other.attempts.Reserve(From("net-1", person));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("add one for the journey SOURCE"));
}

}  // namespace
}  // namespace tidemark::attempts
