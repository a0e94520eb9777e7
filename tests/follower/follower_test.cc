// The follower with the model and with the embedded tables: leases, positions, redelivery, and lost
// replies of the store.
#include "tables/follower.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tables/limits.h"
#include "tests/follower/follower_stage.h"

namespace tidemark::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using FollowerTest = FollowerStage;
INSTANTIATE_TEST_SUITE_P(Stores, FollowerTest,
                         ::testing::Values(StoreKind::kModel, StoreKind::kEmbedded), NameOfKind);

// ---- Delivery ----

// All changes are delivered in order, over more than one page.
TEST_P(FollowerTest, DeliversEveryChangeInOrder) {
  Put({"a", "b", "c", "a", "d", "e", "a"});
  Follower follower = Open();
  StepToEnd(follower);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c", "a", "d", "e", "a"));
}

// A consumer reports its lag, and that it has caught up.
TEST_P(FollowerTest, ShowsItsLag) {
  Put({"a", "b", "c", "d"});
  clock_.Advance(std::chrono::seconds(5));
  Follower follower = Open();
  FollowReply first = Step(follower);
  EXPECT_EQ(first.handled, 3u);
  EXPECT_FALSE(first.caught_up);
  EXPECT_EQ(follower.LagSeconds(), 5);
  Step(follower);
  FollowReply last = Step(follower);
  EXPECT_EQ(last.handled, 0u);
  EXPECT_TRUE(last.caught_up);
  EXPECT_EQ(follower.LagSeconds(), 0);
}

// The lag of a failing consumer grows every second, so that an alarm can fire.
TEST_P(FollowerTest, ShowsTheAgeOfTheRecordThatItsHandlerRefuses) {
  Put({"a"});
  Follower follower = Open();
  StepToEnd(follower);
  Put({"b"});
  clock_.Advance(std::chrono::seconds(5));
  Put({"c"});
  const auto refuse_c = [](const StreamRecord& record) -> Status {
    return IdOf(record) == "c" ? Status(Invalid("no c today")) : Status(Done{});
  };
  ASSERT_FALSE(follower.Step([](const StreamRecord&) { return Status(Unavailable()); }));
  EXPECT_EQ(follower.LagSeconds(), 5);
  ASSERT_FALSE(follower.Step(refuse_c));
  EXPECT_EQ(follower.LagSeconds(), 0);
  clock_.Advance(std::chrono::seconds(7));
  ASSERT_FALSE(follower.Step(refuse_c));
  EXPECT_EQ(follower.LagSeconds(), 7);
  StepToEnd(follower);
  EXPECT_EQ(follower.LagSeconds(), 0);
}

// Without reading it is not known whether there is work, but it is known for how long reading has
// failed.
TEST_P(FollowerTest, ShowsForHowLongItCannotRead) {
  Follower follower = Open();
  StepToEnd(follower);
  tables_.on_records = [](const RecordsRequest&) { return Result<RecordsReply>(Unavailable()); };
  clock_.Advance(std::chrono::seconds(9));
  ASSERT_FALSE(follower.Step(WriteDown()));
  EXPECT_EQ(follower.LagSeconds(), 9);
}

// While another follower holds the lease, this one has no lag.
TEST_P(FollowerTest, HasNoLagWhileAnotherHoldsTheLease) {
  Follower holder = Open();
  Step(holder);
  Put({"a"});
  Follower other = Open();
  clock_.Advance(std::chrono::seconds(9));
  EXPECT_FALSE(Step(other).held);
  EXPECT_EQ(other.LagSeconds(), 0);
}

// A follower that has caught up gets later changes.
TEST_P(FollowerTest, DeliversChangesAfterItHasCaughtUp) {
  Put({"a"});
  Follower follower = Open();
  StepToEnd(follower);
  Put({"b"});
  StepToEnd(follower);
  EXPECT_THAT(handled_, ElementsAre("a", "b"));
}

