#include "tables/embedded/committer.h"

#include <atomic>
#include <functional>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/metrics.h"
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

// The promise everything else rests on.
TEST_F(CommitterTest, AcknowledgedMeansSynced) {
  Open();
  for (int id = 0; id < 30; ++id) ASSERT_TRUE(Put(id).has_value());
  LosePowerAndOpen();
  for (int id = 0; id < 30; ++id) EXPECT_TRUE(Has(id)) << id;
}

// A caller that does not wait is promised the same, by the same way through the disk.
TEST_F(CommitterTest, AnsweredMeansSyncedForThoseWhoDoNotWait) {
  Open();
  std::counting_semaphore<> answers(0);
  for (int id = 0; id < 30; ++id) {
    tables_->Submit(tables::PutRequest{.table = kTable, .item = {{"id", std::to_string(id)}}},
                    [&](const Result<tables::WriteReply>& reply) {
                      CHECK(reply.has_value() && reply->applied);
                      answers.release();
                    });
  }
  for (int id = 0; id < 30; ++id) answers.acquire();
  LosePowerAndOpen();
  for (int id = 0; id < 30; ++id) EXPECT_TRUE(Has(id)) << id;
}

// Those who wait and those who do not share groups; the lead goes from one kind to the other.
TEST_F(CommitterTest, NoIncrementIsLostBetweenThoseWhoWaitAndThoseWhoDoNot) {
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
          tables_->Submit(increment, [&](const Result<tables::WriteReply>& reply) {
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

// What is submitted is answered, whatever becomes of it.
TEST_F(CommitterTest, ThoseWhoDoNotWaitHearOfRefusalsAndFailedConditions) {
  Open();
  std::binary_semaphore answered(0);
  std::optional<Result<tables::WriteReply>> answer;
  const auto submit = [&](const EmbeddedTables::WriteRequest& request) {
    tables_->Submit(request, [&](Result<tables::WriteReply> reply) {
      answer = std::move(reply);
      answered.release();
    });
    answered.acquire();
  };
  submit(tables::PutRequest{
      .table = kTable, .item = {{"id", "a"}}, .condition = "not an expression ("});
  EXPECT_EQ(answer->error().code, ErrorCode::kInvalid);
  submit(tables::DeleteRequest{.table = "missing", .key = {{"id", "a"}}});
  EXPECT_EQ(answer->error().code, ErrorCode::kNotFound);
  submit(tables::DeleteRequest{
      .table = kTable, .key = {{"id", "a"}}, .condition = "attribute_exists(id)"});
  EXPECT_FALSE((*answer)->applied);
}

// Transactions are no different.
TEST_F(CommitterTest, ThoseWhoDoNotWaitHearOfTheirTransactions) {
  Open();
  std::binary_semaphore answered(0);
  std::optional<Result<tables::TransactWriteReply>> answer;
  const auto submit = [&](std::vector<tables::TransactAction> actions) {
    tables_->Submit(tables::TransactWriteRequest{.actions = std::move(actions)},
                    [&](Result<tables::TransactWriteReply> reply) {
                      answer = std::move(reply);
                      answered.release();
                    });
    answered.acquire();
  };
  const tables::PutRequest first{.table = kTable, .item = {{"id", "1"}}};
  const tables::PutRequest second{
      .table = kTable, .item = {{"id", "2"}}, .condition = "attribute_not_exists(id)"};
  submit({first, second});
  EXPECT_EQ((*answer)->outcome, tables::TransactOutcome::kApplied);
  LosePowerAndOpen();
  EXPECT_TRUE(Has(1) && Has(2));
  submit({tables::PutRequest{.table = kTable, .item = {{"id", "3"}}}, second});
  EXPECT_EQ((*answer)->outcome, tables::TransactOutcome::kCancelled);
  EXPECT_FALSE(Has(3));
  submit({});
  EXPECT_EQ(answer->error().code, ErrorCode::kInvalid);
}

// Closing waits for what was submitted.
TEST_F(CommitterTest, ClosingAnswersAllThatWasSubmitted) {
  Open(Durability::kEverySecond);
  std::atomic<int> answers = 0;
  for (int id = 0; id < 100; ++id) {
    tables_->Submit(tables::PutRequest{.table = kTable, .item = {{"id", std::to_string(id)}}},
                    [&](const Result<tables::WriteReply>& reply) {
                      CHECK(reply.has_value());
                      ++answers;
                    });
  }
  tables_.reset();
  EXPECT_EQ(answers, 100);
}

// In the relaxed mode a second's writes may go, but not those of the second before.
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

// A caller that hears of success believes it; after a failed sync nobody may.
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
    return {store_.get(), catalog_.get(), folder_.clock(), Durability::kSynced, &engine_metrics_};
  }

  Metrics metrics_;
  EngineMetrics engine_metrics_{&metrics_};
  std::unique_ptr<Store> store_;
  std::unique_ptr<Catalog> catalog_;
};

// Nobody sees a write before it is on disk: what a crash takes back was never shown.
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

// Space is looked at before a write is decided, and not again: a decision that is then refused
// would leave its counts and its sequence number behind.
TEST_F(CommitterPartsTest, AWriteThatWasLetInIsWrittenThoughTheDiskFillsUp) {
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
