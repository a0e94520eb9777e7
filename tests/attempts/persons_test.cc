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

  // Failures in a row from earlier days.
  void HasFailed(const Subject& id, int64_t times) {
    person = id;
    Store({{"sk", "!"},
           {"version", "v"},
           {"failures_in_a_row", item::Map{{"PASSWORD_ENTRY", Int(times)}}}});
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

// The limits are sums over all ids, so a failure under two ids would count twice.
// Spec: 003-20
TEST_F(PersonsTest, CountAFailureOnceUnderTheIdOfThePath) {
  for (int i = 0; i < 3; ++i) FailUnder(ann, pair);
  FailUnder(pair, ann);
  EXPECT_EQ(*attempts.Get(ann, kAgain), 3u);
  EXPECT_EQ(*attempts.Get(pair, kAgain), 1u);
  const Decision named_both = Reserve(SlotUnder(pair, ann));
  EXPECT_EQ(named_both.count, 4u);
  EXPECT_EQ(named_both.remaining, 1u);
  // A request that names one id sees that one alone.
  EXPECT_EQ(attempts.Decide({.subject = pair, .name = kAgain})->count, 1u);
}

// Both settle at once: each sees the count of the other id from before, and one must decide again.
TEST_F(PersonsTest, AreLockedByTwoFailuresThatAreSettledAtOnce) {
  for (int i = 0; i < 4; ++i)
    FailUnder(i % 2 == 0 ? ann : pair, i % 2 == 0 ? pair : ann, kPassword);
  const ReserveRequest one = SlotUnder(ann, pair, kPassword);
  const ReserveRequest other = SlotUnder(pair, ann, kPassword);
  ASSERT_EQ(Reserve(one).verdict, Verdict::kPermitted);
  ASSERT_EQ(Reserve(other).verdict, Verdict::kPermitted);
  const auto settle = [&](const ReserveRequest& slot) {
    return Settle({.subject = slot.subject,
                   .name = kPassword,
                   .attempt_id = slot.attempt_id,
                   .also = slot.also});
  };
  Decision of_other;
  tables.decide = [&, met = false](testing::Operation operation) mutable {
    if (testing::Writes(operation) && !std::exchange(met, true)) of_other = settle(other);
    return std::optional<testing::Fault>();
  };
  const Decision of_one = settle(one);
  tables.decide = nullptr;
  EXPECT_FALSE(of_other.just_reached);
  EXPECT_TRUE(of_one.just_reached);
  EXPECT_EQ(of_one.verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(VerdictUnder(pair, ann, kPassword), Verdict::kTemporarilyLocked);
}

// A guesser who takes the ids in turns guesses at one secret, and has the ceiling once.
TEST_F(PersonsTest, HaveOneCeilingUnderAllIds) {
  HasFailed(ann, 60);
  HasFailed(pair, 38);
  EXPECT_EQ(FailUnder(ann, pair, kPassword).verdict, Verdict::kPermitted);
  // The last slot is given once, to one of two who ask at the same time.
  Verdict of_other = Verdict::kBlocked;
  const ReserveRequest last = SlotUnder(pair, ann, kPassword);
  tables.decide = [&, met = false](testing::Operation operation) mutable {
    if (testing::Writes(operation) && !std::exchange(met, true)) of_other = Reserve(last).verdict;
    return std::optional<testing::Fault>();
  };
  EXPECT_EQ(VerdictUnder(ann, pair, kPassword), Verdict::kBusy);
  tables.decide = nullptr;
  EXPECT_EQ(of_other, Verdict::kPermitted);
  const Decision hundredth = Settle(
      {.subject = pair, .name = kPassword, .attempt_id = last.attempt_id, .also = last.also});
  EXPECT_TRUE(hundredth.just_reached);
  EXPECT_EQ(hundredth.verdict, Verdict::kIndefinitelyLocked);
  EXPECT_EQ(hundredth.count, 100u);
  for (const Subject& id : {ann, pair}) {
    EXPECT_EQ(VerdictUnder(id, id == ann ? pair : ann, kPassword), Verdict::kIndefinitelyLocked);
  }
  EXPECT_EQ(attempts.DecideJourney({ann, pair}, "SIGN_IN")->verdict, Verdict::kIndefinitelyLocked);
  // The owner finishes a recovery, for all ids.
  ASSERT_TRUE(attempts.ClearJourney({ann, pair}, "PASSWORD_RESET"));
  EXPECT_EQ(VerdictUnder(ann, pair, kPassword), Verdict::kPermitted);
}

// Otherwise failures under an id that the owner never succeeds under would stay until they lock.
TEST_F(PersonsTest, AreForgivenUnderAllIdsByASuccess) {
  for (int i = 0; i < 5; ++i) FailUnder(pair, ann, kMfaCode);
  const ReserveRequest slot = SlotUnder(ann, pair, kMfaCode);
  ASSERT_EQ(Reserve(slot).verdict, Verdict::kPermitted);
  const SettleRequest right{.subject = ann,
                            .name = kMfaCode,
                            .attempt_id = slot.attempt_id,
                            .right = true,
                            .also = slot.also};
  const auto settle = [&] { return SettleNow(attempts, right); };
  // The write under the other id fails. The caller repeats the call.
  tables.decide = [writes = 0](testing::Operation operation) mutable {
    const bool fails = testing::Writes(operation) && ++writes == 2;
    return fails ? std::optional(testing::Throttled()) : std::nullopt;
  };
  EXPECT_EQ(settle().error().code, ErrorCode::kUnavailable);
  tables.decide = nullptr;
  EXPECT_EQ(*attempts.Get(pair, kMfaCode), 5u);
  EXPECT_TRUE(settle()->right);
  EXPECT_EQ(*attempts.Get(pair, kMfaCode), 0u);
  EXPECT_FALSE(Stored(pair, "!")->Contains("failures_in_a_row"));
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

// A server with the old key still runs beside one with the new key, or two ids become one.
TEST_F(PersonsTest, KeepTheStricterOfTheirCountsWhenIdsAreJoined) {
  const Subject first = SubjectOf("first");
  const Subject second = SubjectOf("second");
  const Subject joined = SubjectOf("joined");
  const auto fail = [&](const Subject& id, const Name& name, int times) {
    person = id;
    return Fail(name, times);
  };
  fail(first, kPassword, 5);
  fail(first, kMfaCode, 1);
  fail(second, kPassword, 2);
  fail(second, kMfaCode, 4);
  ASSERT_TRUE(attempts.SetState(second, AccountState::kReproveIdentity, "ticket 7"));
  fail(joined, kPassword, 3);
  ASSERT_TRUE(attempts.SetLock(joined, {.name = LockOf("ACCOUNT_MANAGEMENT", "PASSWORD_ENTRY")},
                               std::chrono::seconds(100)));
  ASSERT_TRUE(attempts.SetLock(first, {.name = LockOf("ACCOUNT_MANAGEMENT", "PASSWORD_ENTRY")},
                               std::chrono::seconds(500)));
  // Rows of the same second would be taken over twice, which is the strict side.
  Pass(1);
  for (const Subject& from : {first, second, first}) {
    ASSERT_TRUE(attempts.TakeOver(from, joined));
    EXPECT_EQ(*attempts.Get(joined, kPassword), 5u);
  }
  EXPECT_EQ(*attempts.Get(joined, kMfaCode), 4u);
  EXPECT_EQ(attempts.States(joined)->size(), 1u);
  EXPECT_EQ(attempts.Locks(joined)->front().until, clock.NowSeconds() + 499);
  EXPECT_EQ(attempts.GetStanding(joined)->failures.front().failures, 4u);
  EXPECT_EQ(attempts.GetStanding(joined)->failures.back().failures, 5u);
  // What is written under an earlier id after that counts too, and what was cleared stays cleared.
  ASSERT_TRUE(attempts.Reset(joined, kMfaCode));
  Pass(10);
  EXPECT_EQ(fail(first, kPassword, 1).verdict, Verdict::kTemporarilyLocked);
  for (const Subject& from : {first, second}) ASSERT_TRUE(attempts.TakeOver(from, joined));
  person = joined;
  EXPECT_EQ(VerdictOf(kPassword), Verdict::kTemporarilyLocked);
  EXPECT_EQ(CountOf(kMfaCode), 0u);
}

// Earlier programs wrote only that something was taken over.
TEST_F(PersonsTest, KeepWhatWasClearedAfterAnEarlierProgramJoinedTheirIds) {
  person = ann;
  Fail(kPassword, 5);
  person = pair;
  Pass(100);
  Store(
      {{"sk", "!"}, {"version", "v"}, {"seen_at", Int(clock.NowSeconds())}, {"taken_over", true}});
  ASSERT_TRUE(attempts.TakeOver(ann, pair));
  EXPECT_EQ(CountOf(kPassword), 0u);
  EXPECT_TRUE(attempts.GetStanding(pair)->failures.empty());
  Pass(1);
  person = ann;
  Fail(kPassword, 1);
  ASSERT_TRUE(attempts.TakeOver(ann, pair));
  person = pair;
  EXPECT_EQ(VerdictOf(kPassword), Verdict::kTemporarilyLocked);
}

TEST_F(PersonsTest, KeepTheStatesOfBothIdsWithoutAHead) {
  ASSERT_TRUE(attempts.SetState(ann, AccountState::kSuspended, "ticket 7"));
  Pass(402LL * 86'400);
  model.Maintain();
  ASSERT_TRUE(attempts.SetState(pair, AccountState::kBlocked, "ticket 6"));
  ASSERT_TRUE(attempts.TakeOver(pair, ann));
  EXPECT_THAT(*attempts.States(ann),
              ::testing::ElementsAre(AccountState::kBlocked, AccountState::kSuspended));
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
  const auto open_slots = [&] {
    const auto head = Stored(*Subject::OfSource("net-1", Secret("key")), "!");
    const auto* open = head ? head->Find("open") : nullptr;
    return open ? open->As<item::List>()->size() : 0u;
  };
  const auto reserve = [&](const ReserveRequest& request) { return ReserveNow(attempts, request); };
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

// The subject's write has happened, or the source's has not: the repeated call settles the slot of
// the source, and only once.
TEST_F(SourceTest, GetsItsSlotSettledOnceWhenASettleIsRepeated) {
  const Subject source = *Subject::OfSource("net-1", Secret("key"));
  const Name failures = ErrorsOf("SOURCE", "GENERAL");
  uint64_t wrong = 0;
  for (const bool right : {true, false}) {
    for (const int failing : {1, 2}) {
      for (const testing::Fault& fault : {testing::LostReply(), testing::Throttled()}) {
        const Subject victim = SubjectOf("victim-" + std::to_string(++victims_));
        const ReserveRequest slot = From("net-1", victim);
        ASSERT_EQ(Reserve(slot).verdict, Verdict::kPermitted);
        const SettleRequest request{
            .subject = victim, .name = kPassword, .attempt_id = slot.attempt_id, .right = right};
        tables.decide = [&, writes = 0](testing::Operation operation) mutable {
          const bool fails = testing::Writes(operation) && ++writes == failing;
          return fails ? std::optional(fault) : std::nullopt;
        };
        for (int calls = 0; calls < 3; ++calls) {
          const auto settled = SettleNow(attempts, request);
          tables.decide = nullptr;
          if (settled) EXPECT_EQ(settled->right, right);
        }
        wrong += right ? 0 : 1;
        EXPECT_FALSE(Stored(source, "!")->Contains("open"));
        EXPECT_EQ(*attempts.Get(source, failures), wrong);
      }
    }
  }
  Pass(63);
  EXPECT_EQ(Spray("net-1"), Verdict::kPermitted);
  EXPECT_EQ(*attempts.Get(source, failures), wrong + 1);
}

TEST_F(SourceTest, NeedsAKeyForItsHash) {
  const auto refused = Subject::OfSource("203.0.113.7", Secret());
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("attempts.email-key is not set"));
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
  const auto refused = ReserveNow(other.attempts, From("net-1", person));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("add one for the journey SOURCE"));
}

}  // namespace
}  // namespace tidemark::attempts