// The position is stored, so a new follower continues there.
TEST_P(FollowerTest, ContinuesWhereAnotherStopped) {
  Put({"a", "b", "c", "d"});
  Follower first = Open();
  Step(first);
  ASSERT_TRUE(first.Stop());
  Follower second = Open();
  StepToEnd(second);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c", "d"));
}

// Delivery is at least once: a change whose position was not stored is delivered again.
TEST_P(FollowerTest, RedeliversRecordsWhosePositionWasNotStored) {
  Put({"a", "b"});
  {
    Follower dying = Open();
    int puts = 0;
    tables_.on_put = [&](const PutRequest& request) -> Result<WriteReply> {
      // The first put takes the lease. The second one, which stores the position, fails.
      return ++puts == 1 ? tables_.inner().Put(request) : Result<WriteReply>(Unavailable());
    };
    auto reply = dying.Step(WriteDown());
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::kUnavailable);
  }
  tables_.on_put = nullptr;
  clock_.Advance(std::chrono::seconds(kLeaseSeconds));
  Follower next = Open();
  StepToEnd(next);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "a", "b"));
}

// A record that the handler refused is not skipped.
TEST_P(FollowerTest, BeginsAgainWithTheRecordThatWasRefused) {
  Put({"a", "b", "c"});
  Follower follower = Open();
  bool refuses = true;
  auto handler = [&](const StreamRecord& record) -> Status {
    if (refuses && IdOf(record) == "b") return Invalid("no b today");
    handled_.push_back(IdOf(record));
    return Done{};
  };
  auto reply = follower.Step(handler);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(reply.error().message, HasSubstr("no b today"));
  EXPECT_THAT(reply.error().message, HasSubstr("consumer 'reader', table 'events', record "));
  EXPECT_THAT(handled_, ElementsAre("a"));
  ASSERT_FALSE(follower.Step(handler));
  refuses = false;
  ASSERT_TRUE(follower.Step(handler));
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c"));
}

// ---- The lease ----

// Only one of two followers works at a time.
TEST_P(FollowerTest, WorksOnlyWithTheLease) {
  Put({"a", "b", "c", "d"});
  Follower holder = Open();
  Follower other = Open();
  EXPECT_TRUE(Step(holder).held);
  FollowReply reply = Step(other);
  EXPECT_FALSE(reply.held);
  EXPECT_EQ(reply.handled, 0u);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c"));
}

// Expiry is the comparison now < lease_end, to the second.
TEST_P(FollowerTest, TakesOverInTheSecondTheLeaseEnds) {
  Put({"a", "b", "c", "d"});
  Follower dead = Open();
  Step(dead);
  Follower heir = Open();
  clock_.Advance(std::chrono::seconds(kLeaseSeconds - 1));
  EXPECT_FALSE(Step(heir).held);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(Step(heir).held);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c", "d"));
}

// A holder that keeps stepping is not superseded, even if there is nothing to do.
TEST_P(FollowerTest, KeepsTheLeaseWhileItSteps) {
  Follower holder = Open();
  Follower other = Open();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Step(holder).held);
    clock_.Advance(std::chrono::seconds(kLeaseSeconds / 3));
    EXPECT_FALSE(Step(other).held);
  }
}

// A write is conditional on owner and generation. So a follower that lost its lease cannot move the
// position of the new holder.
TEST_P(FollowerTest, CannotMoveThePositionOnceSuperseded) {
  Put({"a", "b", "c", "d"});
  Follower slow = Open({.page = 1});
  Follower heir = Open({.page = 4});
  auto reply = slow.Step([&](const StreamRecord&) -> Status {
    clock_.Advance(std::chrono::seconds(kLeaseSeconds));
    StepToEnd(heir);
    return Done{};
  });
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->held);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c", "d"));
  EXPECT_FALSE(Step(slow).held);
  handled_.clear();
  Put({"e"});
  StepToEnd(heir);
  EXPECT_THAT(handled_, ElementsAre("e"));
}

