// Fsck finds, explains and repairs every kind of difference between row and object, and changes
// nothing else.
#include "apps/documents/fsck.h"

#include <map>
#include <string>

#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

using testing::ObjectOperation;

struct FsckWorld : WriteWorld {
  using WriteWorld::WriteWorld;

  FsckReport Run(const WalkOptions& walk = {}, std::stop_token stop = {}) {
    findings.clear();
    const auto report = fsck.Run(NewContext(std::move(stop)), walk,
                                 [&](const FsckFinding& found) { findings[found.id] = found; });
    CHECK(report.has_value());
    EXPECT_EQ(report->checked,
              report->equal + report->repaired + report->in_flight + report->differing);
    return *report;
  }
  std::string What(const std::string& id) { return findings[id].what; }

  // One document for each difference.
  void MakeDifferences() {
    for (const std::string id : {"EQUAL", "OTHER", "ROW-ONLY", "REVIVED", "DAMAGED", "SPOILT"}) {
      CHECK(Write({.id = id}).has_value());
    }
    Upload({.id = "NO-ROW"});
    Upload({.id = "OTHER", .title = "another"});
    CHECK(memory.Delete({.key = "archive/ROW-ONLY.json"}).has_value());
    const Row before = *RowOf("REVIVED");
    Row revived = before;
    revived.committed.reset();
    revived.tombstone = Tombstone{.deleted_at = kToday, .ttl = kToday + kDay};
    CHECK(*rows.Replace(NewContext(), before, revived));
    item::Item damaged = *Stored("DAMAGED");
    damaged.Set("document_json", JsonOf({.id = "DAMAGED", .title = "changed in the table"}));
    Store(std::move(damaged));
    CHECK(memory.Put({.key = "archive/SPOILT.json", .bytes = "{"}).has_value());
    LeaveIntent("LEFT", {.txn = "dead"});
    PassLease();
  }

  std::map<std::string, FsckFinding> findings;
  Fsck fsck{options, &rows, &store, &synchronizer, &observer};
};

TEST(FsckTest, FindsExplainsAndRepairsEveryDifference) {
  FsckWorld world;
  world.MakeDifferences();
  const FsckReport report = world.Run();
  EXPECT_EQ(ProofLine(report), "checked 8, equal 1, repaired 7, in flight 0, differing 0");
  EXPECT_EQ(world.What("NO-ROW"), "there is an object and no row");
  EXPECT_EQ(world.What("ROW-ONLY"), "there is a row and no object");
  EXPECT_TRUE(world.What("OTHER").starts_with("the row has version "));
  EXPECT_EQ(world.What("REVIVED"), "the row says that it was deleted, and there is an object");
  EXPECT_EQ(world.What("DAMAGED"), "the row names the object's version and holds another content");
  EXPECT_TRUE(world.What("SPOILT").starts_with("the row has an earlier version"));
  EXPECT_EQ(world.What("LEFT"), "a write was begun and not ended");
  for (const auto& [id, finding] : world.findings) EXPECT_TRUE(finding.repaired) << id;
  for (const std::string id : {"EQUAL", "OTHER", "NO-ROW", "REVIVED", "DAMAGED", "ROW-ONLY"}) {
    EXPECT_TRUE(world.IsEqual(id));
  }
  EXPECT_FALSE(world.Stored("LEFT").has_value());
  EXPECT_TRUE(report.marked);
  EXPECT_EQ(ProofLine(world.Run()), "checked 6, equal 6, repaired 0, in flight 0, differing 0");
}

TEST(FsckTest, ADryRunReportsTheSameAndChangesNothing) {
  FsckWorld world;
  world.MakeDifferences();
  const auto before = world.tables.inner().Scan({.table = world.options.table})->items;
  const FsckReport report = world.Run({.dry_run = true});
  EXPECT_EQ(ProofLine(report), "checked 8, equal 1, repaired 0, in flight 0, differing 7");
  EXPECT_EQ(world.findings.size(), 7U);
  EXPECT_FALSE(world.findings["OTHER"].repaired);
  EXPECT_FALSE(report.marked);
  EXPECT_EQ(world.tables.inner().Scan({.table = world.options.table})->items, before);
}

// A write that has written its object but not its row looks like a difference.
TEST(FsckTest, LeavesAWriteUnderWayToItsWriter) {
  FsckWorld world;
  ASSERT_TRUE(world.Write({.title = "first"}).has_value());
  const std::string base = world.RowOf("CHG-2025-001")->committed->etag;
  world.LeaveIntent("CHG-2025-001", {.txn = "alive", .base_etag = base});
  world.UploadTagged({.title = "second"}, "alive");
  world.LeaveIntent("NEW", {.txn = "alive too"});
  const auto before = world.Stored("CHG-2025-001");
  for (const bool dry_run : {false, true}) {
    const FsckReport report = world.Run({.dry_run = dry_run});
    EXPECT_EQ(ProofLine(report), "checked 2, equal 0, repaired 0, in flight 2, differing 0");
    EXPECT_TRUE(world.findings.empty());
    EXPECT_EQ(world.Stored("CHG-2025-001"), before);
    EXPECT_TRUE(world.RowOf("NEW")->intent.has_value());
  }
}

