// What the metrics say after traffic of every kind. deploy/alarms_test.yml says what of it raises
// an alarm.
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
  Outcome<ReadReply> Read(const std::string& id) {
    return documents->Get(documents->NewContext(), id);
  }
  void Write(const std::string& id) {
    ASSERT_TRUE(documents->Write(documents->NewContext(), {.document = DocumentOf({.id = id})})
                    .has_value());
  }
  // The next so many calls of the table are refused as too many.
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
  std::unique_ptr<Documents> documents = *Documents::Open({}, {.tables = &world.tables,
                                                               .objects = &world.objects,
                                                               .clock = &world.clock,
                                                               .pauser = &world.pauser,
                                                               .random = &world.random,
                                                               .metrics = &metrics});
};

// Spec: 002-70
TEST_F(MetricsTest, HitsMissesErrorsAndTimesAddUp) {
  constexpr int kDocuments = 10;
  const auto id = [](int number) { return "CHG-" + std::to_string(number); };
  for (int i = 0; i < kDocuments; ++i) Write(id(i));
  for (int i = 0; i < 3 * kDocuments; ++i) ASSERT_TRUE(Read(id(i % kDocuments)).has_value());
  EXPECT_EQ(Total("cache_hits"), 30);
  EXPECT_EQ(Total("cache_misses"), 0);

  world.Upload({.id = "CHG-new"});
  ASSERT_TRUE(Read("CHG-new").has_value());
  ASSERT_FALSE(Read("CHG-none").has_value());
  EXPECT_EQ(Total("cache_hits"), 30);
  EXPECT_EQ(Total("cache_misses"), 2);
  // That there is none is an answer.
  EXPECT_EQ(Total("errors"), 0);

  ObjectsAway();
  ASSERT_FALSE(Read("CHG-away").has_value());
  EXPECT_EQ(Total("cache_misses"), 3);
  EXPECT_EQ(Total("errors"), 1);

  const double reads = Total("cache_hits") + Total("cache_misses");
  EXPECT_EQ(reads, 33);
  EXPECT_EQ(Total("operations"), reads + kDocuments);
  EXPECT_EQ(Value("tidemark_documents_operation_seconds_count"), Total("operations"));
  EXPECT_EQ(Value(R"(tidemark_documents_operation_seconds_bucket{le="+Inf"})"),
            Total("operations"));
}

// Spec: 002-70
TEST_F(MetricsTest, AnyThrottlingIsCounted) {
  Write("CHG-1");
  EXPECT_EQ(Total("throttled"), 0);
  Throttle(2);
  const double before = Total("operations");
  ASSERT_TRUE(Read("CHG-1").has_value());
  // Each once, although the read came to a good end.
  EXPECT_EQ(Total("throttled"), 2);
  EXPECT_EQ(Total("errors"), 0);
  EXPECT_EQ(Total("operations"), before + 1);
}

// A percentile is of use only if the time that operations take in the end is what is counted.
// Spec: 002-70
TEST_F(MetricsTest, TimesAreThoseOfTheWholeOperation) {
  Write("CHG-1");
  const std::string half_a_second = R"(tidemark_documents_operation_seconds_bucket{le="0.5"})";
  const double quick = Value(half_a_second);
  ASSERT_EQ(quick, Total("operations"));
  // 100, 200 and 400 ms until it is tried again.
  Throttle(3);
  ASSERT_TRUE(Read("CHG-1").has_value());
  EXPECT_EQ(Value(half_a_second), quick);
  EXPECT_EQ(Value("tidemark_documents_operation_seconds_count"), quick + 1);
  EXPECT_GE(Value("tidemark_documents_operation_seconds_sum"), 0.7);
}

}  // namespace
}  // namespace tidemark::documents
