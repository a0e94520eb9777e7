// Writes that were left by their writers, rows that were noted, and the one way in which rows are
// brought up to date.
#include <string>

#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

const std::string kId = "CHG-2025-001";
const Draft kFirst{.title = "first"};
const Draft kSecond{.title = "second"};

// Spec: 002-31
TEST(SettleTest, AWriterThatDiesBeforeTheObjectLeavesNothingToRead) {
  WriteWorld world;
  world.LeaveIntent(kId, {.txn = "dead"});
  EXPECT_EQ(world.Read(kId).error().type, CacheErrorType::kNotFound);
  EXPECT_EQ(*world.settler.SettleStale(world.NewContext()), 0U) << "it may be alive";
  EXPECT_TRUE(world.RowOf(kId)->intent.has_value());
  world.PassLease();
  EXPECT_EQ(world.Read(kId).error().type, CacheErrorType::kNotFound);
  EXPECT_EQ(world.StoredItems(), 0U);
}

// The same over a version that was committed before: that one stays, as it was.
// Spec: 002-31
TEST(SettleTest, AWriterThatDiesBeforeTheObjectLeavesTheVersionBefore) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const Row before = *world.RowOf(kId);
  world.LeaveIntent(kId, {.txn = "dead", .base_etag = before.committed->etag});
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kFirst));
  world.PassLease();
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kFirst));
  EXPECT_EQ(world.RowOf(kId)->committed, before.committed);
  EXPECT_TRUE(world.IsEqual(kId));
}

// The tag is the evidence: the write has happened.
TEST(SettleTest, AWriterThatDiesAfterTheObjectHasWritten) {
  WriteWorld world;
  world.LeaveIntent(kId, {.txn = "dead"});
  world.UploadTagged(kFirst, "dead");
  // In the object it is committed, so it may be shown; the row is left to its writer.
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kFirst));
  EXPECT_FALSE(world.RowOf(kId)->committed.has_value());
  world.PassLease();
  EXPECT_EQ(*world.settler.SettleStale(world.NewContext()), 1U);
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(*world.settler.SettleStale(world.NewContext()), 0U);
}

// A row whose write is under way is not touched, whoever comes.
TEST(SettleTest, AWriteUnderWayIsLeftToItsWriter) {
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
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kFirst));
}

// Somebody else's version is there: the write can only be refused.
TEST(SettleTest, AWriteThatWasOvertakenLosesItsIntentAtOnce) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.LeaveIntent(kId, {.txn = "alive", .base_etag = world.RowOf(kId)->committed->etag});
  world.Upload(kSecond);
  EXPECT_EQ(world.Sync(kId), SyncOutcome::kWritten);
  EXPECT_TRUE(world.IsEqual(kId));
}

// Each row of the table in docs/formats/documents.md, where the object is gone.
TEST(SettleTest, AnObjectThatIsGoneLeavesATombstone) {
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
  // And a write over the tombstone that never came.
  world.LeaveIntent(kId, {.txn = "dead too"});
  world.PassLease();
  EXPECT_EQ(*world.settler.SettleStale(world.NewContext()), 1U);
  EXPECT_TRUE(world.RowOf(kId)->tombstone.has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// One that cannot be settled keeps no other from it.
TEST(SettleTest, OneThatFailsKeepsNoOtherFromBeingSettled) {
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
  EXPECT_EQ(*world.settler.SettleStale(world.NewContext()), 1U);
  EXPECT_EQ(world.StoredItems(), 1U);
}

TEST(SyncTest, SaysWhatItDid) {
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
  EXPECT_EQ(world.synchronizer.Sync(world.NewContext(), {.id = "a/b"}).error().type,
            CacheErrorType::kValidation);
}

// What is in the place of a document and is none is not served as the version before.
TEST(SyncTest, AnObjectThatIsNoDocumentTakesItsRowWithIt) {
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
    EXPECT_EQ(world.Read(kId).error().type, CacheErrorType::kNotFound);
  }
}

// What was read before somebody else wrote the row is not written.
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

TEST(SyncTest, ADryRunSaysWhatItWouldDo) {
  WriteWorld world;
  world.Upload(kFirst);
  const auto reply = world.synchronizer.Sync(world.NewContext(), {.id = kId, .dry_run = true});
  EXPECT_EQ(reply->outcome, SyncOutcome::kWritten);
  EXPECT_EQ(world.StoredItems(), 0U);
}

// A note that is repaired before its write would let the row be wrong afterwards.
TEST(RepairsTest, ANoteStaysUntilItsWriteMustBeOver) {
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

// A note made while the one before is being worked off is for another write.
TEST(RepairsTest, ANewerNoteIsNotForgotten) {
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

// What fails stays noted, and the others go on.
TEST(RepairsTest, OneThatFailsKeepsNoOtherFromBeingRepaired) {
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
