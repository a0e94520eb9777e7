// Settling writes whose writers died, repairing rows that have a note, and synchronizing rows with
// objects.
#include <string>

#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

// Spec: 002-31
TEST(SettleTest, AFirstWriteThatDiesBeforeTheObjectLeavesNothing) {
  WriteWorld world;
  world.LeaveIntent(kId, {.txn = "dead"});
  EXPECT_TRUE(world.IsAbsent(kId));
  EXPECT_EQ(world.synchronizer.SettleStale(world.NewContext())->settled, 0U) << "it may be alive";
  EXPECT_TRUE(world.RowOf(kId)->intent.has_value());
  world.PassLease();
  EXPECT_TRUE(world.IsAbsent(kId));
  EXPECT_EQ(world.StoredItems(), 0U);
}

// The same when there is a committed version: it stays unchanged.
// Spec: 002-31
TEST(SettleTest, AWriteThatDiesBeforeTheObjectLeavesTheVersionBefore) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const Row before = *world.RowOf(kId);
  world.LeaveIntent(kId, {.txn = "dead", .base_etag = before.committed->etag});
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kFirst));
  world.PassLease();
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kFirst));
  EXPECT_EQ(world.RowOf(kId)->committed, before.committed);
  EXPECT_TRUE(world.IsEqual(kId));
}

// The tag in the object shows that the write has happened.
TEST(SettleTest, AWriteThatDiesAfterTheObjectHasSucceeded) {
  WriteWorld world;
  world.LeaveIntent(kId, {.txn = "dead"});
  world.UploadTagged(kFirst, "dead");
  // The object has the version, so readers may see it. The row is left to its writer.
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kFirst));
  EXPECT_FALSE(world.RowOf(kId)->committed.has_value());
  world.PassLease();
  EXPECT_EQ(world.synchronizer.SettleStale(world.NewContext())->settled, 1U);
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.synchronizer.SettleStale(world.NewContext())->settled, 0U);
}

// No caller changes a row whose write is still running.
TEST(SettleTest, LeavesAWriteUnderWayToItsWriter) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const std::string base = world.RowOf(kId)->committed->etag;
  world.LeaveIntent(kId, {.txn = "alive", .base_etag = base});
  const auto row = world.Stored(kId);
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kInFlight);
  EXPECT_EQ(world.Stored(kId), row);
  world.UploadTagged(kSecond, "alive");
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kInFlight);
  EXPECT_EQ(world.Stored(kId), row);
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kFirst));
}

// The object has another writer's version, so the write can only be refused.
TEST(SettleTest, RemovesTheIntentOfAWriteThatWasOvertaken) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.LeaveIntent(kId, {.txn = "alive", .base_etag = world.RowOf(kId)->committed->etag});
  world.Upload(kSecond);
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kWritten);
  EXPECT_TRUE(world.IsEqual(kId));
}

// Each row of the table in docs/formats/documents.md, where the object is gone.
TEST(SettleTest, ADeletedObjectLeavesATombstone) {
  WriteWorld world;
  ASSERT_TRUE(world.Write({.status = "draft"}).has_value());
  const std::string base = world.RowOf(kId)->committed->etag;
  world.LeaveIntent(kId, {.txn = "dead", .kind = IntentKind::kDelete, .base_etag = base});
  ASSERT_TRUE(world.memory.Delete({.key = ObjectKey(world.options, kId)}).has_value());
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kInFlight);
  world.PassLease();
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kRemoved);
  EXPECT_TRUE(world.RowOf(kId)->tombstone.has_value());
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kUnchanged);
  // And a write over the tombstone that never reached its object.
  world.LeaveIntent(kId, {.txn = "dead too"});
  world.PassLease();
  EXPECT_EQ(world.synchronizer.SettleStale(world.NewContext())->settled, 1U);
  EXPECT_TRUE(world.RowOf(kId)->tombstone.has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// A write that cannot be settled does not stop the others.
TEST(SettleTest, OneFailureDoesNotStopTheSettlingOfOthers) {
  WriteWorld world;
  world.LeaveIntent("CHG-1", {.txn = "dead"});
  world.LeaveIntent("CHG-2", {.txn = "dead"});
  world.PassLease();
  int opened = 0;
  world.objects.decide =
      [&](testing::ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != testing::ObjectOperation::kOpen || ++opened > 1) return std::nullopt;
    return testing::ObjectFault{{ErrorCode::kDenied, "for the test"}};
  };
  EXPECT_EQ(world.synchronizer.SettleStale(world.NewContext())->settled, 1U);
  EXPECT_EQ(world.StoredItems(), 1U);
}