// A lease must not end in the middle of a page, so the page is ended early.
TEST_P(FollowerTest, StoresThePositionWhenHalfTheLeaseIsGone) {
  Put({"a", "b", "c"});
  Follower follower = Open();
  auto reply = follower.Step([&](const StreamRecord& record) -> Status {
    handled_.push_back(IdOf(record));
    clock_.Advance(std::chrono::seconds(10));
    return Done{};
  });
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->held);
  EXPECT_THAT(handled_, ElementsAre("a", "b"));
  EXPECT_EQ(RowInt("lease_end"), clock_.NowSeconds() + kLeaseSeconds);
}

// When reading takes longer than the lease, no record is handled.
TEST_P(FollowerTest, BeginsNothingWhenTheLeaseEndedWhileItRead) {
  Put({"a"});
  Follower follower = Open();
  tables_.on_records = [&](const RecordsRequest& request) {
    clock_.Advance(std::chrono::seconds(kLeaseSeconds));
    return tables_.inner().GetRecords(request);
  };
  EXPECT_EQ(Step(follower).handled, 0u);
  tables_.on_records = nullptr;
  EXPECT_EQ(Step(follower).handled, 1u);
}

// Setting the wall clock back does not extend the lease.
TEST_P(FollowerTest, MeasuresItsOwnLeaseOnTheMonotonicClock) {
  Put({"a"});
  Follower follower = Open();
  EpochSeconds start = clock_.NowSeconds();
  tables_.on_records = [&](const RecordsRequest& request) {
    clock_.Advance(std::chrono::seconds(kLeaseSeconds));
    clock_.SetNow(start);
    return tables_.inner().GetRecords(request);
  };
  EXPECT_EQ(Step(follower).handled, 0u);
}

// After Stop the next follower can take the lease at once. The position is kept.
TEST_P(FollowerTest, GivesTheLeaseBackWhenStopped) {
  Put({"a", "b", "c", "d"});
  Follower first = Open();
  Follower second = Open();
  Step(first);
  ASSERT_TRUE(first.Stop());
  EXPECT_TRUE(Step(second).held);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c", "d"));
  EXPECT_FALSE(Step(first).held);
}

// Stopping a follower without a lease is not an error, and does not affect the present holder.
TEST_P(FollowerTest, StopsQuietlyWithoutALease) {
  Follower first = Open();
  ASSERT_TRUE(first.Stop());
  Step(first);
  clock_.Advance(std::chrono::seconds(kLeaseSeconds));
  Follower second = Open();
  EXPECT_TRUE(Step(second).held);
  ASSERT_TRUE(first.Stop());
  Follower third = Open();
  EXPECT_FALSE(Step(third).held);
}

// ---- Lost replies ----

// The reply was lost, but the write was applied: the follower recognises its own row.
TEST_P(FollowerTest, RecognisesItsOwnWriteAfterALostReply) {
  Put({"a", "b"});
  Follower follower = Open();
  LosePuts(1, Loss::kApplied);  // The put of the lease.
  EXPECT_TRUE(Step(follower).held);
  Put({"c"});
  LosePuts(1, Loss::kApplied);  // The put of the position.
  EXPECT_TRUE(Step(follower).held);
  EXPECT_TRUE(Step(follower).caught_up);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c"));
}

// The reply was lost and the write was not applied: it is tried again.
TEST_P(FollowerTest, RepeatsAWriteThatWasLostOnItsWay) {
  Put({"a", "b"});
  Follower follower = Open();
  LosePuts(1, Loss::kNotApplied);
  EXPECT_TRUE(Step(follower).held);
  Put({"c"});
  LosePuts(2, Loss::kNotApplied);
  EXPECT_TRUE(Step(follower).held);
  EXPECT_TRUE(Step(follower).caught_up);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c"));
}

// When all replies are lost, the step returns kUnknown. The next step finds out from the row, while
// the lease still holds.
TEST_P(FollowerTest, FindsTheOutcomeInItsRowAfterLostReplies) {
  Put({"a", "b"});
  Follower follower = Open();
  LosePuts(100, Loss::kApplied);
  auto reply = follower.Step(WriteDown());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kUnknown);
  tables_.on_put = nullptr;
  EXPECT_TRUE(Step(follower).held);
  EXPECT_THAT(handled_, ElementsAre("a", "b"));
}

