// Reading from the cache, past it and into it.
#include <atomic>
#include <fstream>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

using testing::ObjectOperation;

const std::string kId = "CHG-2025-001";
const Draft kFirst{.title = "first"};
const Draft kSecond{.title = "second"};

struct FallbackTest : ::testing::Test {
  FallbackTest() { Count(); }

  void Count() {
    world.objects.decide =
        [this](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
      ++calls;
      if (operation == ObjectOperation::kOpen) ++reads;
      return std::nullopt;
    };
  }
  void TableAway() {
    world.tables.decide = [](testing::Operation) { return std::optional(testing::Throttled()); };
  }
  void ObjectsAway() {
    world.objects.decide = [](ObjectOperation) { return std::optional(testing::ObjectsAway()); };
  }

  WriteWorld world;
  std::atomic<int> calls = 0;
  std::atomic<int> reads = 0;
};

// Spec: 002-50
TEST_F(FallbackTest, AHitDoesNotTouchTheObject) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  calls = 0;
  world.Pass(std::chrono::seconds(7));
  const auto read = world.Read(kId);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->document.json(), JsonOf(kFirst));
  EXPECT_EQ(read->source, ReadSource::kCache);
  EXPECT_EQ(read->age, std::chrono::seconds(7));
  EXPECT_EQ(calls, 0);
}

// Spec: 002-51
TEST_F(FallbackTest, AMissReadsOnceAndFills) {
  const std::string etag = world.Upload(kFirst);
  const auto missed = world.Read(kId);
  ASSERT_TRUE(missed.has_value());
  EXPECT_EQ(missed->document.json(), JsonOf(kFirst));
  EXPECT_EQ(missed->etag, etag);
  EXPECT_EQ(missed->source, ReadSource::kObject);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.Read(kId)->source, ReadSource::kCache);
  EXPECT_EQ(calls, 1);
}

// Spec: 002-52, 002-58
TEST_F(FallbackTest, WithoutTheTableTheObjectAnswers) {
  world.Upload(kFirst);
  TableAway();
  const auto read = world.Read(kId);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->source, ReadSource::kObject);
  EXPECT_NE(world.Logged().find("the cache is away"), std::string::npos);
  EXPECT_EQ(world.Read("never-there").error().type, CacheErrorType::kNotFound);
  // It comes back.
  world.tables.decide = nullptr;
  EXPECT_EQ(world.Read(kId)->source, ReadSource::kObject);
  EXPECT_EQ(world.Read(kId)->source, ReadSource::kCache);
}

// Spec: 002-52
TEST_F(FallbackTest, ARowThatCannotBeFilledIsOnlyAWarning) {
  world.Upload(kFirst);
  world.tables.decide = [](testing::Operation operation) -> std::optional<testing::Fault> {
    return testing::Writes(operation) ? std::optional(testing::Throttled()) : std::nullopt;
  };
  const auto read = world.Read(kId);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->document.json(), JsonOf(kFirst));
  EXPECT_EQ(reads, 1);
  EXPECT_NE(world.Logged().find("could not be filled"), std::string::npos);
}

// Spec: 002-53
TEST_F(FallbackTest, BothAwayIsOneErrorThatNamesBoth) {
  TableAway();
  ObjectsAway();
  const auto read = world.Read(kId);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().type, CacheErrorType::kUnavailable);
  EXPECT_EQ(read.error().causes.size(), 2U);
  EXPECT_NE(read.error().message.find("the table"), std::string::npos);
  EXPECT_NE(read.error().message.find("the object store"), std::string::npos);
  EXPECT_TRUE(read.error().retryable);
}

// Spec: 002-54
TEST_F(FallbackTest, WithoutTheObjectStoreTheCacheAnswersWhatItHas) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.LeaveIntent(kId, {.txn = "dead", .base_etag = world.RowOf(kId)->committed->etag});
  ObjectsAway();
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kFirst));
  world.PassLease();
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kFirst)) << "also while it is in doubt";
  const auto missing = world.Read("CHG-2");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().type, CacheErrorType::kUnavailable);
}

// Spec: 002-55
TEST_F(FallbackTest, WhatNobodyHasIsNotFoundAndLeavesNoRow) {
  EXPECT_EQ(world.Read(kId).error().type, CacheErrorType::kNotFound);
  EXPECT_EQ(world.StoredItems(), 0U);
  EXPECT_EQ(world.Read(kId).error().type, CacheErrorType::kNotFound);
  EXPECT_EQ(reads, 1) << "it is remembered";
  EXPECT_EQ(world.Read("a/b").error().type, CacheErrorType::kValidation);
}

// At most 30 s, and not past a row that appears.
TEST_F(FallbackTest, ThatNobodyHasItIsForgotten) {
  EXPECT_FALSE(world.Read(kId).has_value());
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_TRUE(world.Read(kId).has_value()) << "a row has appeared";

  EXPECT_FALSE(world.Read("CHG-2").has_value());
  world.Upload({.id = "CHG-2"});
  EXPECT_FALSE(world.Read("CHG-2").has_value());
  world.Pass(std::chrono::seconds(30));
  EXPECT_TRUE(world.Read("CHG-2").has_value());
}

// A deleted document's tombstone is asked once, not at each read.
TEST_F(FallbackTest, ATombstoneIsBelievedForAsLong) {
  ASSERT_TRUE(world.Write({.status = "draft"}).has_value());
  ASSERT_TRUE(world.Delete(kId).has_value());
  reads = 0;
  EXPECT_FALSE(world.Read(kId).has_value());
  EXPECT_FALSE(world.Read(kId).has_value());
  EXPECT_EQ(reads, 1);
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_TRUE(world.Read(kId).has_value());
}