// The row was read before a complete write and the object after it. A dry run must not report this.
TEST(FsckTest, ADryRunDoesNotReportAWriteAsADifference) {
  FsckWorld world;
  ASSERT_TRUE(world.Write({.title = "first"}).has_value());
  bool is_written = false;
  world.objects.decide = [&](ObjectOperation operation) {
    if (operation == ObjectOperation::kOpen && !is_written) {
      is_written = true;
      EXPECT_TRUE(world.Write({.title = "second"}).has_value());
    }
    return std::optional<testing::ObjectFault>();
  };
  EXPECT_EQ(ProofLine(world.Run({.dry_run = true})),
            "checked 1, equal 0, repaired 0, in flight 1, differing 0");
  EXPECT_TRUE(world.findings.empty());
}

// An expired row is not a difference, because it is not served.
TEST(FsckTest, AnExpiredRowIsNotADifference) {
  FsckWorld world;
  ASSERT_TRUE(world.Write({}).has_value());
  world.Pass(std::chrono::hours(24 * 91));
  EXPECT_EQ(world.Run({.dry_run = true}).differing, 0U);
  EXPECT_EQ(world.Run().repaired, 0U);
}

// When it is stopped at each document in turn, it still checks each document exactly once.
TEST(FsckTest, ContinuesWhereItWasStopped) {
  FsckWorld world;
  for (const std::string id : {"A", "B", "C"}) world.Upload({.id = id});
  for (const std::string id : {"X", "Y", "Z"}) {
    ASSERT_TRUE(world.Write({.id = id}).has_value());
    ASSERT_TRUE(world.memory.Delete({.key = ObjectKey(world.options, id)}).has_value());
  }
  FsckReport total;
  std::string after;
  bool finished = false;
  for (int runs = 0; !finished && runs < 20; ++runs) {
    std::stop_source stop;
    int opened = 0;
    world.objects.decide = [&](ObjectOperation operation) {
      if (operation == ObjectOperation::kOpen && ++opened == 2) stop.request_stop();
      return std::optional<testing::ObjectFault>();
    };
    const FsckReport report = world.Run({.after = after}, stop.get_token());
    total.checked += report.checked;
    total.repaired += report.repaired;
    after = report.last_key;
    finished = report.finished;
  }
  EXPECT_TRUE(finished);
  EXPECT_EQ(total.repaired, 6U);
  EXPECT_EQ(total.checked, 6U);
}

TEST(FsckTest, ChecksDocumentsWhoseObjectOrRowMatches) {
  FsckWorld world;
  world.Upload({.id = "MINE", .customers = {"other", "hts"}});
  world.Upload({.id = "THEIRS", .customers = {"other"}});
  ASSERT_TRUE(world.Write({.id = "MOVED", .customers = {"hts"}}).has_value());
  world.Upload({.id = "MOVED", .customers = {"other"}});
  ASSERT_TRUE(world.Write({.id = "GONE", .customers = {"other", "hts"}}).has_value());
  ASSERT_TRUE(world.memory.Delete({.key = "archive/GONE.json"}).has_value());
  const FsckReport report = world.Run({.customer = "hts"});
  EXPECT_EQ(ProofLine(report), "checked 3, equal 0, repaired 3, in flight 0, differing 0");
  EXPECT_FALSE(report.marked);
  EXPECT_FALSE(world.Stored("THEIRS").has_value());
  EXPECT_TRUE(world.IsEqual("MOVED"));
  EXPECT_TRUE(world.IsEqual("GONE"));
}

// The counts must not claim more than was checked.
TEST(FsckTest, ADocumentThatCannotBeCheckedIsNotEqual) {
  FsckWorld world;
  world.Upload({.id = "A"});
  world.Upload({.id = "B"});
  int opened = 0;
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != ObjectOperation::kOpen || ++opened != 1) return std::nullopt;
    return testing::ObjectFault{{ErrorCode::kDenied, "not this one"}};
  };
  const FsckReport report = world.Run();
  EXPECT_EQ(ProofLine(report), "checked 2, equal 0, repaired 1, in flight 0, differing 1");
  EXPECT_TRUE(world.What("A").starts_with("it could not be checked"));
  EXPECT_FALSE(report.marked);
}

TEST(FsckTest, RefusesATextThatIsNotACheckpoint) {
  FsckWorld world;
  for (const std::string after : {"~rows/", "~rows/x/y", "~rows/12", "elsewhere/A.json"}) {
    EXPECT_EQ(world.fsck.Run(world.NewContext(), {.after = after}, {}).error().code,
              ErrorCode::kInvalid)
        << after;
  }
}

}  // namespace
}  // namespace tidemark::documents