// A write that arrives very late is refused, because the generation has changed.
TEST_P(FollowerTest, IsNotSetBackByAWriteThatArrivesLate) {
  Put({"a"});
  Follower follower = Open();
  Step(follower);
  Put({"b"});
  std::optional<PutRequest> late;
  tables_.on_put = [&](const PutRequest& request) -> Result<WriteReply> {
    if (late) return tables_.inner().Put(request);
    late = request;
    return Unknown();
  };
  Step(follower);
  Put({"c"});
  StepToEnd(follower);
  item::Item before = Row();
  auto arrived = tables_.inner().Put(late.value());
  ASSERT_TRUE(arrived);
  EXPECT_FALSE(arrived->applied);
  EXPECT_EQ(Row(), before);
}

// ---- Streams that change under the reader ----

// Iterators live 15 minutes; a follower may rest for longer.
TEST_P(FollowerTest, AsksForANewIteratorWhenItsOwnExpired) {
  Put({"a"});
  Follower follower = Open();
  StepToEnd(follower);
  clock_.Advance(kIteratorLife + std::chrono::minutes(1));
  Put({"b"});
  StepToEnd(follower);
  EXPECT_THAT(handled_, ElementsAre("a", "b"));
}

// When every iterator expires at once, the step fails and does not loop for ever.
TEST_P(FollowerTest, GivesUpWhenEveryIteratorExpires) {
  Follower follower = Open();
  int calls = 0;
  tables_.on_records = [&](const RecordsRequest&) -> Result<RecordsReply> {
    ++calls;
    return RecordsReply{.outcome = RecordsOutcome::kExpired};
  };
  auto reply = follower.Step(WriteDown());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kUnavailable);
  EXPECT_LT(calls, 10);
}

// Records that were trimmed before they were read are lost. The follower reports and counts this,
// and continues.
TEST_P(FollowerTest, ReportsAGapWhenRecordsWereTrimmed) {
  Put({"a"});
  Follower follower = Open();
  StepToEnd(follower);
  Put({"b", "c"});
  PassRetention();
  Put({"d"});
  FollowReply reply = Step(follower);
  EXPECT_TRUE(reply.gap);
  EXPECT_FALSE(reply.caught_up);
  EXPECT_EQ(RowInt("gaps"), 1);
  EXPECT_FALSE(Step(follower).gap);
  EXPECT_THAT(handled_, ElementsAre("a", "d"));
}

// The cause of the delay may still exist when the gap is found.
TEST_P(FollowerTest, ReportsAGapAlsoWhenTheNextRecordIsRefused) {
  Put({"a"});
  Follower follower = Open();
  StepToEnd(follower);
  Put({"b"});
  PassRetention();
  Put({"c"});
  const auto refuse = [](const StreamRecord&) { return Status(Unavailable()); };
  const auto reply = follower.Step(refuse);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_TRUE(reply->gap);
  ASSERT_FALSE(follower.Step(refuse));
  EXPECT_EQ(RowInt("gaps"), 1);
}

// A consumer that has handled nothing yet can lose records too, and more than once.
TEST_P(FollowerTest, ReportsAGapWhenTheFirstRecordsAreRefusedUntilTheyAreTrimmed) {
  Follower follower = Open();
  const auto refuse = [](const StreamRecord&) { return Status(Unavailable()); };
  for (const int gaps : {1, 2}) {
    Put({"a", "b"});
    ASSERT_FALSE(follower.Step(refuse));
    PassRetention();
    Put({"c"});
    // The gap could not be stored after the lease was renewed. The next step reports it.
    int puts = 0;
    tables_.on_put = [&](const PutRequest& request) -> Result<WriteReply> {
      return ++puts == 1 ? tables_.inner().Put(request) : Result<WriteReply>(Unavailable());
    };
    ASSERT_FALSE(follower.Step(refuse));
    tables_.on_put = nullptr;
    const auto reply = follower.Step(refuse);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_TRUE(reply->gap);
    EXPECT_EQ(RowInt("gaps"), gaps);
  }
  StepToEnd(follower);
  EXPECT_THAT(handled_, ElementsAre("c"));
  EXPECT_EQ(RowInt("gaps"), 2);
}

