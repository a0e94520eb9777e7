// Reads for callers that do not block: a limited pool of threads, and reads whose deadline has
// passed.
#include <atomic>
#include <chrono>
#include <future>
#include <semaphore>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"

namespace tidemark::embedded {
namespace {

// A clock that blocks other threads after it is armed. The reading thread reads the clock of a
// deadline before it reads the item.
class HoldingClock final : public Clock {
 public:
  std::chrono::milliseconds Now() const override { return std::chrono::milliseconds(0); }
  std::chrono::nanoseconds Monotonic() const override {
    if (is_armed_ && std::this_thread::get_id() != owner_) {
      held_.release();
      released_.acquire();
    }
    return std::chrono::nanoseconds(0);
  }
  void Arm() { is_armed_ = true; }
  void AwaitReader() { held_.acquire(); }
  void Release() { released_.release(); }

 private:
  const std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<bool> is_armed_ = false;
  mutable std::binary_semaphore held_{0};
  mutable std::binary_semaphore released_{0};
};

class SubmittedReadsTest : public ::testing::Test {
 protected:
  // One reading thread, and room for one waiting read.
  SubmittedReadsTest() {
    Open();
    CHECK(tables_->CreateTable({.table = "users", .keys = {{"id"}}}).has_value());
    CHECK(tables_->Put({.table = "users", .item = {{"id", "a"}}}).has_value());
  }

  // The first call makes the folder; another one begins with nothing in memory.
  void Open() {
    tables_.reset();
    auto opened = EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                        .durability = Durability::kEverySecond,
                                        .background = false,
                                        .reading_threads = 1,
                                        .long_reading_threads = 1,
                                        .max_waiting_reads = 1});
    CHECK(opened.has_value());
    tables_ = *std::move(opened);
  }

  Later<std::optional<item::Item>> GetOne() {
    return tables_->Submit(tables::GetRequest{.table = "users", .key = {{"id", "a"}}},
                           std::nullopt);
  }
  // A query with a limit always needs a thread.
  Later<tables::Page> Read(std::optional<Deadline> deadline = std::nullopt) {
    tables::QueryRequest query{.table = "users", .partition = item::Attribute{"id", "a"}};
    query.limit = 1;
    return tables_->Submit(std::move(query), deadline);
  }
  Later<tables::Page> QueryPartition() {
    return tables_->Submit(
        tables::QueryRequest{.table = "users", .partition = item::Attribute{"id", "a"}},
        std::nullopt);
  }
  // Keeps the only reading thread busy until Release, and returns once it is.
  void Occupy() {
    const Deadline deadline = Deadline::After(holding_clock_, std::chrono::seconds(1));
    holding_clock_.Arm();
    Read(deadline).Then([](const Result<tables::Page>&) {});
    holding_clock_.AwaitReader();
  }
  // The same for the thread of large reads.
  void OccupyWithABatch(std::atomic<bool>* answered) {
    const Deadline deadline = Deadline::After(holding_clock_, std::chrono::seconds(1));
    holding_clock_.Arm();
    tables_
        ->Submit(tables::BatchGetRequest{.tables = {{"users", {.keys = {{{"id", "a"}}}}}}},
                 deadline)
        .Then([answered](const Result<tables::BatchGetReply>& reply) {
          *answered = reply.has_value();
        });
    holding_clock_.AwaitReader();
  }
  void Release() { holding_clock_.Release(); }

  TempFolder folder_;
  HoldingClock holding_clock_;
  std::unique_ptr<EmbeddedTables> tables_;
};

TEST_F(SubmittedReadsTest, RefusesMoreThanMayWait) {
  Occupy();
  auto waiting = Read();
  const auto refused = Read().Wait();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  Release();
  EXPECT_TRUE(waiting.Wait().has_value());
}

// An item in memory is read without the threads.
TEST_F(SubmittedReadsTest, AnItemInMemoryIsReadAtOnce) {
  Occupy();
  bool found = false;
  GetOne().Then([&](const Result<std::optional<item::Item>>& item) { found = item->has_value(); });
  EXPECT_TRUE(found);
  Release();
}

