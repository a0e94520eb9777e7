// Reads from the cache, reads from the objects, and filling the cache.
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
  const ReadReply read = world.MustRead(kId);
  EXPECT_EQ(read.document.json(), JsonOf(kFirst));
  EXPECT_EQ(read.source, ReadSource::kCache);
  EXPECT_EQ(read.age, std::chrono::seconds(7));
  EXPECT_EQ(calls, 0);
}

// Spec: 002-51
TEST_F(FallbackTest, AMissReadsOnceAndFills) {
  const std::string etag = world.Upload(kFirst);
  const ReadReply missed = world.MustRead(kId);
  EXPECT_EQ(missed.document.json(), JsonOf(kFirst));
  EXPECT_EQ(missed.etag, etag);
  EXPECT_EQ(missed.source, ReadSource::kObject);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.MustRead(kId).source, ReadSource::kCache);
  EXPECT_EQ(calls, 1);
}

// Spec: 002-52, 002-58
TEST_F(FallbackTest, ReadsTheObjectWhenTheTableIsNotAvailable) {
  world.Upload(kFirst);
  TableAway();
  const ReadReply read = world.MustRead(kId);
  EXPECT_EQ(read.source, ReadSource::kObject);
  EXPECT_NE(world.Logged().find("the cache is not available"), std::string::npos);
  EXPECT_TRUE(world.IsAbsent("never-there"));
  // The table is available again.
  world.tables.decide = nullptr;
  EXPECT_EQ(world.MustRead(kId).source, ReadSource::kObject);
  EXPECT_EQ(world.MustRead(kId).source, ReadSource::kCache);
}

// Spec: 002-52
TEST_F(FallbackTest, ARowThatCannotBeFilledIsOnlyAWarning) {
  world.Upload(kFirst);
  world.tables.decide = [](testing::Operation operation) -> std::optional<testing::Fault> {
    return testing::Writes(operation) ? std::optional(testing::Throttled()) : std::nullopt;
  };
  const ReadReply read = world.MustRead(kId);
  EXPECT_EQ(read.document.json(), JsonOf(kFirst));
  EXPECT_EQ(reads, 1);
  EXPECT_NE(world.Logged().find("could not be filled"), std::string::npos);
}

// Spec: 002-53
TEST_F(FallbackTest, NamesBothStoresWhenNeitherIsAvailable) {
  TableAway();
  ObjectsAway();
  const auto read = world.Read(kId);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(read.error().message.find("the table"), std::string::npos);
  EXPECT_NE(read.error().message.find("the object store"), std::string::npos);
  EXPECT_TRUE(IsRetryable(read.error().code));
}

// Spec: 002-54
TEST_F(FallbackTest, ServesTheCacheWhenTheObjectStoreIsNotAvailable) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.LeaveIntent(kId, {.txn = "dead", .base_etag = world.RowOf(kId)->committed->etag});
  ObjectsAway();
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kFirst));
  world.PassLease();
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kFirst)) << "also while it is in doubt";
  const auto missing = world.Read("CHG-2");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kUnavailable);
}

// Spec: 002-55
TEST_F(FallbackTest, AnAbsentDocumentIsNotFoundAndLeavesNoRow) {
  EXPECT_TRUE(world.IsAbsent(kId));
  EXPECT_EQ(world.StoredItems(), 0U);
  EXPECT_TRUE(world.IsAbsent(kId));
  EXPECT_EQ(reads, 1) << "it is remembered";
  EXPECT_EQ(world.Read("a/b").error().code, ErrorCode::kInvalid);
}

// An absent id is remembered for at most 30 s, and forgotten when a row appears.
TEST_F(FallbackTest, ForgetsThatADocumentWasAbsent) {
  EXPECT_TRUE(world.IsAbsent(kId));
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_TRUE(world.IsFound(kId)) << "a row has appeared";

  EXPECT_TRUE(world.IsAbsent("CHG-2"));
  world.Upload({.id = "CHG-2"});
  EXPECT_TRUE(world.IsAbsent("CHG-2"));
  world.Pass(std::chrono::seconds(30));
  EXPECT_TRUE(world.IsFound("CHG-2"));
}

// For a tombstone the object is read once, not at each read.
TEST_F(FallbackTest, ReadsTheObjectOnceForATombstone) {
  ASSERT_TRUE(world.Write({.status = "draft"}).has_value());
  ASSERT_TRUE(world.Delete(kId).has_value());
  reads = 0;
  EXPECT_TRUE(world.IsAbsent(kId));
  EXPECT_TRUE(world.IsAbsent(kId));
  EXPECT_EQ(reads, 1);
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_TRUE(world.IsFound(kId));
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
      if (read && *read && (*read)->document.json() == JsonOf(kFirst)) ++got;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, 100);
  EXPECT_EQ(reads, 1);
}