// Disabling and enabling a stream makes a new one. The follower reads the first to its end and
// continues with the next.
TEST_P(FollowerTest, MovesOnToTheStreamThatWasEnabledAgain) {
  Put({"a", "b"});
  Follower follower = Open();
  StepToEnd(follower);
  Put({"c"});
  SetStream(false);
  Put({"unseen"});
  SetStream(true);
  Put({"d"});
  SetStream(false);
  SetStream(true);
  Put({"e"});
  StepToEnd(follower);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(RowInt("gaps"), 0);
}

// A disabled stream has ended for now. This is not an error.
TEST_P(FollowerTest, WaitsAtTheEndOfADisabledStream) {
  Put({"a"});
  Follower follower = Open();
  SetStream(false);
  StepToEnd(follower);
  EXPECT_TRUE(Step(follower).caught_up);
  EXPECT_THAT(handled_, ElementsAre("a"));
}

// When a stream was read to its end, its deletion is not a gap.
TEST_P(FollowerTest, SeesNoGapWhenADrainedStreamIsGone) {
  Put({"a"});
  Follower follower = Open();
  SetStream(false);
  StepToEnd(follower);
  PassRetention();
  SetStream(true);
  Put({"b"});
  Follower heir = Open();
  StepToEnd(heir);
  EXPECT_THAT(handled_, ElementsAre("a", "b"));
  EXPECT_EQ(RowInt("gaps"), 0);
}

// When a stream was not read to its end, its deletion is a gap.
TEST_P(FollowerTest, ReportsAGapWhenAStreamVanishedUnread) {
  Put({"a"});
  Follower follower = Open();
  StepToEnd(follower);
  Put({"b"});
  SetStream(false);
  PassRetention();
  SetStream(true);
  Put({"c"});
  FollowReply reply = Step(follower);
  EXPECT_TRUE(reply.gap);
  StepToEnd(follower);
  EXPECT_THAT(handled_, ElementsAre("a", "c"));
}

// ---- What cannot be followed ----

TEST_P(FollowerTest, RefusesATableWithoutAStream) {
  ASSERT_TRUE(tables_.CreateTable({.table = "silent", .keys = {.partition = {.name = "id"}}}));
  Follower follower = Open({.table = "silent"});
  auto reply = follower.Step(WriteDown());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(reply.error().message, HasSubstr("'silent' has no stream"));
}

// A position is only valid for its own table.
TEST_P(FollowerTest, RefusesAConsumerOfAnotherTable) {
  Follower follower = Open();
  Step(follower);
  Follower confused = Open({.table = "others"});
  auto reply = confused.Step(WriteDown());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(reply.error().message, HasSubstr("follows table 'events', not 'others'"));
}

// A row in another format is not overwritten.
TEST_P(FollowerTest, RefusesARowThatIsNotOfAConsumer) {
  Follower follower = Open();
  item::Item row{{"consumer", "reader"}, {"table", kTable}};
  ASSERT_TRUE(tables_.Put({.table = kStateTable, .item = row}));
  auto reply = follower.Step(WriteDown());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(Row(), row);
}

TEST_P(FollowerTest, RefusesOptionsThatMakeNoSense) {
  auto code = [&](FollowerOptions options) {
    auto follower = Follower::Open(tables_, process_.runtime(), options);
    return follower ? std::nullopt : std::optional(follower.error().code);
  };
  EXPECT_EQ(code({.consumer = "", .table = kTable}), ErrorCode::kInvalid);
  EXPECT_EQ(code({.consumer = "c", .table = kTable, .lease_seconds = 0}), ErrorCode::kInvalid);
  EXPECT_EQ(code({.consumer = "c", .table = kTable, .page = 0}), ErrorCode::kInvalid);
  EXPECT_EQ(code({.consumer = "c", .table = kTable, .page = 1'001}), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace tidemark::tables
