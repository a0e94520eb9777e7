#include "tables/embedded/committer.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/home.h"
#include "base/metrics.h"
#include "base/turn.h"
#include "tables/embedded/engine_metrics.h"
#include "tables/embedded/write.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

constexpr const char* kTable = "things";

class CommitterTest : public ::testing::Test {
 protected:
  void Open(Durability durability = Durability::kSynced) {
    Options options = folder_.options();
    options.durability = durability;
    tables_ = DataFolder::Open(options);
    const auto made = tables_->CreateTable({.table = kTable,
                                            .keys = {.partition = {.name = "id"}},
                                            .stream = tables::StreamView::kKeysOnly});
    CHECK(made.has_value() || made.error().code == ErrorCode::kInUse);
  }

  Result<tables::WriteReply> Put(int id) {
    return tables_->Put({.table = kTable, .item = {{"id", std::to_string(id)}}});
  }

  static tables::PutRequest PutOf(int id) {
    return {.table = kTable, .item = {{"id", std::to_string(id)}}};
  }

  bool Has(int id) {
    const auto item = tables_->Get({.table = kTable, .key = {{"id", std::to_string(id)}}});
    CHECK(item.has_value());
    return item->has_value();
  }

  void LosePowerAndOpen() {
    folder_.files().PowerCut();
    tables_.reset();
    folder_.files().Restart();
    folder_.files().Disarm();
    Open();
  }

  void FailTheNextSync() {
    folder_.files().Arm(
        {.matches = [](const FileCall& call) { return call.kind == FileCallKind::kSync; }});
  }

  DataFolder folder_;
  std::unique_ptr<EmbeddedTables> tables_;
};

// All other guarantees depend on this one.
TEST_F(CommitterTest, AcknowledgedMeansSynced) {
  Open();
  for (int id = 0; id < 30; ++id) ASSERT_TRUE(Put(id).has_value());
  LosePowerAndOpen();
  for (int id = 0; id < 30; ++id) EXPECT_TRUE(Has(id)) << id;
}

// The same holds for a caller that does not wait.
TEST_F(CommitterTest, ASubmittedWriteIsSyncedBeforeItIsAnswered) {
  Open();
  std::counting_semaphore<> answers(0);
  for (int id = 0; id < 30; ++id) {
    tables_
        ->Submit(tables::PutRequest{.table = kTable, .item = {{"id", std::to_string(id)}}},
                 std::nullopt)
        .Then([&](const Result<tables::WriteReply>& reply) {
          CHECK(reply.has_value() && reply->applied);
          answers.release();
        });
  }
  for (int id = 0; id < 30; ++id) answers.acquire();
  LosePowerAndOpen();
  for (int id = 0; id < 30; ++id) EXPECT_TRUE(Has(id)) << id;
}

