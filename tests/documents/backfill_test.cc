// Backfill: what it puts into the cache, what it does not change, and that it can be repeated,
// stopped, and run beside other work.
#include "apps/documents/backfill.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tests/documents/write_world.h"
#include "tests/support/threads.h"

namespace tidemark::documents {
namespace {

using testing::ObjectOperation;

struct BackfillWorld : WriteWorld {
  using WriteWorld::WriteWorld;

  BackfillReport Run(const WalkOptions& walk = {}) {
    const auto report = backfill.Run(NewContext(), walk);
    CHECK(report.has_value());
    return *report;
  }
  // DOC-000, DOC-001, …
  std::vector<std::string> UploadMany(int count) {
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) {
      ids.push_back("DOC-" + std::to_string(1000 + i).substr(1));
      Upload({.id = ids.back()});
    }
    return ids;
  }
  std::vector<item::Item> AllItems() {
    return tables.inner().Scan({.table = options.table})->items;
  }
  bool HasMark() { return rows.LoadMark(NewContext())->has_value(); }

  Backfill backfill{options, &rows, &store, &synchronizer, &observer};
};

size_t Sum(const BackfillReport& report) {
  return report.cached + report.unchanged + report.skipped + report.invalid + report.failed;
}

// Spec: 002-68
TEST(BackfillTest, CachesEveryLiveDocumentAndChangesNothingTheSecondTime) {
  BackfillWorld world;
  const std::vector<std::string> ids = world.UploadMany(7);
  world.Upload({.id = "EDITED", .created_at = kToday - 200 * kDay, .modified_at = kToday - kDay});
  world.Upload({.id = "OLD", .created_at = kToday - 91 * kDay});
  ASSERT_TRUE(world.memory.Put({.key = "archive/BAD.json", .bytes = "{}"}).has_value());
  ASSERT_TRUE(
      world.memory.Put({.key = "drafts/DRAFT.json", .bytes = JsonOf({.id = "DRAFT"})}).has_value());
  std::vector<size_t> shown;
  const WalkOptions walk{.from = kToday - 90 * kDay, .progress = [&](const WalkProgress& progress) {
                           shown.push_back(progress.checked);
                         }};

  WalkOptions dry = walk;
  dry.dry_run = true;
  EXPECT_EQ(world.Run(dry).cached, 7U);
  EXPECT_EQ(world.StoredItems(), 0U);

  const BackfillReport first = world.Run();
  EXPECT_EQ(first.cached, 8U) << "with the one that was edited";
  EXPECT_EQ(first.skipped, 1U);
  EXPECT_EQ(first.invalid, 1U);
  EXPECT_EQ(first.checked, Sum(first));
  EXPECT_TRUE(first.finished);
  for (const std::string& id : ids) EXPECT_TRUE(world.IsEqual(id));
  EXPECT_FALSE(world.Stored("OLD").has_value());
  EXPECT_FALSE(world.Stored("DRAFT").has_value());

  const std::vector<item::Item> before = world.AllItems();
  const BackfillReport second = world.Run(walk);
  EXPECT_EQ(second.cached, 0U);
  EXPECT_EQ(second.unchanged, 7U);
  EXPECT_EQ(world.AllItems(), before);
  EXPECT_EQ(shown, (std::vector<size_t>{10, 10}));
}

// Spec: 002-69
TEST(BackfillTest, CachesOnlyTheDocumentsThatTheOptionsNameAndKeepsTheRate) {
  BackfillWorld world({.rate_per_second = 5});
  for (const std::string customer : {"hts", "cds"}) {
    for (int day = 1; day <= 20; ++day) {
      world.Upload({.id = customer + std::to_string(day),
                    .customers = {"first", customer},
                    .created_at = kToday - day * kDay});
    }
  }
  std::vector<std::chrono::nanoseconds> calls;
  world.tables.decide = [&](testing::Operation) {
    calls.push_back(world.clock.Monotonic());
    return std::optional<testing::Fault>();
  };
  const BackfillReport report =
      world.Run({.from = kToday - 15 * kDay, .to = kToday - 6 * kDay, .customer = "cds"});
  EXPECT_EQ(report.cached, 10U);
  EXPECT_EQ(report.skipped, 30U);
  for (int day = 1; day <= 20; ++day) {
    const bool is_asked_for = day >= 6 && day <= 15;
    EXPECT_EQ(world.Stored("cds" + std::to_string(day)).has_value(), is_asked_for) << day;
    EXPECT_FALSE(world.Stored("hts" + std::to_string(day)).has_value()) << day;
  }
  ASSERT_GE(calls.size(), 20U) << "ten rows are read and written";
  for (size_t i = 0; i < calls.size(); ++i) {
    for (size_t j = i; j < calls.size(); ++j) {
      const double seconds = std::chrono::duration<double>(calls[j] - calls[i]).count();
      EXPECT_LE(static_cast<double>(j - i + 1), 5 + 5 * seconds + 1);
    }
  }
}

// Ranges rely on the mark, so only a run that visited every object may write it.
TEST(BackfillTest, OnlyACompleteRunWritesAMark) {
  BackfillWorld world;
  world.UploadMany(3);
  EXPECT_FALSE(world.Run({.dry_run = true}).marked);
  EXPECT_FALSE(world.Run({.from = kToday - 89 * kDay}).marked);
  EXPECT_FALSE(world.Run({.to = kToday}).marked);
  EXPECT_FALSE(world.Run({.customer = "hts"}).marked);
  EXPECT_FALSE(world.Run({.after = "archive/DOC-000.json"}).marked);
  EXPECT_FALSE(world.HasMark());
  EXPECT_TRUE(world.Run({.from = kToday - 90 * kDay}).marked);
  EXPECT_EQ(**world.rows.LoadMark(world.NewContext()),
            (CoverageMark{.complete_from = kToday - 90 * kDay, .as_of = world.clock.Now()}));
}

// A run in pieces is complete when each piece continues where the previous one ended.
TEST(BackfillTest, AResumedRunWritesAMarkWithTheTimeOfItsFirstStart) {
  BackfillWorld world;
  const std::vector<std::string> ids = world.UploadMany(3);
  std::stop_source stop;
  int opened = 0;
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation == ObjectOperation::kOpen && ++opened == 2) stop.request_stop();
    return std::nullopt;
  };
  const auto first = world.backfill.Run(world.NewContext(stop.get_token()), {});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->last_key, "archive/DOC-000.json");
  EXPECT_FALSE(first->finished);
  EXPECT_FALSE(first->marked);
  ASSERT_TRUE(first->mark.has_value());
  EXPECT_FALSE(world.HasMark());
  const auto began = world.clock.Now();
  world.Pass(std::chrono::hours(1));
  EXPECT_TRUE(world.Run({.after = first->last_key, .mark = first->mark}).marked);
  EXPECT_EQ(**world.rows.LoadMark(world.NewContext()),
            (CoverageMark{.complete_from = kToday - 90 * kDay, .as_of = began}));
  for (const std::string& id : ids) EXPECT_TRUE(world.IsEqual(id));
}