// It is not taken for a missing item.
TEST_F(SubmittedReadsTest, AnItemOnTheDiskIsReadByAThread) {
  Open();
  Occupy();
  std::atomic<bool> answered = false;
  std::promise<bool> found;
  GetOne().Then([&](const Result<std::optional<item::Item>>& item) {
    answered = true;
    found.set_value(item && item->has_value());
  });
  EXPECT_FALSE(answered);
  Release();
  EXPECT_TRUE(found.get_future().get());
}

// A partition in memory is read without the threads, so the read does not wait for the busy one.
TEST_F(SubmittedReadsTest, APartitionInMemoryIsReadAtOnce) {
  Occupy();
  std::optional<size_t> items;
  QueryPartition().Then([&](const Result<tables::Page>& page) { items = page->items.size(); });
  EXPECT_EQ(items, 1u);
  Release();
}

// The caller must not block, so a thread reads what is only on the disk. It is not taken for an
// empty partition.
TEST_F(SubmittedReadsTest, APartitionOnTheDiskIsReadByAThread) {
  Open();
  Occupy();
  std::atomic<bool> answered = false;
  std::promise<size_t> items;
  QueryPartition().Then([&](const Result<tables::Page>& page) {
    answered = true;
    items.set_value(page ? page->items.size() : 0);
  });
  EXPECT_FALSE(answered);
  Release();
  EXPECT_EQ(items.get_future().get(), 1u);
}

// A batch takes as long as hundreds of small reads.
TEST_F(SubmittedReadsTest, ASmallReadDoesNotWaitForALargeOne) {
  std::atomic<bool> batch_answered = false;
  OccupyWithABatch(&batch_answered);
  std::promise<void> read;
  Read().Then([&](const Result<tables::Page>&) { read.set_value(); });
  // If it waited for the batch, it would wait for ever.
  EXPECT_EQ(read.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_FALSE(batch_answered);
  Release();
  tables_.reset();
  EXPECT_TRUE(batch_answered);
}

// Each of them takes much memory while it is made.
TEST_F(SubmittedReadsTest, LimitsHowManyLargeReadsRunAtOnce) {
  std::atomic<bool> batch_answered = false;
  OccupyWithABatch(&batch_answered);
  // There is one thread, and room for one read that waits.
  std::atomic<bool> scan_answered = false;
  tables_->Submit(tables::ScanRequest{.table = "users"}, std::nullopt)
      .Then([&](const Result<tables::Page>& page) { scan_answered = page.has_value(); });
  for (const ErrorCode refusal :
       {tables_->Submit(tables::BatchGetRequest{}, std::nullopt).Wait().error().code,
        tables_->Submit(tables::TransactGetRequest{}, std::nullopt).Wait().error().code,
        tables_->Submit(tables::RecordsRequest{}, std::nullopt).Wait().error().code}) {
    EXPECT_EQ(refusal, ErrorCode::kUnavailable);
  }
  EXPECT_FALSE(scan_answered);
  Release();
  tables_.reset();
  EXPECT_TRUE(batch_answered);
  EXPECT_TRUE(scan_answered);
}

TEST_F(SubmittedReadsTest, DoesNotMakeACancelledRead) {
  Occupy();
  auto cancelled = Read();
  cancelled.Cancel();
  Release();
  tables_.reset();  // Waits until all reads are answered.
  const auto answer = cancelled.Wait();
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
}

TEST_F(SubmittedReadsTest, DoesNotReadAfterTheDeadline) {
  ManualClock clock;
  Occupy();
  std::optional<Result<tables::Page>> answer;
  Read(Deadline::After(clock, std::chrono::seconds(1))).Then([&](Result<tables::Page> read) {
    answer = std::move(read);
  });
  clock.Advance(std::chrono::seconds(2));
  Release();
  tables_.reset();
  ASSERT_TRUE(answer.has_value());
  ASSERT_FALSE(answer->has_value());
  EXPECT_EQ(answer->error().code, ErrorCode::kCancelled);
}

TEST_F(SubmittedReadsTest, ClosingAnswersWaitingReads) {
  Occupy();
  std::atomic<bool> answered = false;
  Read().Then([&](const Result<tables::Page>& read) { answered = read.has_value(); });
  Release();
  tables_.reset();
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace tidemark::embedded
