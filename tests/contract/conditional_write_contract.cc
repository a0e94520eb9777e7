// Conditional writes with their three results, and the loop that plans again, for every
// implementation and with lost replies (tables/conditional_writer.h, tables/plan_again.h).
#include <memory>

#include "base/sleeper.h"
#include "tables/conditional_writer.h"
#include "tables/plan_again.h"
#include "tests/contract/contract.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/test_runtime.h"

namespace tidemark::contract {
namespace {

using tables::CancellationCode;
using tables::ConditionalReply;
using tables::ConditionalWrite;
using tables::ConditionalWriter;
using tables::HasText;
using tables::OnConditionFailure;
using tables::PutRequest;
using tables::WriteResult;
using ::testing::ElementsAre;
using testing::Fault;
using testing::Operation;
using ::testing::SizeIs;

constexpr RetryPolicy kRetries = {.max_retries = 3, .first_wait = std::chrono::seconds(1)};

class ConditionalWriteContract : public Contract {
 protected:
  ConditionalWriteContract() { Create(Users()); }

  // Writes the row with this owner, if it does not exist.
  static PutRequest Take(const std::string& id, const std::string& owner) {
    return {.table = "users",
            .item = {{"id", id}, {"owner", owner}},
            .condition = "attribute_not_exists(id)",
            .on_failure = OnConditionFailure::kAllOld};
  }
  Result<ConditionalReply> Write(const ConditionalWrite& write) {
    return writer_.Write(write, Deadline::After(clock(), std::chrono::minutes(1)));
  }
  Result<ConditionalReply> Submit(const ConditionalWrite& write) {
    return writer_.Submit(write, Deadline::After(clock(), std::chrono::minutes(1))).Wait();
  }
  // The first calls fail with these faults, in order.
  void Fail(std::vector<Fault> faults) {
    faulty_.decide = [this, faults = std::move(faults)](Operation) -> std::optional<Fault> {
      const size_t call = calls_++;
      return call < faults.size() ? std::optional(faults[call]) : std::nullopt;
    };
  }