// A document that fails does not keep others from the cache, but then the cache is not marked as
// complete.
TEST(BackfillTest, ADocumentThatFailsIsSkippedAndNoMarkIsWritten) {
  BackfillWorld world;
  const std::vector<std::string> ids = world.UploadMany(4);
  int opened = 0;
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != ObjectOperation::kOpen || ++opened != 2) return std::nullopt;
    return testing::ObjectFault{{ErrorCode::kDenied, "not this one"}};
  };
  const BackfillReport report = world.Run();
  EXPECT_EQ(report.failed, 1U);
  EXPECT_EQ(report.cached, 3U);
  EXPECT_EQ(report.checked, Sum(report));
  EXPECT_TRUE(report.finished);
  EXPECT_FALSE(report.marked);
  EXPECT_FALSE(world.HasMark());
  EXPECT_FALSE(world.Stored(ids[1]).has_value());
}

// When the table is not available, the run does not try every document.
TEST(BackfillTest, ARunEndsWhenAStoreDoesNotAnswer) {
  BackfillWorld world({.rate_per_second = 100'000, .deadline = std::chrono::hours(1)});
  world.UploadMany(50);
  int tries = 0;
  world.tables.decide = [&](testing::Operation) {
    ++tries;
    return std::optional(testing::Denied());
  };
  const auto report = world.backfill.Run(world.NewContext(), {});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kDenied);
  EXPECT_EQ(tries, 10);
}

TEST(BackfillTest, ContinuesWhereItWasStopped) {
  BackfillWorld world;
  const std::vector<std::string> ids = world.UploadMany(9);
  std::stop_source stop;
  int opened = 0;
  world.objects.decide = [&](ObjectOperation operation) {
    if (operation == ObjectOperation::kOpen && ++opened == 5) stop.request_stop();
    return std::optional<testing::ObjectFault>();
  };
  const auto stopped = world.backfill.Run(world.NewContext(stop.get_token()), {});
  ASSERT_TRUE(stopped.has_value());
  EXPECT_FALSE(stopped->finished);
  EXPECT_EQ(stopped->checked, 4U);
  EXPECT_EQ(stopped->last_key, "archive/DOC-003.json");
  EXPECT_FALSE(stopped->marked);
  const BackfillReport rest = world.Run({.after = stopped->last_key});
  EXPECT_TRUE(rest.finished);
  EXPECT_EQ(rest.cached, 5U);
  for (const std::string& id : ids) EXPECT_TRUE(world.IsEqual(id));
}

// The deadline interrupts a run like a stop does, also while it waits for the rate limit.
TEST(BackfillTest, ADeadlineLeavesACheckpoint) {
  BackfillWorld world({.rate_per_second = 1, .deadline = std::chrono::seconds(10)});
  world.UploadMany(20);
  std::string after;
  int runs = 0;
  for (bool finished = false; !finished && runs < 10; ++runs) {
    const BackfillReport report = world.Run({.after = after});
    finished = report.finished;
    after = report.last_key;
  }
  EXPECT_GT(runs, 2);
  EXPECT_LT(runs, 10);
  EXPECT_EQ(world.StoredItems(), 20U);
}

TEST(BackfillTest, RefusesAnInvalidCheckpointAndAnInvalidTime) {
  BackfillWorld world;
  for (const WalkOptions& walk :
       {WalkOptions{.after = "drafts/x"}, WalkOptions{.from = 2, .to = 1}}) {
    EXPECT_EQ(world.backfill.Run(world.NewContext(), walk).error().code, ErrorCode::kInvalid);
  }
}

// Backfill has read the object, and a newer version is written before backfill writes the row.
TEST(BackfillTest, AVersionThatIsWrittenDuringTheRunIsKept) {
  BackfillWorld world;
  world.Upload({.title = "first"});
  bool is_written = false;
  world.objects.after = [&](ObjectOperation operation) {
    if (operation != ObjectOperation::kOpen || is_written) return;
    is_written = true;
    EXPECT_TRUE(world.Write({.title = "second"}).has_value());
  };
  world.Run();
  ASSERT_TRUE(is_written);
  EXPECT_TRUE(world.IsEqual("CHG-2025-001"));
  EXPECT_EQ(world.RowOf("CHG-2025-001")->committed->document->json(), JsonOf({.title = "second"}));
}

TEST(BackfillTest, TwoRunsAndWritersAtTheSameTimeLeaveTheNewestVersions) {
  BackfillWorld world;
  const std::vector<std::string> ids = world.UploadMany(12);
  testing::RunThreads(4, [&](int thread) {
    if (thread < 2) {
      EXPECT_TRUE(world.backfill.Run(world.NewContext(), {}).has_value());
      return;
    }
    for (size_t i = static_cast<size_t>(thread) - 2; i < ids.size(); i += 2) {
      EXPECT_TRUE(world.Write({.id = ids[i], .title = "newer"}).has_value());
    }
  });
  for (const std::string& id : ids) {
    EXPECT_TRUE(world.IsEqual(id));
    EXPECT_EQ(world.ObjectOf(id), JsonOf({.id = id, .title = "newer"}));
  }
}

}  // namespace
}  // namespace tidemark::documents