// Whether the thread waits or has ended.
bool IsIdle(pid_t thread) {
  std::ifstream status(fmt::format("/proc/self/task/{}/stat", thread));
  std::string line;
  if (!std::getline(status, line)) return true;
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.compare(name_end, 3, ") S") == 0;
}

// After a write was answered, every later read returns it: with and without the table, and also
// while an older read is still running.
TEST_F(FallbackTest, NoCallerGetsAReadThatBeganBeforeItsRequest) {
  // Too old to be cached, so that only the object has it.
  const Draft old{.created_at = kToday - 300 * kDay, .title = "first"};
  const Draft newer{.created_at = old.created_at, .version = 2, .title = "second"};
  for (const bool has_table : {true, false}) {
    SCOPED_TRACE(has_table);
    world.Upload(old);
    if (!has_table) TableAway();
    std::atomic<bool> is_written = false;
    std::atomic<pid_t> late_thread = 0;
    Result<std::optional<ReadReply>> late = std::optional<ReadReply>();
    std::thread reader;
    // The first reader has read the first version. Then the second version is written, and a second
    // reader asks.
    world.objects.after = [&](ObjectOperation operation) {
      if (operation != ObjectOperation::kOpen || is_written.exchange(true)) return;
      world.Upload(newer);
      reader = std::thread([&] {
        late_thread = ::gettid();
        late = world.Read(kId);
      });
      while (late_thread == 0 || !IsIdle(late_thread)) std::this_thread::yield();
    };
    ASSERT_TRUE(world.IsFound(kId));
    reader.join();
    ASSERT_TRUE(late && *late);
    EXPECT_EQ((*late)->document.json(), JsonOf(newer));
  }
}

// The fill read the object before the write, and writes its row after it.
// Spec: 002-57
TEST_F(FallbackTest, AFillNeverReplacesANewerWrite) {
  world.Upload(kFirst);
  world.objects.after = [this](ObjectOperation operation) {
    if (operation != ObjectOperation::kOpen) return;
    world.objects.after = nullptr;
    ASSERT_TRUE(world.Write(kSecond).has_value());
  };
  ASSERT_TRUE(world.IsFound(kId));
  EXPECT_EQ(world.RowOf(kId)->committed->document->json(), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// The same with a delete and its event in between. The tombstone makes the fill's condition fail.
TEST_F(FallbackTest, AFillNeverBringsBackADeletedDocument) {
  world.Upload(kFirst);
  world.objects.after = [this](ObjectOperation operation) {
    if (operation != ObjectOperation::kOpen) return;
    world.objects.after = nullptr;
    ASSERT_TRUE(world.memory.Delete({.key = ObjectKey(world.options, kId)}).has_value());
    ASSERT_TRUE(world.synchronizer.Sync(world.NewContext(), {.id = kId, .deleted = true}));
  };
  EXPECT_TRUE(world.IsAbsent(kId));
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-08
TEST_F(FallbackTest, FillsADamagedRowAgain) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  item::Item damaged = *world.Stored(kId);
  damaged.Set("document_json", "{\"changeId\":");
  world.Store(damaged);
  const ReadReply read = world.MustRead(kId);
  EXPECT_EQ(read.document.json(), JsonOf(kFirst));
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.MustRead(kId).source, ReadSource::kCache);
}

// When the reading caller gives up, the callers that waited for its result read the object
// themselves.
TEST_F(FallbackTest, ACallerThatGivesUpDoesNotStopOthers) {
  world.Upload(kFirst);
  std::stop_source source;
  source.request_stop();
  const auto given_up = ReadNow(world.reader, world.NewContext(source.get_token()), kId);
  ASSERT_FALSE(given_up.has_value());
  EXPECT_EQ(given_up.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(world.IsFound(kId));
}

// Every read is a hit or a miss. An expired row is a miss.
TEST_F(FallbackTest, CountsHitsAndMisses) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  ASSERT_TRUE(world.IsFound(kId));
  world.Pass(std::chrono::hours(24 * 91));
  ASSERT_TRUE(world.IsFound(kId));
  const std::string text = world.metrics.Expose();
  EXPECT_NE(text.find("tidemark_documents_cache_hits_total 1"), std::string::npos) << text;
  EXPECT_NE(text.find("tidemark_documents_cache_misses_total 1"), std::string::npos) << text;
}

}  // namespace
}  // namespace tidemark::documents