  testing::FaultyTables faulty_{&tables()};
  testing::TestRuntime test_;
  // Sleeping moves the clock of the implementation.
  ManualSleeper sleeper_{&clock()};
  const Runtime runtime_{.clock = clock(),
                         .random = test_.random,
                         .sleeper = sleeper_,
                         .logger = test_.logger,
                         .metrics = test_.metrics};
  ConditionalWriter writer_{&faulty_, kRetries, runtime_};
  size_t calls_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Every, ConditionalWriteContract,
                         ::testing::ValuesIn(ImplementationsInAllModes()), NameOf);

TEST_P(ConditionalWriteContract, AppliesWhereTheConditionHolds) {
  const auto reply = Must(Write({.actions = {Take("a", "n1")}}));
  EXPECT_EQ(reply.result, WriteResult::kApplied);
  EXPECT_TRUE(reply.IsWritten());
  EXPECT_THAT(reply.refusals, SizeIs(0));
  EXPECT_EQ(Get("users", User("a")), (Item{{"id", "a"}, {"owner", "n1"}}));
}

TEST_P(ConditionalWriteContract, ARefusalShowsTheStoredItem) {
  Put("users", {{"id", "a"}, {"owner", "other"}});
  const auto reply = Must(Write({.actions = {Take("a", "n1")}, .is_ours = HasText("owner", "n1")}));
  EXPECT_EQ(reply.result, WriteResult::kRefused);
  EXPECT_FALSE(reply.IsWritten());
  ASSERT_THAT(reply.refusals, SizeIs(1));
  EXPECT_EQ(reply.refusals[0].item, (Item{{"id", "a"}, {"owner", "other"}}));
}

TEST_P(ConditionalWriteContract, UpdatesAndDeletesAreWrittenAlone) {
  Put("users", {{"id", "a"}, {"owner", "n1"}});
  const tables::UpdateRequest update{.table = "users",
                                     .key = User("a"),
                                     .update = "SET #owner = :next",
                                     .condition = "#owner = :owner",
                                     .names = {{"#owner", "owner"}},
                                     .values = {{":owner", "n1"}, {":next", "n2"}}};
  EXPECT_TRUE(Must(Write({.actions = {update}})).IsWritten());
  EXPECT_FALSE(Must(Write({.actions = {update}})).IsWritten());
  const tables::DeleteRequest remove{.table = "users",
                                     .key = User("a"),
                                     .condition = "#owner = :owner",
                                     .names = {{"#owner", "owner"}},
                                     .values = {{":owner", "n2"}}};
  EXPECT_TRUE(Must(Write({.actions = {remove}})).IsWritten());
  EXPECT_EQ(Get("users", User("a")), std::nullopt);
}

TEST_P(ConditionalWriteContract, RecognisesItsOwnRowAfterALostReply) {
  Fail({testing::LostReply()});
  const auto reply = Must(Write({.actions = {Take("a", "n1")}, .is_ours = HasText("owner", "n1")}));
  EXPECT_EQ(reply.result, WriteResult::kOurs);
  EXPECT_TRUE(reply.IsWritten());
  EXPECT_EQ(calls_, 2U);
}

TEST_P(ConditionalWriteContract, WritesAgainAfterALostRequest) {
  Fail({testing::LostRequest(), testing::Throttled()});
  const auto reply = Must(Write({.actions = {Take("a", "n1")}, .is_ours = HasText("owner", "n1")}));
  EXPECT_EQ(reply.result, WriteResult::kApplied);
  EXPECT_THAT(sleeper_.slept(),
              ElementsAre(std::chrono::milliseconds(1000), std::chrono::milliseconds(2000)));
}

TEST_P(ConditionalWriteContract, RecognisesNothingWithoutANonce) {
  Fail({testing::LostReply()});
  EXPECT_EQ(Must(Write({.actions = {Take("a", "n1")}})).result, WriteResult::kRefused);
}

TEST_P(ConditionalWriteContract, SeveralActionsAreAllOrNothing) {
  Put("users", {{"id", "b"}, {"owner", "other"}});
  const auto reply = Must(Write({.actions = {Take("a", "n1"), Take("b", "n1")},
                                 .is_ours = HasText("owner", "n1"),
                                 .own_actions = 2}));
  EXPECT_EQ(reply.result, WriteResult::kRefused);
  ASSERT_THAT(reply.refusals, SizeIs(2));
  EXPECT_FALSE(reply.refusals[0].refused);
  EXPECT_TRUE(reply.refusals[1].refused);
  EXPECT_EQ(reply.refusals[1].item, (Item{{"id", "b"}, {"owner", "other"}}));
  EXPECT_EQ(Get("users", User("a")), std::nullopt);
}

TEST_P(ConditionalWriteContract, RecognisesItsOwnTransactionAfterALostReply) {
  Fail({testing::LostReply()});
  const auto reply = Must(Write({.actions = {Take("a", "n1"), Take("b", "n1")},
                                 .is_ours = HasText("owner", "n1"),
                                 .own_actions = 2}));
  EXPECT_EQ(reply.result, WriteResult::kOurs);
}

// The write was applied, but another writer has replaced one of its rows since.
TEST_P(ConditionalWriteContract, IsRefusedWhenAnotherTookOverOneOfItsRows) {
  Put("users", {{"id", "a"}, {"owner", "n1"}});
  Put("users", {{"id", "b"}, {"owner", "other"}});
  const auto reply = Must(Write({.actions = {Take("a", "n1"), Take("b", "n1")},
                                 .is_ours = HasText("owner", "n1"),
                                 .own_actions = 2}));
  EXPECT_EQ(reply.result, WriteResult::kRefused);
}

// The transaction also has rows without a nonce, such as those of an effect.
TEST_P(ConditionalWriteContract, AsksOnlyTheActionsThatCarryTheNonce) {
  PutRequest effect{.table = "users", .item = User("effect")};
  effect.condition = "attribute_not_exists(id)";
  Fail({testing::LostReply()});
  const auto reply =
      Must(Write({.actions = {Take("a", "n1"), effect}, .is_ours = HasText("owner", "n1")}));
  EXPECT_EQ(reply.result, WriteResult::kOurs);
}

TEST_P(ConditionalWriteContract, SaysUnknownWhenAnyTryMayHaveBeenApplied) {
  Fail({testing::LostRequest(), testing::Throttled(), testing::Throttled(), testing::Throttled()});
  EXPECT_THAT(Write({.actions = {Take("a", "n1")}}), FailsWith(ErrorCode::kUnknown));
  EXPECT_EQ(calls_, 4U);
}

TEST_P(ConditionalWriteContract, SaysUnavailableWhenNoTryWasApplied) {
  Fail({testing::Throttled(), testing::Throttled(), testing::Throttled(), testing::Throttled()});
  EXPECT_THAT(Write({.actions = {Take("a", "n1")}}), FailsWith(ErrorCode::kUnavailable));
}

TEST_P(ConditionalWriteContract, TriesAgainNeitherAfterADenialNorPastItsDeadline) {
  Fail({testing::Denied()});
  EXPECT_THAT(Write({.actions = {Take("a", "n1")}}), FailsWith(ErrorCode::kDenied));
  EXPECT_EQ(calls_, 1U);
  calls_ = 0;
  Fail({testing::Throttled()});
  EXPECT_THAT(writer_.Write({.actions = {Take("a", "n1")}},
                            Deadline::After(clock(), std::chrono::milliseconds(500))),
              FailsWith(ErrorCode::kUnavailable));
  EXPECT_EQ(calls_, 1U);
}

TEST_P(ConditionalWriteContract, AnInvalidActionIsAnErrorAndNoRefusal) {
  PutRequest invalid = Take("b", "n1");
  invalid.item.Erase("id");
  EXPECT_THAT(Write({.actions = {Take("a", "n1"), invalid}}), FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(Write({.actions = {invalid}}), FailsWith(ErrorCode::kInvalid));
}

// Another transaction is writing one of the rows, so the store has not looked at the conditions.
// For a single row the store says so with an error.
TEST_P(ConditionalWriteContract, TriesAgainAfterAConflictWithAnotherTransaction) {
  faulty_.cancel = [conflicts = 2]() mutable {
    return conflicts-- > 0 ? std::optional(CancellationCode::kTransactionConflict) : std::nullopt;
  };
  EXPECT_EQ(Must(Write({.actions = {Take("a", "n1"), Take("b", "n1")}})).result,
            WriteResult::kApplied);
  Fail({Fault{{ErrorCode::kConflict, "for the test"}}});
  EXPECT_EQ(Must(Write({.actions = {Take("c", "n1")}})).result, WriteResult::kApplied);
  EXPECT_THAT(sleeper_.slept(), SizeIs(3));
}

// ---- Without the writer ----

TEST_P(ConditionalWriteContract, JudgesATransactionThatIsSentOnce) {
  const auto write = [&](std::vector<tables::TransactAction> actions) {
    return tables::JudgeOnce(faulty_.TransactWrite({.actions = std::move(actions)}));
  };
  EXPECT_EQ(Must(write({Take("a", "n1"), Take("b", "n1")})).result, WriteResult::kApplied);
  const auto refused = Must(write({Take("c", "n2"), Take("a", "n2")}));
  EXPECT_EQ(refused.result, WriteResult::kRefused);
  EXPECT_FALSE(refused.IsAnyRefused(1));
  EXPECT_TRUE(refused.IsAnyRefused(2));
  EXPECT_TRUE(refused.IsAnyRefused(9));
  // The caller plans again after a conflict. An invalid action would be in the next plan too.
  faulty_.cancel = [] { return CancellationCode::kTransactionConflict; };
  const auto conflict = Must(write({Take("c", "n1")}));
  EXPECT_EQ(conflict.result, WriteResult::kRefused);
  EXPECT_FALSE(conflict.IsAnyRefused(1));
  faulty_.cancel = [] { return CancellationCode::kValidationError; };
  EXPECT_THAT(write({Take("c", "n1")}), FailsWith(ErrorCode::kInvalid));
}

TEST_P(ConditionalWriteContract, JudgesASingleWriteThatIsSentOnce) {
  const auto put = [&] { return tables::JudgeOnce(faulty_.Put(Take("a", "n1"))); };
  Fail({Fault{{ErrorCode::kConflict, "for the test"}}, testing::Throttled()});
  EXPECT_EQ(Must(put()).result, WriteResult::kRefused);
  EXPECT_THAT(put(), FailsWith(ErrorCode::kUnavailable));
  EXPECT_EQ(Must(put()).result, WriteResult::kApplied);
  EXPECT_EQ(Must(put()).result, WriteResult::kRefused);
}

// ---- Without waiting ----

TEST_P(ConditionalWriteContract, ASubmittedWriteGivesTheSameThreeResults) {
  const ConditionalWrite one{.actions = {Take("a", "n1")}, .is_ours = HasText("owner", "n1")};
  EXPECT_EQ(Must(Submit(one)).result, WriteResult::kApplied);
  EXPECT_EQ(Must(Submit(one)).result, WriteResult::kOurs);
  const ConditionalWrite two{.actions = {Take("b", "n2"), Take("c", "n2")},
                             .is_ours = HasText("owner", "n2"),
                             .own_actions = 2};
  EXPECT_EQ(Must(Submit(two)).result, WriteResult::kApplied);
  EXPECT_EQ(Must(Submit(two)).result, WriteResult::kOurs);
  const auto refused = Must(Submit({.actions = {Take("a", "n3"), Take("d", "n3")}}));
  EXPECT_EQ(refused.result, WriteResult::kRefused);
  EXPECT_EQ(refused.refusals[0].item, (Item{{"id", "a"}, {"owner", "n1"}}));
  EXPECT_EQ(Get("users", User("d")), std::nullopt);
}

TEST_P(ConditionalWriteContract, ASubmittedWriteRecognisesItsOwnRowsAfterALostReply) {
  Fail({testing::LostReply()});
  EXPECT_EQ(Must(Submit({.actions = {Take("a", "n1")}, .is_ours = HasText("owner", "n1")})).result,
            WriteResult::kOurs);
  EXPECT_EQ(calls_, 2U);
  calls_ = 0;
  EXPECT_EQ(Must(Submit({.actions = {Take("b", "n2"), Take("c", "n2")},
                         .is_ours = HasText("owner", "n2"),
                         .own_actions = 2}))
                .result,
            WriteResult::kOurs);
  EXPECT_EQ(calls_, 2U);
}

TEST_P(ConditionalWriteContract, ASubmittedWriteIsRepeatedAfterTheSameWaits) {
  Fail({testing::LostRequest(), testing::Throttled()});
  EXPECT_EQ(Must(Submit({.actions = {Take("a", "n1")}})).result, WriteResult::kApplied);
  EXPECT_THAT(sleeper_.slept(),
              ElementsAre(std::chrono::milliseconds(1000), std::chrono::milliseconds(2000)));
}

TEST_P(ConditionalWriteContract, ASubmittedWriteEndsWithTheSameErrors) {
  Fail({testing::LostRequest(), testing::Throttled(), testing::Throttled(), testing::Throttled()});
  EXPECT_THAT(Submit({.actions = {Take("a", "n1")}}), FailsWith(ErrorCode::kUnknown));
  EXPECT_EQ(calls_, 4U);
  calls_ = 0;
  Fail({testing::Denied()});
  EXPECT_THAT(Submit({.actions = {Take("a", "n1")}}), FailsWith(ErrorCode::kDenied));
  EXPECT_EQ(calls_, 1U);
  calls_ = 0;
  Fail({testing::Throttled()});
  EXPECT_THAT(writer_
                  .Submit({.actions = {Take("a", "n1")}},
                          Deadline::After(clock(), std::chrono::milliseconds(500)))
                  .Wait(),
              FailsWith(ErrorCode::kUnavailable));
  EXPECT_EQ(calls_, 1U);
}

// No thread waits between two tries, and a program that stops does not wait for the next one.
TEST_P(ConditionalWriteContract, ASubmittedWriteEndsWhenTheSleeperDoes) {
  auto system = std::make_unique<SystemSleeper>();
  const Runtime runtime{.clock = clock(),
                        .random = test_.random,
                        .sleeper = *system,
                        .logger = test_.logger,
                        .metrics = test_.metrics};
  ConditionalWriter writer(&faulty_, {.max_retries = 1, .first_wait = std::chrono::hours(1)},
                           runtime);
  Fail({testing::LostRequest()});
  Later<ConditionalReply> reply = writer.Submit({.actions = {Take("a", "n1")}},
                                                Deadline::After(clock(), std::chrono::hours(2)));
  system.reset();
  EXPECT_THAT(reply.Wait(), FailsWith(ErrorCode::kUnknown));
  EXPECT_EQ(calls_, 1U);
}

// ---- Planning again ----

class PlanAgainContract : public ConditionalWriteContract {
 protected:
  // Adds one to a counter as every optimistic writer does it. `meanwhile` runs between the read
  // and the write.
  Result<std::optional<int64_t>> AddOne(const std::function<void()>& meanwhile) {
    ++rounds_;
    const auto stored = TRY(tables().Get({.table = "users", .key = User("c")}));
    const int64_t before = stored ? *stored->Find("n")->As<Number>()->Floor() : 0;
    meanwhile();
    PutRequest put{.table = "users", .item = {{"id", "c"}, {"n", Num(before + 1)}}};
    put.condition = stored ? "n = :before" : "attribute_not_exists(id)";
    if (stored) put.values = {{":before", Num(before)}};
    if (!TRY(tables().Put(put)).applied) return std::optional<int64_t>();
    return std::optional(before + 1);
  }
  Result<std::optional<int64_t>> Run(const std::function<void()>& meanwhile,
                                     const std::optional<Deadline>& deadline = std::nullopt) {
    return tables::PlanAgain<int64_t>(
        tables::kPlanAgain, runtime_, [&] { return AddOne(meanwhile); }, deadline);
  }
  void SomebodyElseWrites() { Put("users", {{"id", "c"}, {"n", Num(100 + rounds_)}}); }

  int rounds_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Every, PlanAgainContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(PlanAgainContract, EndsInTheFirstRoundThatNobodyDisturbs) {
  EXPECT_EQ(Must(Run([&] {
              if (rounds_ <= 2) SomebodyElseWrites();
            })),
            103);
  EXPECT_EQ(rounds_, 3);
}

TEST_P(PlanAgainContract, DoesNotWaitWhenTheFirstRoundSucceeds) {
  EXPECT_EQ(Must(Run([] {})), 1);
  EXPECT_THAT(sleeper_.slept(), SizeIs(0));
}

TEST_P(PlanAgainContract, GivesUpAfterItsRoundsAndLessThanASecondOfPauses) {
  const auto start = clock().Monotonic();
  EXPECT_EQ(Must(Run([&] { SomebodyElseWrites(); })), std::nullopt);
  EXPECT_EQ(rounds_, 32);
  EXPECT_THAT(sleeper_.slept(), SizeIs(31));
  EXPECT_LT(clock().Monotonic() - start, std::chrono::seconds(1));
}

TEST_P(PlanAgainContract, GivesUpAtItsDeadline) {
  const Deadline deadline = Deadline::After(clock(), std::chrono::milliseconds(20));
  EXPECT_EQ(Must(Run([&] { SomebodyElseWrites(); }, deadline)), std::nullopt);
  EXPECT_LT(rounds_, 32);
}

TEST_P(PlanAgainContract, AnErrorOfARoundEndsTheLoop) {
  const auto result =
      tables::PlanAgain<int>(tables::kPlanAgain, runtime_, [&]() -> Result<std::optional<int>> {
        ++rounds_;
        return Error{ErrorCode::kCorrupt, "for the test"};
      });
  EXPECT_THAT(result, FailsWith(ErrorCode::kCorrupt));
  EXPECT_EQ(rounds_, 1);
}

}  // namespace
}  // namespace tidemark::contract
