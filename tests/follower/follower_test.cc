// The follower over the model and over the embedded tables: leases, positions, redelivery, and
// every way in which a store's answers get lost.
#include "tables/follower.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tables/embedded/embedded_tables.h"
#include "tables/limits.h"
#include "tests/follower/hooked_tables.h"
#include "tests/model/model_tables.h"
#include "tests/support/long_run.h"
#include "tests/support/temp_folder.h"

namespace tidemark::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Handled = std::vector<std::string>;

constexpr int64_t kLeaseSeconds = 30;
constexpr char kTable[] = "events";
constexpr char kStateTable[] = "tidemark-consumers";

Error Unknown() { return {ErrorCode::kUnknown, "the reply was lost"}; }
Error Unavailable() { return {ErrorCode::kUnavailable, "try later"}; }

std::string IdOf(const StreamRecord& record) { return *record.keys.Find("id")->As<std::string>(); }

// The tables under test, and what makes their housekeeping run.
struct Store {
  std::unique_ptr<Tables> tables;
  std::function<void()> maintain;
};

enum class StoreKind { kModel, kEmbedded };

Store OpenModel(const Clock& clock) {
  auto model = std::make_unique<model::ModelTables>(clock);
  auto* tables = model.get();
  return {std::move(model), [tables] { tables->Maintain(); }};
}

Store OpenEmbedded(const Clock& clock, const std::string& folder) {
  auto opened =
      embedded::EmbeddedTables::Open({.folder = folder, .background = false, .clock = &clock});
  CHECK(opened.has_value());
  auto* tables = opened->get();
  return {*std::move(opened), [tables] { CHECK(tables->Maintain().has_value()); }};
}

class FollowerTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  FollowerTest()
      : store_(GetParam() == StoreKind::kModel ? OpenModel(clock_)
                                               : OpenEmbedded(clock_, folder_.path() + "/data")),
        tables_(store_.tables.get()) {
    CHECK(tables_.CreateTable({.table = kTable,
                               .keys = {.partition = {.name = "id"}},
                               .stream = StreamView::kNewAndOldImages}));
  }

  Follower Open(FollowerOptions options = {.page = 3}) {
    options.consumer = "reader";
    if (options.table.empty()) options.table = kTable;
    options.lease_seconds = kLeaseSeconds;
    auto follower = Follower::Open(tables_, clock_, random_, options);
    CHECK(follower.has_value());
    return *std::move(follower);
  }

  // Puts an item under each id: one record each.
  void Put(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
      auto reply = store_.tables->Put(
          {.table = kTable, .item = {{"id", id}, {"n", item::Number::FromInt(next_++)}}});
      ASSERT_TRUE(reply && reply->applied);
    }
  }

  // Handles by writing down.
  Follower::Handler WriteDown() {
    return [this](const StreamRecord& record) -> Status {
      handled_.push_back(IdOf(record));
      return Done{};
    };
  }

  FollowReply Step(Follower& follower) {
    auto reply = follower.Step(WriteDown());
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? *reply : FollowReply{};
  }

  void StepToEnd(Follower& follower) {
    for (int i = 0; i < 100; ++i) {
      FollowReply reply = Step(follower);
      if (!reply.held || reply.caught_up) return;
    }
    FAIL() << "the follower does not come to the end";
  }

  item::Item Row() {
    auto row = store_.tables->Get({.table = kStateTable, .key = {{"consumer", "reader"}}});
    EXPECT_TRUE(row && *row);
    return **row;
  }
  int64_t RowInt(std::string_view name) { return *Row().Find(name)->As<item::Number>()->Floor(); }

  void SetStream(bool enabled) {
    auto reply = tables_.UpdateTable({.table = kTable, .stream = UpdateStream{.enabled = enabled}});
    ASSERT_TRUE(reply) << reply.error().message;
    clock_.Advance(std::chrono::seconds(1));
  }

  void PassRetention() {
    clock_.Advance(kStreamRetention + std::chrono::hours(1));
    store_.maintain();
  }

  // The next `count` puts of the state row are lost, after being applied or not.
  enum class Loss { kApplied, kNotApplied };
  void LosePuts(int count, Loss loss) {
    tables_.on_put = [this, count, loss](const PutRequest& request) mutable -> Result<WriteReply> {
      if (count-- <= 0) return tables_.inner().Put(request);
      if (loss == Loss::kApplied) CHECK(tables_.inner().Put(request).has_value());
      return Unknown();
    };
  }

  TempFolder folder_;
  ManualClock clock_;
  SeededRandom random_{7};
  Store store_;
  testing::HookedTables tables_;
  Handled handled_;
  int64_t next_ = 0;
};

