// The staleness sampler: what it counts as stale, and that it changes nothing.
#include <string>

#include "apps/documents/staleness_sampler.h"
#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

struct SamplerWorld : WriteWorld {
  SamplerWorld() {
    for (int i = 0; i < 10; ++i) {
      const std::string type = i % 2 == 0 ? "change" : "announcement_cic";
      CHECK(Write({.id = IdOf(i), .type = type, .created_at = kToday - 9 * i * kDay}).has_value());
    }
  }
  static std::string IdOf(int i) { return "DOC-" + std::to_string(i); }
  StalenessReport Sample(size_t count) { return *sampler.Sample(NewContext(), count); }
  bool Shows(const std::string& line) {
    return metrics.Expose().find(line + "\n") != std::string::npos;
  }

  StalenessSampler sampler{&rows, &store, runtime};
};

TEST(SamplerTest, CountsChangedAndDeletedObjectsAsStale) {
  SamplerWorld world;
  EXPECT_EQ(world.Sample(10).stale, 0U);
  EXPECT_TRUE(world.Shows("tidemark_documents_stale_share 0"));
  world.Pass(std::chrono::hours(2));
  world.Upload({.id = "DOC-0", .title = "another"});
  ASSERT_TRUE(world.memory.Delete({.key = "archive/DOC-1.json"}).has_value());
  const auto before = world.tables.inner().Scan({.table = world.options.table})->items;
  const StalenessReport report = world.Sample(10);
  EXPECT_EQ(report.sampled, 10U);
  EXPECT_EQ(report.stale, 2U);
  EXPECT_TRUE(world.Shows("tidemark_documents_stale_share 0.2"));
  EXPECT_TRUE(world.Shows(R"(tidemark_documents_staleness_sampled_total{verified="hour"} 10)"));
  EXPECT_TRUE(world.Shows(R"(tidemark_documents_staleness_sampled_total{verified="day"} 10)"));
  EXPECT_TRUE(world.Shows(R"(tidemark_documents_staleness_stale_total{verified="day"} 2)"));
  EXPECT_EQ(world.tables.inner().Scan({.table = world.options.table})->items, before);
}

// Repeated small samples visit every document, so a stale one is found.
TEST(SamplerTest, SamplesEveryDocumentInTime) {
  for (const int stale : {0, 5, 9}) {
    SamplerWorld world;
    world.Upload({.id = SamplerWorld::IdOf(stale), .title = "another"});
    size_t found = 0;
    for (int i = 0; i < 30; ++i) {
      const StalenessReport report = world.Sample(2);
      EXPECT_EQ(report.sampled, 2U);
      found += report.stale;
    }
    EXPECT_GT(found, 0U) << stale;
  }
}

// A running write, or a write between the two reads, is not staleness.
TEST(SamplerTest, SkipsDocumentsThatAreBeingWritten) {
  SamplerWorld world;
  const std::string base = world.RowOf("DOC-0")->committed->etag;
  world.LeaveIntent("DOC-0", {.txn = "alive", .base_etag = base});
  world.UploadTagged({.id = "DOC-0", .title = "another"}, "alive");
  bool is_written = false;
  world.objects.decide = [&](testing::ObjectOperation operation) {
    if (operation == testing::ObjectOperation::kHead && !is_written) {
      is_written = true;
      for (int i = 1; i < 10; ++i) {
        EXPECT_TRUE(world.Write({.id = SamplerWorld::IdOf(i), .title = "newer"}).has_value());
      }
    }
    return std::optional<testing::ObjectFault>();
  };
  const StalenessReport report = world.Sample(10);
  ASSERT_TRUE(is_written);
  EXPECT_EQ(report.sampled, 8U) << "all but the two";
  EXPECT_EQ(report.stale, 0U);
}

}  // namespace
}  // namespace tidemark::documents