// Writes of callers that block and of callers that do not are in the same groups. The thread that
// leads a group is sometimes a caller and sometimes the committer's own.
TEST_F(CommitterTest, BlockingAndSubmittedIncrementsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kEach = 250;
  Open(Durability::kEverySecond);
  const tables::UpdateRequest increment{.table = kTable,
                                        .key = {{"id", "count"}},
                                        .update = "ADD n :one",
                                        .values = {{":one", item::Number::FromInt(1)}}};
  std::counting_semaphore<> answers(0);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, waits = thread % 2 == 0] {
      for (int i = 0; i < kEach; ++i) {
        if (waits) {
          CHECK(tables_->Update(increment).has_value());
        } else {
          tables_->Submit(increment, std::nullopt)
              .Then([&](const Result<tables::WriteReply>& reply) {
                CHECK(reply.has_value());
                answers.release();
              });
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kThreads / 2 * kEach; ++i) answers.acquire();
  const auto item = tables_->Get({.table = kTable, .key = {{"id", "count"}}});
  ASSERT_TRUE(item.has_value() && item->has_value());
  EXPECT_EQ(*(*item)->Find("n"), item::Value(item::Number::FromInt(kThreads * kEach)));
}

// What a loop submits in one turn is one group with one sync.
TEST_F(CommitterTest, WritesOfOneTurnShareASync) {
  Open();
  std::counting_semaphore<> answers(0);
  const uint64_t before = folder_.files().Count(FileCallKind::kSync);
  {
    const Turn turn;
    for (int id = 0; id < 30; ++id) {
      tables_->Submit(PutOf(id), std::nullopt).Then([&](const Result<tables::WriteReply>& reply) {
        CHECK(reply.has_value() && reply->applied);
        answers.release();
      });
      // Time enough for a committer that was woken too early.
      for (int turns = 0; id == 0 && turns < 20'000; ++turns) std::this_thread::yield();
    }
    EXPECT_EQ(folder_.files().Count(FileCallKind::kSync), before);
  }
  for (int id = 0; id < 30; ++id) answers.acquire();
  EXPECT_EQ(folder_.files().Count(FileCallKind::kSync), before + 1);
}

// A home whose loop the test runs by itself, until it ends.
class ManualHome final : public Home {
 public:
  // `added` is released for each work.
  explicit ManualHome(std::counting_semaphore<>* added) : added_(*added) {}

  bool Add(std::function<void()> work) override {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    work_.push_back(std::move(work));
    added_.release();
    return true;
  }
  size_t DoWork() {
    std::unique_lock lock(mutex_);
    const auto work = std::exchange(work_, {});
    lock.unlock();
    for (const auto& one : work) one();
    return work.size();
  }
  void End() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }

 private:
  std::counting_semaphore<>& added_;
  std::mutex mutex_;
  bool ended_ = false;
  std::vector<std::function<void()>> work_;
};

// The thread that commits serves everybody, so it does not make the answers of a server's loop. It
// hands all answers of a group over at once.
TEST_F(CommitterTest, AnswersAtTheHomeOfTheCaller) {
  Open();
  std::counting_semaphore<> added_or_answered(0);
  const auto home = std::make_shared<ManualHome>(&added_or_answered);
  const Home::Here here(home);
  std::vector<std::thread::id> answered_on;
  {
    const Turn turn;
    for (int id = 0; id < 5; ++id) {
      tables_->Submit(PutOf(id), std::nullopt).Then([&](const Result<tables::WriteReply>& reply) {
        CHECK(reply.has_value() && reply->applied);
        answered_on.push_back(std::this_thread::get_id());
        added_or_answered.release();
      });
    }
  }
  added_or_answered.acquire();
  EXPECT_EQ(home->DoWork(), 1u);
  EXPECT_EQ(answered_on, std::vector(5, std::this_thread::get_id()));
}

TEST_F(CommitterTest, AnswersByItselfWhenTheHomeHasEnded) {
  Open();
  std::counting_semaphore<> answered(0);
  const auto home = std::make_shared<ManualHome>(&answered);
  const Home::Here here(home);
  home->End();
  tables_->Submit(PutOf(1), std::nullopt).Then([&](const Result<tables::WriteReply>& reply) {
    CHECK(reply.has_value() && reply->applied);
    answered.release();
  });
  answered.acquire();
  EXPECT_TRUE(Has(1));
}

// A thread that blocks in its turn would wait for ever if what it submitted had no leader.
TEST_F(CommitterTest, ABlockingWriteDoesNotWaitForTheEndOfItsTurn) {
  Open();
  std::counting_semaphore<> answers(0);
  const Turn turn;
  tables_->Submit(PutOf(1), std::nullopt).Then([&](const Result<tables::WriteReply>& reply) {
    CHECK(reply.has_value() && reply->applied);
    answers.release();
  });
  ASSERT_TRUE(Put(2).has_value());
  answers.acquire();
  // A change of the catalog is not in the group of the write in front of it.
  tables_->Submit(PutOf(3), std::nullopt).Then([&](const Result<tables::WriteReply>& reply) {
    CHECK(reply.has_value() && reply->applied);
    answers.release();
  });
  ASSERT_TRUE(
      tables_->CreateTable({.table = "more", .keys = {.partition = {.name = "id"}}}).has_value());
  answers.acquire();
  EXPECT_TRUE(Has(1) && Has(2) && Has(3));
}

// The same in a thread of its own, so that a fault fails the test and does not hang it.
TEST_F(CommitterTest, ABlockingWriteBehindSubmittedOnesHasALeader) {
  Open();
  auto written = std::async(std::launch::async, [&] {
    const Turn turn;
    auto submitted = tables_->Submit(PutOf(1), std::nullopt);
    return Put(2).has_value() && submitted.Wait().has_value();
  });
  const bool is_led = written.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  EXPECT_TRUE(is_led);
  // Outside of a turn a submitted write gets a leader at once, and so do those before it.
  if (!is_led) EXPECT_TRUE(tables_->Submit(PutOf(3), std::nullopt).Wait().has_value());
  EXPECT_TRUE(written.get());
}

// Every submitted write gets an answer, also when it fails.
TEST_F(CommitterTest, ASubmittedWriteIsAnsweredWithItsErrorOrItsFailedCondition) {
  Open();
  const auto submit = [&](const EmbeddedTables::WriteRequest& request) {
    return tables_->Submit(request, std::nullopt).Wait();
  };
  EXPECT_EQ(submit(tables::PutRequest{
                       .table = kTable, .item = {{"id", "a"}}, .condition = "not an expression ("})
                .error()
                .code,
            ErrorCode::kInvalid);
  EXPECT_EQ(submit(tables::DeleteRequest{.table = "missing", .key = {{"id", "a"}}}).error().code,
            ErrorCode::kNotFound);
  EXPECT_FALSE(
      submit(tables::DeleteRequest{
                 .table = kTable, .key = {{"id", "a"}}, .condition = "attribute_exists(id)"})
          ->applied);
}

// The same for transactions.
TEST_F(CommitterTest, ASubmittedTransactionIsAnsweredWithItsOutcome) {
  Open();
  const auto submit = [&](std::vector<tables::TransactAction> actions) {
    return tables_
        ->Submit(tables::TransactWriteRequest{.actions = std::move(actions)}, std::nullopt)
        .Wait();
  };
  const tables::PutRequest first{.table = kTable, .item = {{"id", "1"}}};
  const tables::PutRequest second{
      .table = kTable, .item = {{"id", "2"}}, .condition = "attribute_not_exists(id)"};
  EXPECT_EQ(submit({first, second})->outcome, tables::TransactOutcome::kApplied);
  LosePowerAndOpen();
  EXPECT_TRUE(Has(1) && Has(2));
  EXPECT_EQ(submit({tables::PutRequest{.table = kTable, .item = {{"id", "3"}}}, second})->outcome,
            tables::TransactOutcome::kCancelled);
  EXPECT_FALSE(Has(3));
  EXPECT_EQ(submit({}).error().code, ErrorCode::kInvalid);
}

// Closing waits for all submitted writes.
TEST_F(CommitterTest, ClosingAnswersAllThatWasSubmitted) {
  Open(Durability::kEverySecond);
  std::atomic<int> answers = 0;
  for (int id = 0; id < 100; ++id) {
    tables_
        ->Submit(tables::PutRequest{.table = kTable, .item = {{"id", std::to_string(id)}}},
                 std::nullopt)
        .Then([&](const Result<tables::WriteReply>& reply) {
          CHECK(reply.has_value());
          ++answers;
        });
  }
  tables_.reset();
  EXPECT_EQ(answers, 100);
}

// With Durability::kEverySecond the writes of the last second may be lost, but not earlier ones.
TEST_F(CommitterTest, EverySecondModeKeepsWhatHousekeepingSynced) {
  Open(Durability::kEverySecond);
  const uint64_t syncs = folder_.files().Count(FileCallKind::kSync);
  for (int id = 0; id < 30; ++id) ASSERT_TRUE(Put(id).has_value());
  EXPECT_EQ(folder_.files().Count(FileCallKind::kSync), syncs);
  ASSERT_TRUE(tables_->Maintain().has_value());
  LosePowerAndOpen();
  for (int id = 0; id < 30; ++id) EXPECT_TRUE(Has(id)) << id;
}

TEST_F(CommitterTest, EverySecondModeSyncsWhenItIsClosed) {
  Open(Durability::kEverySecond);
  for (int id = 0; id < 30; ++id) ASSERT_TRUE(Put(id).has_value());
  tables_.reset();
  LosePowerAndOpen();
  for (int id = 0; id < 30; ++id) EXPECT_TRUE(Has(id)) << id;
}

// After a failed sync no caller may get a success.
TEST_F(CommitterTest, AFailedWriteIsNotAcknowledged) {
  Open();
  FailTheNextSync();
  const auto failed = Put(1);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::kUnknown);
}