std::string NameOfKind(const ::testing::TestParamInfo<StoreKind>& info) {
  return info.param == StoreKind::kModel ? "Model" : "Embedded";
}
INSTANTIATE_TEST_SUITE_P(Stores, FollowerTest,
                         ::testing::Values(StoreKind::kModel, StoreKind::kEmbedded), NameOfKind);

// ---- Delivery ----

// The promise itself, over more than one page.
TEST_P(FollowerTest, DeliversEveryChangeInOrder) {
  Put({"a", "b", "c", "a", "d", "e", "a"});
  Follower follower = Open();
  StepToEnd(follower);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c", "a", "d", "e", "a"));
}

// What a consumer shows of itself: how far behind it is, and that it is not.
TEST_P(FollowerTest, ShowsItsLag) {
  Put({"a", "b", "c", "d"});
  clock_.Advance(std::chrono::seconds(5));
  Follower follower = Open();
  FollowReply first = Step(follower);
  EXPECT_EQ(first.handled, 3u);
  EXPECT_FALSE(first.caught_up);
  EXPECT_EQ(first.lag_seconds, 5);
  Step(follower);
  FollowReply last = Step(follower);
  EXPECT_EQ(last.handled, 0u);
  EXPECT_TRUE(last.caught_up);
  EXPECT_EQ(last.lag_seconds, 0);
}

// A follower that is caught up sees what comes later.
TEST_P(FollowerTest, SeesWhatComesAfterTheEnd) {
  Put({"a"});
  Follower follower = Open();
  StepToEnd(follower);
  Put({"b"});
  StepToEnd(follower);
  EXPECT_THAT(handled_, ElementsAre("a", "b"));
}

// The position outlives the follower.
TEST_P(FollowerTest, GoesOnWhereAnotherStopped) {
  Put({"a", "b", "c", "d"});
  Follower first = Open();
  Step(first);
  ASSERT_TRUE(first.Stop());
  Follower second = Open();
  StepToEnd(second);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c", "d"));
}

