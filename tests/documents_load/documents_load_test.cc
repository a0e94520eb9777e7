// 27,000 documents of 10 KB in a folder, cached in the embedded tables, with a crowd before them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apps/documents/documents.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "objects/directory/directory_objects.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/temp_folder.h"
#include "tests/support/threads.h"

namespace tidemark::documents {
namespace {

using std::chrono::milliseconds;

constexpr int kCount = 27'000;
constexpr size_t kDocumentBytes = 10'000;
constexpr EpochSeconds kNinetyDays = 90 * 86'400;
constexpr int kReaders = 1'000;
constexpr int kWriters = 100;
constexpr int kEdited = 10;  // Documents that all of the writers write.

std::string IdOf(int number) { return fmt::format("CHG-{:06}", number); }

// Nothing may fail here, and a failure says why.
template <typename T>
T Must(Outcome<T> outcome) {
  EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
  CHECK(outcome.has_value());
  return *std::move(outcome);
}

// Everything behind the documents, made once for all tests.
class Stores {
 public:
  Stores() {
    std::filesystem::create_directories(objects_folder() + "/archive");
    for (int i = 0; i < kCount; ++i) {
      std::ofstream(objects_folder() + "/archive/" + IdOf(i) + ".json") << Json(i, 1);
    }
    tables = embedded::EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                             .durability = embedded::Durability::kEverySecond})
                 .value();
    objects = directory::DirectoryObjects::Open(objects_folder(), clock, random).value();
    const auto documents = Open(kMaxRatePerSecond, tables.get());
    const auto filled = Must(documents->Backfill(Forever(), {}));
    CHECK(filled.marked && filled.cached == kCount);
  }

  std::unique_ptr<Documents> Open(int64_t rate, tables::Tables* behind) {
    return Documents::Open({.rate_per_second = rate}, {.tables = behind,
                                                       .objects = objects.get(),
                                                       .clock = &clock,
                                                       .pauser = &pauser,
                                                       .random = &random})
        .value();
  }
  Context Forever() const { return {.deadline = Deadline::After(clock, std::chrono::hours(1))}; }

  // The older the number, the longer ago, within ninety days but for some hours in which time
  // passes.
  std::string Json(int number, int version) const {
    const EpochSeconds step = (kNinetyDays - 4 * 3'600) / kCount;
    std::string json = fmt::format(
        R"({{"object_type":"change","changeId":"{}","changeTitle":"Replace a pump","version":{},)"
        R"("status":"submitted","createdAt":{},"customers":["hts"],"plan":")",
        IdOf(number), version, start - 3'600 - number * step);
    json.resize(kDocumentBytes - 2, 'x');
    return json + R"("})";
  }
  std::string ObjectOf(int number) {
    const auto object = objects->Open("archive/" + IdOf(number) + ".json").value();
    return object->Read(0, object->info().size).value();
  }

  SystemClock clock;
  SystemRandom random;
  SystemPauser pauser;
  const EpochSeconds start = clock.NowSeconds();
  std::unique_ptr<embedded::EmbeddedTables> tables;
  std::unique_ptr<objects::Objects> objects;

 private:
  std::string objects_folder() const { return folder_.path() + "/objects"; }
  TempFolder folder_;
};

class DocumentsLoadTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { stores_ = new Stores; }
  static void TearDownTestSuite() { delete std::exchange(stores_, nullptr); }

  // Of one call.
  template <typename Call>
  static milliseconds TimeOf(const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::ceil<milliseconds>(std::chrono::steady_clock::now() - begin);
  }

  static Stores* stores_;
};

Stores* DocumentsLoadTest::stores_ = nullptr;