TEST_F(CommitterTest, NothingIsWrittenAfterAFailureUntilItIsOpenedAgain) {
  Open();
  ASSERT_TRUE(Put(1).has_value());
  FailTheNextSync();
  EXPECT_FALSE(Put(2).has_value());
  const auto refused = Put(3);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(Has(1));
  LosePowerAndOpen();
  EXPECT_TRUE(Has(1));
  EXPECT_FALSE(Has(3));
  EXPECT_TRUE(Put(3).has_value());
  EXPECT_EQ(tables_->Verify()->problems, std::vector<std::string>());
}

// ---- Inside ----

// A put that calls a function once it is decided, before it is written.
class ObservedPut final : public Change {
 public:
  ObservedPut(const std::string& id, std::function<void()> observe)
      : write_(*Prepare(tables::PutRequest{.table = kTable, .item = {{"id", id}}})),
        observe_(std::move(observe)) {}
  Status Evaluate(Group* group) override {
    TRY(write_.Evaluate(group));
    observe_();
    return Done{};
  }

 private:
  WriteChange write_;
  std::function<void()> observe_;
};

class CommitterPartsTest : public CommitterTest {
 protected:
  CommitterPartsTest() {
    Open();
    tables_.reset();
    auto opened = Store::Open(folder_.options());
    CHECK(opened.has_value());
    store_ = *std::move(opened);
    auto loaded = Catalog::Load(*store_, "local");
    CHECK(loaded.has_value());
    catalog_ = *std::move(loaded);
  }

