// The metrics after traffic of every kind. deploy/alarms_test.yml tests which values raise an
// alarm.
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "apps/documents/documents.h"
#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

using testing::ObjectOperation;

struct MetricsTest : ::testing::Test {
  // The value behind a name; -1 when it is not there.
  double Value(const std::string& name) const {
    const std::string text = "\n" + metrics.Expose();
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }
  double Total(const std::string& name) const {
    return Value("tidemark_documents_" + name + "_total");
  }
  // How many operations were measured, and how many of them took at most so many seconds.
  double Count(const std::string& operation) const {
    return Value("tidemark_documents_operation_seconds_count{operation=\"" + operation + "\"}");
  }
  double AtMost(const std::string& operation, const std::string& seconds) const {
    return Value("tidemark_documents_operation_seconds_bucket{operation=\"" + operation +
                 "\",le=\"" + seconds + "\"}");
  }
  // An event about CHG-1, which changed at this time.
  RecordFate HandleEvent(const std::string& time) {
    const std::string notification =
        R"({"Records":[{"eventSource":"aws:s3","eventName":"ObjectCreated:Put","eventTime":")" +
        time + R"(","s3":{"bucket":{"name":")" + world.options.bucket +
        R"("},"object":{"key":"archive/CHG-1.json"}}}]})";
    const EventReport report = documents->HandleEvents(documents->NewContext(), notification);
    CHECK(report.records.size() == 1);
    return report.records.front().fate;
  }
  bool IsFound(const std::string& id) {
    const auto read = ReadNow(*documents, documents->NewContext(), id);
    return read && *read;
  }
  void Write(const std::string& id) {
    ASSERT_TRUE(documents->Write(documents->NewContext(), {.document = DocumentOf({.id = id})})
                    .has_value());
  }
  // The table refuses the next `calls` calls because of its load.
  void Throttle(int calls) {
    world.tables.decide = [calls](testing::Operation) mutable -> std::optional<testing::Fault> {
      if (calls-- <= 0) return std::nullopt;
      return testing::Throttled();
    };
  }
  void ObjectsAway() {
    world.objects.decide = [](ObjectOperation) { return std::optional(testing::ObjectsAway()); };
  }

  WriteWorld world;
  Metrics metrics;
  std::unique_ptr<Documents> documents =
      *Documents::Open({}, &world.tables, &world.objects, world.RuntimeWith(&metrics));
};

// Spec: 002-70
TEST_F(MetricsTest, HitsMissesErrorsAndTimesAddUp) {
  constexpr int kDocuments = 10;
  const auto id = [](int number) { return "CHG-" + std::to_string(number); };
  for (int i = 0; i < kDocuments; ++i) Write(id(i));
  for (int i = 0; i < 3 * kDocuments; ++i) ASSERT_TRUE(IsFound(id(i % kDocuments)));
  EXPECT_EQ(Total("cache_hits"), 30);
  EXPECT_EQ(Total("cache_misses"), 0);

  world.Upload({.id = "CHG-new"});
  ASSERT_TRUE(IsFound("CHG-new"));
  ASSERT_FALSE(IsFound("CHG-none"));
  EXPECT_EQ(Total("cache_hits"), 30);
  EXPECT_EQ(Total("cache_misses"), 2);
  // A missing document is not an error.
  EXPECT_EQ(Total("errors"), 0);

  ObjectsAway();
  ASSERT_FALSE(IsFound("CHG-away"));
  EXPECT_EQ(Total("cache_misses"), 3);
  EXPECT_EQ(Total("errors"), 1);

  const double reads = Total("cache_hits") + Total("cache_misses");
  EXPECT_EQ(reads, 33);
  EXPECT_EQ(Total("operations"), reads + kDocuments);
  EXPECT_EQ(Count("read"), reads);
  EXPECT_EQ(Count("write"), kDocuments);
  EXPECT_EQ(AtMost("read", "+Inf"), reads);
}

// Spec: 002-70
TEST_F(MetricsTest, AnyThrottlingIsCounted) {
  Write("CHG-1");
  EXPECT_EQ(Total("throttled"), 0);
  Throttle(2);
  const double before = Total("operations");
  ASSERT_TRUE(IsFound("CHG-1"));
  // Each refused call is counted once, although the read succeeded.
  EXPECT_EQ(Total("throttled"), 2);
  EXPECT_EQ(Total("errors"), 0);
  EXPECT_EQ(Total("operations"), before + 1);
}

// The time must include all retries; otherwise a percentile says nothing about what callers see.
// Spec: 002-70
TEST_F(MetricsTest, TheTimeIsThatOfTheWholeOperation) {
  Write("CHG-1");
  ASSERT_TRUE(IsFound("CHG-1"));
  ASSERT_EQ(AtMost("read", "0.5"), 1);
  // 100, 200 and 400 ms until it is tried again.
  Throttle(3);
  ASSERT_TRUE(IsFound("CHG-1"));
  EXPECT_EQ(AtMost("read", "0.5"), 1);
  EXPECT_EQ(Count("read"), 2);
  EXPECT_GE(Value(R"(tidemark_documents_operation_seconds_sum{operation="read"})"), 0.7);
  // Slow reads do not raise the alarm of writes.
  EXPECT_EQ(AtMost("write", "0.5"), 1);
  EXPECT_EQ(Count("write"), 1);
}

// Review: D15
TEST_F(MetricsTest, EachOperationHasItsOwnTimes) {
  Write("CHG-1");
  const Context context = documents->NewContext();
  ASSERT_TRUE(IsFound("CHG-1"));
  ASSERT_TRUE(documents->Range(context, {.from = 0, .to = kToday}, Beyond::kFlag).has_value());
  ASSERT_TRUE(documents->Backfill(context, {}).has_value());
  ASSERT_TRUE(documents->Fsck(context, {}, {}).has_value());
  ASSERT_EQ(HandleEvent(""), RecordFate::kUnchanged);
  for (const char* name : {"write", "read", "range", "backfill", "fsck", "event"}) {
    EXPECT_EQ(Count(name), 1) << name;
  }
  EXPECT_EQ(Count("other"), 0);
}

// Review: D15
// What counts is the time since the object changed, not how long the last step took. The handler
// itself waits for nothing: an event that comes at once is handled within a second.
// Spec: 002-49
TEST_F(MetricsTest, TheDelayOfAnEventBeginsWhenTheObjectChanged) {
  Write("CHG-1");
  const std::string delay = "tidemark_documents_event_delay_seconds";
  ASSERT_EQ(HandleEvent("2025-10-17T00:00:00Z"), RecordFate::kUnchanged);
  EXPECT_EQ(Value(delay + R"(_bucket{le="1"})"), 1);
  world.Pass(std::chrono::seconds(3));
  ASSERT_EQ(HandleEvent("2025-10-17T00:00:00.750Z"), RecordFate::kUnchanged);
  EXPECT_EQ(Value(delay + "_sum"), 2.25);
  // An event without a time, with a wrong one, or from a clock that is ahead.
  for (const char* time : {"", "yesterday", "2025-10-18T00:00:00Z"}) HandleEvent(time);
  EXPECT_EQ(Value(delay + "_count"), 3);
  EXPECT_EQ(Value(delay + "_sum"), 2.25);
}

}  // namespace
}  // namespace tidemark::documents