// What a range over all ninety days gives, on as many pages as it takes.
std::vector<std::string> ReadRange(Documents& documents, const Stores& stores) {
  RangeQuery query{
      .from = stores.start - kNinetyDays + 3'600, .to = stores.start, .limit = kMaxPage};
  std::vector<std::string> ids;
  ids.reserve(kCount);
  do {
    const RangeReply page = Must(documents.Range(stores.Forever(), query, Beyond::kFlag));
    CHECK(page.coverage.complete);
    for (const FoundDocument& found : page.documents) {
      CHECK(found.json().size() == kDocumentBytes);
      ids.push_back(found.id());
    }
    query.after = page.last;
  } while (query.after);
  return ids;
}

// That both give the right documents, from the cache, and that the cache is worth having: a range
// takes less than half of what the objects take. How many milliseconds it takes is measured by
// bench/documents.cc ("all 27000 of 90 days", a median below 200 ms; "get", a p99 below 1 ms); here
// 200 ms are demanded only of a machine that is left alone (TIDEMARK_LONG).
// Spec: 002-71
TEST_F(DocumentsLoadTest, NinetyDaysAndASingleOneAreReadInTime) {
  const auto documents = stores_->Open(kMaxRatePerSecond, stores_->tables.get());
  std::vector<std::string> expected;
  for (int i = kCount; i-- > 0;) expected.push_back(IdOf(i));
  std::vector<milliseconds> ranges;
  for (int i = 0; i < 11; ++i) {
    std::vector<std::string> ids;
    ranges.push_back(TimeOf([&] { ids = ReadRange(*documents, *stores_); }));
    ASSERT_EQ(ids, expected);
  }
  std::ranges::sort(ranges);
  const milliseconds median = ranges[ranges.size() / 2];
  RecordProperty("range_ms", static_cast<int>(median.count()));
  const milliseconds from_objects = TimeOf([&] {
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(stores_->ObjectOf(i).size(), kDocumentBytes);
  });
  EXPECT_LT(2 * median, from_objects);
  if (std::getenv("TIDEMARK_LONG") != nullptr) {
    EXPECT_LT(median, milliseconds(200));
  }

  std::vector<milliseconds> gets;
  for (int i = 0; i < 1'000; ++i) {
    const int number = static_cast<int>(stores_->random.Next() % kCount);
    gets.push_back(TimeOf([&] {
      const ReadReply reply = Must(documents->Get(stores_->Forever(), IdOf(number)));
      EXPECT_EQ(reply.source, ReadSource::kCache);
      EXPECT_EQ(reply.document.json(), stores_->Json(number, 1));
    }));
  }
  std::ranges::sort(gets);
  EXPECT_LT(gets[gets.size() * 99 / 100], milliseconds(50));
}

// When the table was called, since the beginning.
class CallTimes {
 public:
  explicit CallTimes(const Clock* clock) : clock_(*clock), begin_(clock->Monotonic()) {}
  void Add() {
    const std::lock_guard lock(mutex_);
    times_.push_back(clock_.Monotonic() - begin_);
  }
  std::vector<std::chrono::nanoseconds> Sorted() const {
    auto times = times_;
    std::ranges::sort(times);
    return times;
  }

 private:
  const Clock& clock_;
  const std::chrono::nanoseconds begin_;
  std::mutex mutex_;
  std::vector<std::chrono::nanoseconds> times_;
};

// Adds one to a document's version, as often as others come between. False on any other error.
bool AddOne(Documents& documents, const Stores& stores, int number) {
  for (;;) {
    const auto read = documents.Get(stores.Forever(), IdOf(number));
    if (!read) return false;
    auto next =
        Document::Parse(stores.Json(number, static_cast<int>(read->document.version()) + 1));
    const auto written = documents.Write(
        stores.Forever(), {.document = *std::move(next), .expected_etag = read->etag});
    if (written) return true;
    if (written.error().type != CacheErrorType::kConflict) return false;
  }
}

// Spec: 002-72
TEST_F(DocumentsLoadTest, ManyAtOnceMakeNoErrorLoseNoUpdateAndKeepToTheRate) {
  constexpr int64_t kRate = 1'000;
  testing::FaultyTables tables(stores_->tables.get());
  CallTimes calls(&stores_->clock);
  tables.decide = [&](testing::Operation) -> std::optional<testing::Fault> {
    calls.Add();
    return std::nullopt;
  };
  const auto documents = stores_->Open(kRate, &tables);
  std::atomic<int> errors = 0;
  testing::RunThreads(kReaders + kWriters, [&](int thread) {
    const bool is_well =
        thread < kWriters
            ? AddOne(*documents, *stores_, thread % kEdited)
            : documents->Get(stores_->Forever(), IdOf(thread % (2 * kEdited))).has_value();
    if (!is_well) ++errors;
  });
  EXPECT_EQ(errors, 0);
  for (int number = 0; number < kEdited; ++number) {
    const ReadReply reply = Must(documents->Get(stores_->Forever(), IdOf(number)));
    EXPECT_EQ(reply.source, ReadSource::kCache);
    EXPECT_EQ(reply.document.version(), 1 + kWriters / kEdited) << IdOf(number);
    EXPECT_EQ(reply.document.json(), stores_->ObjectOf(number));
  }
  // A call may come later than its turn, and never before it.
  const auto times = calls.Sorted();
  EXPECT_GT(times.size(), static_cast<size_t>(kRate));
  for (size_t i = kRate; i < times.size(); ++i) {
    const double allowed = kRate + kRate * std::chrono::duration<double>(times[i]).count();
    ASSERT_LE(static_cast<double>(i + 1), allowed + 1) << "after " << times[i].count() << " ns";
  }
}

}  // namespace
}  // namespace tidemark::documents