// Spec: 002-56
TEST_F(FallbackTest, AHundredReadersShareOneRead) {
  world.Upload(kFirst);
  // The object is read once all have missed.
  std::latch missed(100);
  std::mutex mutex;
  std::set<std::thread::id> readers;
  world.objects.decide = [&](ObjectOperation) -> std::optional<testing::ObjectFault> {
    missed.wait();
    ++reads;
    return std::nullopt;
  };
  world.tables.decide = [&](testing::Operation) -> std::optional<testing::Fault> {
    const std::lock_guard lock(mutex);
    if (readers.insert(std::this_thread::get_id()).second) missed.count_down();
    return std::nullopt;
  };
  std::vector<std::thread> threads;
  std::atomic<int> got = 0;
  for (int i = 0; i < 100; ++i) {
    threads.emplace_back([&] {
      const auto read = world.Read(kId);
      if (read && read->document.json() == JsonOf(kFirst)) ++got;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, 100);
  EXPECT_EQ(reads, 1);
}

// Whether the thread waits for something, or is gone.
bool IsIdle(pid_t thread) {
  std::ifstream status(fmt::format("/proc/self/task/{}/stat", thread));
  std::string line;
  if (!std::getline(status, line)) return true;
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.compare(name_end, 3, ") S") == 0;
}

// What was answered to a writer is what everybody reads who asks after it; with the table or
// without it, also when a read from before is still under way.
TEST_F(FallbackTest, NobodyIsGivenAReadThatBeganBeforeItAsked) {
  // Too old to be cached, so that only the object has it.
  const Draft old{.created_at = kToday - 300 * kDay, .title = "first"};
  const Draft newer{.created_at = old.created_at, .version = 2, .title = "second"};
  for (const bool has_table : {true, false}) {
    SCOPED_TRACE(has_table);
    world.Upload(old);
    if (!has_table) TableAway();
    std::atomic<bool> is_written = false;
    std::atomic<pid_t> late_thread = 0;
    std::optional<Outcome<ReadReply>> late;
    std::thread reader;
    // The first reader has read the first version when the second is written and read.
    world.objects.after = [&](ObjectOperation operation) {
      if (operation != ObjectOperation::kOpen || is_written.exchange(true)) return;
      world.Upload(newer);
      reader = std::thread([&] {
        late_thread = ::gettid();
        late = world.Read(kId);
      });
      while (late_thread == 0 || !IsIdle(late_thread)) std::this_thread::yield();
    };
    ASSERT_TRUE(world.Read(kId).has_value());
    reader.join();
    ASSERT_TRUE(late && late->has_value());
    EXPECT_EQ((*late)->document.json(), JsonOf(newer));
  }
}

// The fill read the object before the write, and comes after it.
// Spec: 002-57
TEST_F(FallbackTest, AFillNeverReplacesANewerWrite) {
  world.Upload(kFirst);
  world.objects.after = [this](ObjectOperation operation) {
    if (operation != ObjectOperation::kOpen) return;
    world.objects.after = nullptr;
    ASSERT_TRUE(world.Write(kSecond).has_value());
  };
  ASSERT_TRUE(world.Read(kId).has_value());
  EXPECT_EQ(world.RowOf(kId)->committed->document->json(), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// The same with a delete and its event in between: without a row there would be nothing to lose to.
TEST_F(FallbackTest, AFillNeverBringsBackWhatWasDeleted) {
  world.Upload(kFirst);
  world.objects.after = [this](ObjectOperation operation) {
    if (operation != ObjectOperation::kOpen) return;
    world.objects.after = nullptr;
    ASSERT_TRUE(world.memory.Delete({.key = ObjectKey(world.options, kId)}).has_value());
    ASSERT_TRUE(world.synchronizer.Sync(world.NewContext(), {.id = kId, .deleted = true}));
  };
  EXPECT_EQ(world.Read(kId).error().type, CacheErrorType::kNotFound);
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-08
TEST_F(FallbackTest, ADamagedRowIsFilledAnew) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  item::Item damaged = *world.Stored(kId);
  damaged.Set("document_json", "{\"changeId\":");
  world.Store(damaged);
  const auto read = world.Read(kId);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->document.json(), JsonOf(kFirst));
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.Read(kId)->source, ReadSource::kCache);
}

// Whoever shares a read whose reader gave up reads for itself.
TEST_F(FallbackTest, WhoGivesUpTakesNoOtherWithIt) {
  world.Upload(kFirst);
  std::stop_source source;
  source.request_stop();
  const auto given_up = world.reader.Get(world.NewContext(source.get_token()), kId);
  ASSERT_FALSE(given_up.has_value());
  EXPECT_EQ(given_up.error().type, CacheErrorType::kCancelled);
  EXPECT_TRUE(world.Read(kId).has_value());
}

// Hits and misses add up, an expired row being a miss.
TEST_F(FallbackTest, CountsHitsAndMisses) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  ASSERT_TRUE(world.Read(kId).has_value());
  world.Pass(std::chrono::hours(24 * 91));
  ASSERT_TRUE(world.Read(kId).has_value());
  const std::string text = world.metrics.Expose();
  EXPECT_NE(text.find("tidemark_documents_cache_hits_total 1"), std::string::npos) << text;
  EXPECT_NE(text.find("tidemark_documents_cache_misses_total 1"), std::string::npos) << text;
}

}  // namespace
}  // namespace tidemark::documents