  Committer NewCommitter() {
    return {store_.get(), catalog_.get(), &partitions_, folder_.clock(), {}, &engine_metrics_};
  }

  Metrics metrics_;
  EngineMetrics engine_metrics_{&metrics_};
  PartitionCache partitions_{1 << 20};
  std::unique_ptr<Store> store_;
  std::unique_ptr<Catalog> catalog_;
};

// No reader sees a write before it is on disk. So a crash never undoes what a reader has seen.
TEST_F(CommitterPartsTest, AWriteIsNotVisibleBeforeItIsCommitted) {
  Committer committer = NewCommitter();
  const Range rows = KeyspaceRange(catalog_->Find(kTable)->keyspace);
  const auto any_row = [&] {
    Cursor cursor = store_->Iterate(Family::kRows, rows);
    cursor.SeekToFirst();
    return cursor.valid();
  };
  bool visible_before = true;
  ObservedPut put("a", [&] { visible_before = any_row(); });
  ASSERT_TRUE(committer.Commit(&put).has_value());
  EXPECT_FALSE(visible_before);
  EXPECT_TRUE(any_row());
}

// Free space is checked before a write is decided, and not again. If a decided write were refused,
// its counts and its sequence number would already be changed.
TEST_F(CommitterPartsTest, AnAdmittedWriteIsWrittenAlthoughTheDiskFillsUp) {
  {
    Committer committer = NewCommitter();
    ObservedPut let_in("a", [&] {
      folder_.files().SetFreeBytes(folder_.options().disk_reserve_bytes - 1);
      store_->CheckFreeSpace();
    });
    EXPECT_TRUE(committer.Commit(&let_in).has_value());
    ObservedPut refused("b", [] {});
    const Status status = committer.Commit(&refused);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
    folder_.files().SetFreeBytes(std::nullopt);
    store_->CheckFreeSpace();
    ObservedPut after("c", [] {});
    EXPECT_TRUE(committer.Commit(&after).has_value());
  }
  catalog_.reset();
  store_.reset();
  Open();
  EXPECT_EQ(tables_->DescribeTable(kTable)->item_count, 2u);
  const auto report = tables_->Verify();
  EXPECT_EQ(report->problems, std::vector<std::string>());
  EXPECT_EQ(report->stream_records, 2u);
}

}  // namespace
}  // namespace tidemark::embedded