TEST(SyncTest, ReportsWhatItDid) {
  WriteWorld world;
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kAbsent);
  EXPECT_EQ(world.StoredItems(), 0U);
  world.Upload({.customers = {"hts", "cds"}});
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kWritten);
  EXPECT_TRUE(world.IsEqual(kId));
  const auto row = world.Stored(kId);
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kUnchanged);
  EXPECT_EQ(world.Stored(kId), row);
  world.Upload({.created_at = kToday - 100 * kDay});
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kNotCached);
  EXPECT_FALSE(world.RowOf(kId)->committed.has_value());
  EXPECT_EQ(world.synchronizer.Sync(world.NewContext(), {.id = "a/b"}).error().code,
            ErrorCode::kInvalid);
}

// When the object is not a document any more, the previous version is not served.
TEST(SyncTest, AnObjectThatIsNotADocumentRemovesItsRow) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  for (const std::string& text : {std::string("{"), JsonOf({.id = "another"})}) {
    ASSERT_TRUE(
        world.memory.Put({.key = ObjectKey(world.options, kId), .bytes = text}).has_value());
    const auto reply = world.synchronizer.Sync(world.NewContext(), {.id = kId});
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->outcome, SyncOutcome::kNotCached);
    EXPECT_FALSE(reply->invalid.empty());
    EXPECT_FALSE(world.RowOf(kId)->committed.has_value());
    EXPECT_EQ(world.Read(kId).error().code, ErrorCode::kNotFound);
  }
}

// An object that was read before another writer changed the row is not written into the row.
TEST(SyncTest, AnOldReadNeverReplacesANewerRow) {
  WriteWorld world;
  world.Upload(kFirst);
  bool first = true;
  world.objects.after = [&](testing::ObjectOperation operation) {
    if (operation != testing::ObjectOperation::kOpen || !std::exchange(first, false)) return;
    world.objects.after = nullptr;
    ASSERT_TRUE(world.Write(kSecond).has_value());
  };
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kUnchanged);
  EXPECT_EQ(world.RowOf(kId)->committed->document->json(), JsonOf(kSecond));
}

TEST(SyncTest, ADryRunReportsWhatItWouldDo) {
  WriteWorld world;
  world.Upload(kFirst);
  const auto reply = world.synchronizer.Sync(world.NewContext(), {.id = kId, .dry_run = true});
  EXPECT_EQ(reply->outcome, SyncOutcome::kWritten);
  EXPECT_EQ(world.StoredItems(), 0U);
}

// If a note were deleted before its write has ended, the row would be wrong after that write.
TEST(RepairsTest, ANoteStaysUntilItsWriteMustHaveEnded) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  ASSERT_TRUE(world.repairs.Note(world.NewContext(), kId).has_value());
  EXPECT_EQ(world.repairs.Run(world.NewContext())->repaired, 0U);
  world.Upload(kSecond);
  world.PassLease();
  EXPECT_EQ(world.repairs.Run(world.NewContext())->repaired, 1U);
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.repairs.Run(world.NewContext())->due, 0U);
}

// A note that is made during the repair of an older note belongs to another write.
TEST(RepairsTest, DoesNotDeleteANewerNote) {
  WriteWorld world;
  world.Upload(kFirst);
  ASSERT_TRUE(world.repairs.Note(world.NewContext(), kId).has_value());
  world.PassLease();
  bool noted = false;
  world.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    if (operation == testing::Operation::kPut && !std::exchange(noted, true)) {
      EXPECT_TRUE(world.repairs.Note(world.NewContext(), kId).has_value());
    }
    return std::nullopt;
  };
  ASSERT_TRUE(world.repairs.Run(world.NewContext()).has_value());
  EXPECT_TRUE(world.memory.Bytes("cache-repairs/" + kId).has_value());
}

// A repair that fails keeps its note, and the others continue.
TEST(RepairsTest, OneFailureDoesNotStopTheRepairOfOthers) {
  WriteWorld world;
  for (const char* id : {"CHG-1", "CHG-2"}) {
    world.Upload({.id = id});
    ASSERT_TRUE(world.repairs.Note(world.NewContext(), id).has_value());
  }
  world.PassLease();
  int loaded = 0;
  world.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    if (operation != testing::Operation::kGet || ++loaded > 1) return std::nullopt;
    return testing::Denied();
  };
  const auto report = world.repairs.Run(world.NewContext());
  EXPECT_EQ(report->due, 2U);
  EXPECT_EQ(report->repaired, 1U);
  EXPECT_TRUE(world.memory.Bytes("cache-repairs/CHG-1").has_value());
  EXPECT_TRUE(world.IsEqual("CHG-2"));
}

}  // namespace
}  // namespace tidemark::documents