// At least once: what was handled and not stored comes again.
TEST_P(FollowerTest, RedeliversWhatWasHandledButNotStored) {
  Put({"a", "b"});
  {
    Follower dying = Open();
    int puts = 0;
    tables_.on_put = [&](const PutRequest& request) -> Result<WriteReply> {
      // The first takes the lease; the second would store the position.
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

// Nothing is skipped because a handler could not do it yet.
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

// Two that run at once do not both work.
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

// A holder that works on, however little there is to do, is not superseded.
TEST_P(FollowerTest, KeepsTheLeaseWhileItSteps) {
  Follower holder = Open();
  Follower other = Open();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Step(holder).held);
    clock_.Advance(std::chrono::seconds(kLeaseSeconds / 3));
    EXPECT_FALSE(Step(other).held);
  }
}

// A write is conditional on owner and generation: who lost the lease while it worked does
// not move the position of the one who has it.
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

// A lease must not end in the middle of a page: the page ends instead.
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

// Reading may take longer than the lease: then nothing is begun.
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

// The wall clock may be set back; the lease does not become longer by that.
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

// Stop gives the lease to whoever asks next, without a wait, and keeps the position.
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

// Stopping what holds nothing, or no longer does, is no error and takes nothing away.
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

// Unknown, but applied: the follower knows its own row.
TEST_P(FollowerTest, RecognisesItsOwnWriteAfterALostReply) {
  Put({"a", "b"});
  Follower follower = Open();
  LosePuts(1, Loss::kApplied);  // Of the lease.
  EXPECT_TRUE(Step(follower).held);
  Put({"c"});
  LosePuts(1, Loss::kApplied);  // Of the position.
  EXPECT_TRUE(Step(follower).held);
  EXPECT_TRUE(Step(follower).caught_up);
  EXPECT_THAT(handled_, ElementsAre("a", "b", "c"));
}

// Unknown, and not applied: the write is tried again.
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

// Unknown to the end is said, and the next step finds out from the row, its lease being live.
TEST_P(FollowerTest, FindsOutFromItsRowWhatAllLostRepliesLeftOpen) {
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

// A write that was thought lost and arrives long after finds another generation.
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

// A store that lets every iterator expire at once is reported, not asked for ever.
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

// Records that were trimmed unread are lost: that is said, counted, and not the end.
TEST_P(FollowerTest, ReportsAGapWhenRecordsWereTrimmed) {
  Put({"a"});
  Follower follower = Open();
  StepToEnd(follower);
  Put({"b", "c"});
  PassRetention();
  Put({"d"});
  FollowReply reply = Step(follower);
  EXPECT_TRUE(reply.gap);
  EXPECT_THAT(handled_, ElementsAre("a", "d"));
  EXPECT_EQ(RowInt("gaps"), 1);
  EXPECT_FALSE(Step(follower).gap);
}

// Disabling and enabling makes another stream; the follower reads the first to its end and
// goes on with the next.
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

// A disabled stream is the end for now, not an error.
TEST_P(FollowerTest, WaitsAtTheEndOfADisabledStream) {
  Put({"a"});
  Follower follower = Open();
  SetStream(false);
  StepToEnd(follower);
  EXPECT_TRUE(Step(follower).caught_up);
  EXPECT_THAT(handled_, ElementsAre("a"));
}

// A stream that was read to its end may vanish without a loss.
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

// One that was not is a gap.
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

// A position means nothing in another table.
TEST_P(FollowerTest, RefusesAConsumerOfAnotherTable) {
  Follower follower = Open();
  Step(follower);
  Follower confused = Open({.table = "others"});
  auto reply = confused.Step(WriteDown());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(reply.error().message, HasSubstr("follows table 'events', not 'others'"));
}

// A row that is not ours to understand is not overwritten.
TEST_P(FollowerTest, RefusesARowThatIsNoConsumers) {
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
    auto follower = Follower::Open(tables_, clock_, random_, options);
    return follower ? std::nullopt : std::optional(follower.error().code);
  };
  EXPECT_EQ(code({.consumer = "", .table = kTable}), ErrorCode::kInvalid);
  EXPECT_EQ(code({.consumer = "c", .table = kTable, .lease_seconds = 0}), ErrorCode::kInvalid);
  EXPECT_EQ(code({.consumer = "c", .table = kTable, .page = 0}), ErrorCode::kInvalid);
  EXPECT_EQ(code({.consumer = "c", .table = kTable, .page = 1'001}), ErrorCode::kInvalid);
}

// ---- All at once ----

// Several followers that die, rest, lose replies and are superseded at their work while items are
// written: every record is delivered, the first deliveries come in order, no record is begun
// by one who does not own the row, and the position never goes back.
class FollowerChaos : public FollowerTest {
 protected:
  struct Member {
    std::unique_ptr<Follower> follower;
    std::string nonce;
  };

  void Run(uint64_t seed) {
    chance_ = std::make_unique<SeededRandom>(seed);
    tables_.on_put = [this](const PutRequest& request) { return PutWithLuck(request); };
    std::vector<Member> members(3);
    for (int turn = 0; turn < 300; ++turn) {
      if (Happens(3)) Put({fmt::format("{:06}", written_++)});
      clock_.Advance(std::chrono::seconds(chance_->Below(12)));
      size_t chosen = chance_->Below(members.size());
      if (!members[chosen].follower || Happens(20)) members[chosen] = OpenMember();
      Act(members, chosen, Happens(8) ? &members[(chosen + 1) % members.size()] : nullptr);
      CheckPosition();
    }
    tables_.on_put = nullptr;
    clock_.Advance(std::chrono::seconds(kLeaseSeconds));
    Follower last = Open();
    StepToEnd(last);
    ASSERT_TRUE(last.Stop());
    CheckDelivered();
  }

  bool Happens(uint64_t one_in) { return chance_->Below(one_in) == 0; }

  Member OpenMember() {
    // The same seed twice, to know the nonce that the follower draws.
    uint64_t seed = chance_->Next();
    std::string nonce = SeededRandom(seed).Hex(16);
    SeededRandom random(seed);
    auto opened = Follower::Open(
        tables_, clock_, random,
        {.consumer = "reader", .table = kTable, .lease_seconds = kLeaseSeconds, .page = 3});
    CHECK(opened.has_value());
    return {std::make_unique<Follower>(*std::move(opened)), nonce};
  }

  Result<WriteReply> PutWithLuck(const PutRequest& request) {
    uint64_t luck = chance_->Below(10);
    if (luck == 0) return Unavailable();
    if (luck == 1) return Unknown();
    Result<WriteReply> reply = tables_.inner().Put(request);
    return luck == 2 ? Result<WriteReply>(Unknown()) : reply;
  }

  // One member's turn; `rival`, if given, takes over in the middle of its first record.
  void Act(std::vector<Member>& members, size_t chosen, Member* rival) {
    Member& member = members[chosen];
    if (Happens(30)) {
      (void)member.follower->Stop();
      return;
    }
    // Errors of a step are part of the chaos.
    (void)member.follower->Step([&, this](const StreamRecord& record) -> Status {
      EXPECT_EQ(*Row().Find("owner")->As<std::string>(), member.nonce);
      EXPECT_LT(clock_.NowSeconds(), RowInt("lease_end"));
      clock_.Advance(std::chrono::seconds(chance_->Below(20)));
      if (Member* taker = std::exchange(rival, nullptr); taker && taker->follower) {
        clock_.Advance(std::chrono::seconds(kLeaseSeconds));
        Act(members, static_cast<size_t>(taker - members.data()), nullptr);
      }
      if (Happens(10)) return Invalid("not now");
      handled_.push_back(IdOf(record));
      return Done{};
    });
  }

  void CheckPosition() {
    auto row = store_.tables->Get({.table = kStateTable, .key = {{"consumer", "reader"}}});
    ASSERT_TRUE(row);
    const item::Value* sequence = *row ? (*row)->Find("sequence") : nullptr;
    if (!sequence) return;
    EXPECT_GE(*sequence->As<std::string>(), position_);
    position_ = *sequence->As<std::string>();
  }

  void CheckDelivered() {
    Handled first;
    std::set<std::string> seen;
    for (const std::string& id : handled_) {
      if (seen.insert(id).second) first.push_back(id);
    }
    EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
    EXPECT_EQ(first.size(), static_cast<size_t>(written_));
  }

  std::unique_ptr<SeededRandom> chance_;
  int written_ = 0;
  std::string position_;
};

INSTANTIATE_TEST_SUITE_P(Stores, FollowerChaos,
                         ::testing::Values(StoreKind::kModel, StoreKind::kEmbedded), NameOfKind);

TEST_P(FollowerChaos, LosesNothingAndKeepsTheOrder) {
  int runs = testing::AmountOf({.usual = 20, .release = 1'000});
  for (int seed = 0; seed < runs && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Run(static_cast<uint64_t>(seed));
  }
}

}  // namespace
}  // namespace tidemark::tables
