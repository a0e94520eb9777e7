// Writes through the cache: what both stores hold afterwards, with failures at every step.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

using testing::ObjectOperation;

// Fails all calls of one kind.
auto Failing(ObjectOperation failing, testing::ObjectFault fault) {
  return [=](ObjectOperation operation) {
    return operation == failing ? std::optional(fault) : std::nullopt;
  };
}
auto FailingWrites(const testing::Fault& fault) {
  return [=](testing::Operation operation) {
    return testing::Writes(operation) ? std::optional(fault) : std::nullopt;
  };
}

item::Item WithoutRevision(item::Item item) {
  item.Erase("revision");
  return item;
}

// Spec: 002-23
TEST(WriteThroughTest, BothStoresHaveTheDocument) {
  WriteWorld world;
  const Draft draft{.customers = {"hts", "cds"}, .extra = R"(,"kept" : 1.50)"};
  const auto written = world.Write(draft);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_TRUE(written->changed);
  EXPECT_TRUE(written->cached);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(draft));
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.RowOf(kId)->committed->etag, written->etag);
  const ReadReply read = world.MustRead(kId);
  EXPECT_EQ(read.document.json(), JsonOf(draft));
  EXPECT_EQ(read.source, ReadSource::kCache);
}

// Spec: 002-24
TEST(WriteThroughTest, ValidatesThenWritesTheRowThenTheObject) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  std::vector<std::string> order;
  world.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    if (testing::Writes(operation)) order.emplace_back("row");
    return std::nullopt;
  };
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation == ObjectOperation::kPut) order.emplace_back("object");
    return std::nullopt;
  };
  EXPECT_FALSE(world.Write({.status = "completed"}).has_value());
  EXPECT_TRUE(order.empty()) << "what is not valid reaches neither";
  ASSERT_TRUE(world.Write(kSecond).has_value());
  EXPECT_EQ(order, (std::vector<std::string>{"row", "object", "row"}));
}

// Spec: 002-25
TEST(WriteThroughTest, AnInvalidDocumentTouchesNeitherStore) {
  WriteWorld world;
  EXPECT_FALSE(Document::Parse(JsonOf({.id = ""})).has_value()) << "there is nothing to write";
  ASSERT_TRUE(world.Write({.status = "draft"}).has_value());
  const auto row = world.Stored(kId);
  const auto object = world.ObjectOf(kId);
  const auto refused = world.Write({.status = "approved"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(IsRetryable(refused.error().code));
  EXPECT_EQ(world.Stored(kId), row);
  EXPECT_EQ(world.ObjectOf(kId), object);
}

// A stale row must not refuse a write that the object allows.
TEST(WriteThroughTest, TheObjectDecidesWhetherATransitionIsAllowed) {
  WriteWorld world;
  ASSERT_TRUE(world.Write({.status = "submitted"}).has_value());
  world.Upload({.status = "approved"});
  EXPECT_TRUE(world.Write({.status = "completed"}).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.Write({.status = "submitted"}).error().code, ErrorCode::kInvalid);
}

// Spec: 002-26
TEST(WriteThroughTest, StrictWritesFailBeforeTheObjectWhenTheTableIsNotAvailable) {
  for (const auto& fault : {testing::Throttled(), testing::Denied()}) {
    WriteWorld world;
    world.tables.decide = FailingWrites(fault);
    const auto written = world.Write(kFirst);
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(world.memory.puts(), 0U);
    world.tables.decide = nullptr;
    EXPECT_EQ(world.StoredItems(), 0U);
  }
}

// Spec: 002-27
TEST(WriteThroughTest, LenientWritesLeaveANoteWhenTheTableIsNotAvailable) {
  WriteWorld world({.rate_per_second = 100'000, .write_mode = WriteMode::kLenient});
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.tables.decide = FailingWrites(testing::Denied());
  const auto written = world.Write(kSecond);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_TRUE(written->changed);
  EXPECT_FALSE(written->cached);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(kSecond));
  EXPECT_TRUE(world.memory.Bytes("cache-repairs/" + kId).has_value());
  EXPECT_EQ(world.repairs.Run(world.NewContext())->repaired, 0U) << "the table is still away";
  EXPECT_TRUE(world.memory.Bytes("cache-repairs/" + kId).has_value());

  world.tables.decide = nullptr;
  world.PassLease();
  const auto report = world.repairs.Run(world.NewContext());
  EXPECT_EQ(report->due, 1U);
  EXPECT_EQ(report->repaired, 1U);
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_FALSE(world.memory.Bytes("cache-repairs/" + kId).has_value());
}

// When neither store is available, the error names both. A note without an object does no harm.
TEST(WriteThroughTest, LenientWritesFailWhenNoStoreIsAvailable) {
  WriteWorld world({.rate_per_second = 100'000, .write_mode = WriteMode::kLenient});
  world.tables.decide = FailingWrites(testing::Denied());
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectsAway());
  const auto written = world.Write(kFirst);
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message.find("the table: "), std::string::npos);
  EXPECT_NE(written.error().message.find("the object store: "), std::string::npos);
}

// Spec: 002-28
TEST(WriteThroughTest, AFailedFirstWriteLeavesNoRow) {
  WriteWorld world;
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectsAway());
  const auto written = world.Write({.customers = {"hts", "cds"}});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::kUnreachable);
  EXPECT_EQ(world.StoredItems(), 0U);
  EXPECT_EQ(world.ObjectOf(kId), std::nullopt);
}

// Everything in the row except the revision, which changes with each write.
// Spec: 002-28
TEST(WriteThroughTest, AFailedUpdateLeavesThePreviousRow) {
  WriteWorld world;
  ASSERT_TRUE(world.Write({.customers = {"hts", "cds"}}).has_value());
  const auto before = world.Stored(kId);
  const auto pointer = world.Stored(PointerKey(kId, "cds"));
  world.Pass(std::chrono::seconds(100));
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectsAway());
  ASSERT_FALSE(world.Write({.customers = {"xyz"}, .title = "second"}).has_value());
  ASSERT_TRUE(world.Stored(kId).has_value());
  EXPECT_EQ(WithoutRevision(*world.Stored(kId)), WithoutRevision(*before));
  EXPECT_EQ(world.Stored(PointerKey(kId, "cds")), pointer);
  EXPECT_EQ(world.StoredItems(), 2U);
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-29
TEST(WriteThroughTest, ARollbackKeepsWhatAnotherWriterWrote) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != ObjectOperation::kPut) return std::nullopt;
    // Another program's upload. Its event is handled during our write.
    world.Upload(kSecond);
    EXPECT_EQ(world.Sync(kId), SyncOutcome::kWritten);
    return testing::ObjectFault{{ErrorCode::kDenied, "for the test"}};
  };
  ASSERT_FALSE(world.Write({.title = "third"}).has_value());
  EXPECT_EQ(world.RowOf(kId)->committed->document->json(), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-30
TEST(WriteThroughTest, AFailedRollbackNamesBothErrorsAndServesNothingOfTheWrite) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != ObjectOperation::kPut) return std::nullopt;
    world.tables.decide = [](testing::Operation) { return std::optional(testing::Denied()); };
    return testing::ObjectsAway();
  };
  const auto written = world.Write(kSecond);
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message.find("object store away"), std::string::npos);
  EXPECT_NE(written.error().message.find("access denied"), std::string::npos);

  world.tables.decide = nullptr;
  world.objects.decide = nullptr;
  EXPECT_TRUE(world.RowOf(kId)->intent.has_value());
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kFirst));
  world.PassLease();
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kFirst));
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-32
TEST(WriteThroughTest, WritingTheSameTwiceChangesNothing) {
  WriteWorld world;
  const auto first = world.Write(kFirst);
  const auto row = world.Stored(kId);
  const auto again = world.Write(kFirst);
  ASSERT_TRUE(again.has_value());
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(again->etag, first->etag);
  EXPECT_EQ(world.memory.puts(), 1U);
  EXPECT_EQ(world.StoredItems(), 1U);
  EXPECT_EQ(world.Stored(kId), row);
}

// The row may be stale, so only the object decides that nothing needs to be written.
TEST(WriteThroughTest, WritesADocumentThatEqualsAStaleRow) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.Upload(kSecond);
  const auto again = world.Write(kFirst);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->changed);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(kFirst));
  EXPECT_TRUE(world.IsEqual(kId));
}

// With real threads. Their pauses move the clock, so a write has a deadline of a day. A writer may
// lose its turn a hundred times in a row, which is a conflict.
// Spec: 002-33
TEST(WriteThroughTest, ConcurrentWritersLeaveTheSameVersionInBothStores) {
  WriteWorld world;
  std::atomic<int> successes = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 10; ++n) {
        const Draft draft{.version = i * 100 + n, .title = "of " + std::to_string(i)};
        const Context context{.deadline = Deadline::After(world.clock, std::chrono::hours(24))};
        const auto written = world.writer.Write(context, {.document = DocumentOf(draft)});
        if (written) {
          ++successes;
        } else {
          EXPECT_EQ(written.error().code, ErrorCode::kConflict) << written.error().message;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(successes, 0);
  world.PassLease();
  ASSERT_TRUE(world.IsFound(kId));
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-34
TEST(WriteThroughTest, AnExpectedVersionThatWasReplacedIsAConflict) {
  WriteWorld world;
  const auto first = world.Write(kFirst);
  EXPECT_EQ(world.Write(kSecond, "another").error().code, ErrorCode::kConflict);
  EXPECT_EQ(world.Write(kSecond, "").error().code, ErrorCode::kConflict);
  // The row still has the expected version, but the object does not.
  world.Upload({.title = "from outside"});
  EXPECT_EQ(world.Write(kSecond, first->etag).error().code, ErrorCode::kConflict);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf({.title = "from outside"}));
  EXPECT_TRUE(world.IsEqual(kId));

  const ReadReply now = world.MustRead(kId);
  EXPECT_TRUE(world.Write(kSecond, now.etag).has_value());
  EXPECT_TRUE(world.Write({.id = "CHG-2"}, "").has_value());
  EXPECT_EQ(world.Write({.id = "CHG-3"}, "any").error().code, ErrorCode::kConflict);
}

// Spec: 002-35
TEST(WriteThroughTest, ADryRunLogsBothStepsAndTouchesNothing) {
  WriteWorld world({.rate_per_second = 100'000, .dry_run = true});
  const auto written = world.Write(kFirst);
  ASSERT_TRUE(written.has_value());
  EXPECT_TRUE(written->dry_run);
  EXPECT_TRUE(world.Delete(kId)->dry_run);
  EXPECT_EQ(world.StoredItems(), 0U);
  EXPECT_EQ(world.memory.size(), 0U);
  for (const char* step : {"write row", "write object", "delete row", "delete object"}) {
    EXPECT_NE(world.Logged().find(step), std::string::npos) << world.Logged();
  }
  EXPECT_NE(world.Logged().find("dry run"), std::string::npos);
}

// Spec: 002-36
TEST(WriteThroughTest, RetriesAnObjectStoreThatFailsTwice) {
  WriteWorld world;
  int left = 2;
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != ObjectOperation::kPut || left-- <= 0) return std::nullopt;
    return testing::ObjectsAway();
  };
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.sleeper.slept(), (std::vector<std::chrono::milliseconds>{
                                       std::chrono::seconds(1), std::chrono::seconds(2)}));
}

// Spec: 002-37
TEST(WriteThroughTest, ACallerThatGivesUpStopsAtOnceAndRollsBack) {
  WriteWorld world;
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectsAway());
  std::stop_source source;
  world.sleeper.on_sleep = [&](std::chrono::nanoseconds) { source.request_stop(); };
  const auto written =
      world.writer.Write(world.NewContext(source.get_token()), {.document = DocumentOf(kFirst)});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(world.sleeper.slept().empty()) << "nothing was waited for";
  EXPECT_EQ(world.StoredItems(), 0U);
}

// Spec: 002-37
TEST(WriteThroughTest, ASpentDeadlineRollsBack) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != ObjectOperation::kPut) return std::nullopt;
    world.Pass(std::chrono::seconds(25));
    return testing::ObjectsAway();
  };
  ASSERT_FALSE(world.Write(kSecond).has_value());
  EXPECT_FALSE(world.RowOf(kId)->intent.has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// A lost reply is not a failure when the object has our tag.
TEST(WriteThroughTest, RecognisesItsWriteByTheTagAfterALostReply) {
  WriteWorld world;
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectReplyLost());
  const auto written = world.Write(kFirst);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(written->etag, world.RowOf(kId)->committed->etag);
  ASSERT_TRUE(world.Write(kSecond).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// A request that was lost is sent again under the same tag.
TEST(WriteThroughTest, SendsALostRequestAgain) {
  WriteWorld world;
  int left = 1;
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != ObjectOperation::kPut || left-- <= 0) return std::nullopt;
    return testing::ObjectRequestLost();
  };
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.memory.puts(), 1U);
}

// A write that may still arrive is not rolled back. Its intent stays, so that the write can be
// settled later.
TEST(WriteThroughTest, DoesNotRollBackAWriteThatMayHaveHappened) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const std::string base = world.RowOf(kId)->committed->etag;
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectRequestLost());
  const auto written = world.Write(kSecond);
  ASSERT_FALSE(written.has_value());
  EXPECT_TRUE(IsRetryable(written.error().code));
  EXPECT_NE(written.error().message.find("not known"), std::string::npos);
  const auto row = world.RowOf(kId);
  ASSERT_TRUE(row->intent.has_value());
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kFirst));
  // It arrives.
  ASSERT_TRUE(world.memory
                  .Put({.key = ObjectKey(world.options, kId),
                        .bytes = JsonOf(kSecond),
                        .metadata = {{std::string(kTxnMetadata), row->intent->txn}},
                        .if_match = base})
                  ->applied);
  world.PassLease();
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// Our write may have happened and been replaced. The result is "unknown", and the other version is
// not overwritten.
TEST(WriteThroughTest, DoesNotRepeatAWriteThatWasOvertaken) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectReplyLost());
  world.objects.after = [&](ObjectOperation operation) {
    if (operation == ObjectOperation::kPut) world.Upload({.title = "from outside"});
  };
  const auto written = world.Write(kSecond);
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message.find("not known"), std::string::npos);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf({.title = "from outside"}));
  EXPECT_TRUE(world.IsEqual(kId));
}

// The object has another program's version. A write without an expected version overwrites it.
TEST(WriteThroughTest, WritesOverAVersionOfAnotherProgram) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.Upload({.title = "from outside"});
  ASSERT_TRUE(world.Write(kSecond).has_value());
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// The object has the document, so the write has succeeded. The intent stays, so that the row can be
// settled later.
TEST(WriteThroughTest, SettlesARowLaterThatCouldNotBePromoted) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.objects.after = [&](ObjectOperation operation) {
    if (operation == ObjectOperation::kPut) {
      world.tables.decide = [](testing::Operation) { return std::optional(testing::Throttled()); };
    }
  };
  const auto written = world.Write(kSecond);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_FALSE(written->cached);
  world.tables.decide = nullptr;
  world.objects.after = nullptr;
  world.PassLease();
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// The same when the row keeps changing and keeps its intent, which no writer of ours does. The
// write does not try to end its intent for ever.
TEST(WriteThroughTest, GivesUpOnARowThatKeepsChanging) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  int changes = 0;
  world.objects.after = [&](ObjectOperation operation) {
    if (operation != ObjectOperation::kPut) return;
    world.tables.decide = [&](testing::Operation called) -> std::optional<testing::Fault> {
      if (!testing::Writes(called) || changes >= 1000) return std::nullopt;
      item::Item row = *world.Stored(kId);
      row.Set("revision", std::to_string(++changes));
      world.Store(std::move(row));
      return std::nullopt;
    };
  };
  const auto written = world.Write(kSecond);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_FALSE(written->cached);
  EXPECT_LT(changes, 1000);
  world.tables.decide = nullptr;
  world.objects.after = nullptr;
  world.PassLease();
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// A writer whose reply to the intent is lost finds its own intent, or withdraws it.
TEST(WriteThroughTest, LostRepliesOfTheTableDoNoHarm) {
  WriteWorld world;
  int calls = 0;
  world.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    if (!testing::Writes(operation) || ++calls % 2 == 0) return std::nullopt;
    return testing::LostReply();
  };
  ASSERT_TRUE(world.Write({.customers = {"hts", "cds"}}).has_value());
  ASSERT_TRUE(world.Write(kSecond).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.StoredItems(), 1U);

  WriteWorld silent;
  silent.tables.decide = FailingWrites(testing::LostReply());
  EXPECT_FALSE(silent.Write(kFirst).has_value());
  EXPECT_EQ(silent.memory.puts(), 0U);
  EXPECT_EQ(silent.StoredItems(), 0U) << "withdrawn, though that reply was lost too";
}

// A writer waits for the intent of another writer. When that intent stays, the result is a
// conflict.
TEST(WriteThroughTest, WritersTakeTurns) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const std::string base = world.RowOf(kId)->committed->etag;
  world.LeaveIntent(kId, {.txn = "other", .base_etag = base});
  const auto waiting = world.Write(kSecond);
  ASSERT_FALSE(waiting.has_value());
  EXPECT_EQ(waiting.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(IsRetryable(waiting.error().code));
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(kFirst));
  // Now it is stale.
  world.PassLease();
  ASSERT_TRUE(world.Write(kSecond).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-07
TEST(WriteThroughTest, ADocumentThatIsTooLargeIsNotCached) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const Draft large{.title = std::string(500'000, 'x')};
  const auto written = world.Write(large);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_FALSE(written->cached);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(large));
  EXPECT_EQ(world.RowOf(kId)->committed->document, std::nullopt);
  const ReadReply read = world.MustRead(kId);
  EXPECT_EQ(read.document.json(), JsonOf(large));
  EXPECT_EQ(read.source, ReadSource::kObject);
  ASSERT_TRUE(world.Write(kSecond).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// When the new version is not cached, the older one must not stay in the row.
// Spec: 002-12
TEST(WriteThroughTest, ADocumentThatIsTooOldIsWrittenAndNotCached) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const Draft old{.created_at = kToday - 100 * kDay};
  const auto written = world.Write(old);
  ASSERT_TRUE(written.has_value());
  EXPECT_FALSE(written->cached);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(old));
  EXPECT_EQ(world.RowOf(kId)->committed, std::nullopt);
  EXPECT_EQ(world.MustRead(kId).document.json(), JsonOf(old));
}

// A delete leaves a tombstone, and the document can be written again.
TEST(WriteThroughTest, DeletingLeavesATombstone) {
  WriteWorld world;
  ASSERT_TRUE(world.Write({.customers = {"hts", "cds"}, .status = "draft"}).has_value());
  const auto deleted = world.Delete(kId);
  ASSERT_TRUE(deleted.has_value()) << deleted.error().message;
  EXPECT_TRUE(deleted->changed);
  EXPECT_EQ(world.ObjectOf(kId), std::nullopt);
  EXPECT_TRUE(world.RowOf(kId)->tombstone.has_value());
  EXPECT_EQ(world.StoredItems(), 1U);
  EXPECT_TRUE(world.IsAbsent(kId));
  EXPECT_FALSE(world.Delete(kId)->changed);
  EXPECT_FALSE(world.Delete("never-there")->changed);
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// Only drafts and cancelled documents may be deleted. The object decides the state, not the row.
TEST(WriteThroughTest, TheObjectDecidesWhetherADocumentMayBeDeleted) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_EQ(world.Delete(kId).error().code, ErrorCode::kInvalid);
  world.Upload({.status = "cancelled"});
  EXPECT_TRUE(world.Delete(kId).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.writer.Delete(world.NewContext(), {.id = "a/b"}).error().code,
            ErrorCode::kInvalid);
}

TEST(WriteThroughTest, RecognisesItsDeleteAfterALostReply) {
  for (const auto& fault : {testing::ObjectReplyLost(), testing::ObjectsAway()}) {
    WriteWorld world;
    ASSERT_TRUE(world.Write({.status = "draft"}).has_value());
    world.objects.decide = Failing(ObjectOperation::kDelete, fault);
    EXPECT_EQ(world.Delete(kId).has_value(), fault.applied);
    EXPECT_TRUE(world.IsEqual(kId));
  }
}

// Writes go only to the object store, and are still conditional.
TEST(WriteThroughTest, ADisabledCacheIsNotTouched) {
  WriteWorld world({.enabled = false, .rate_per_second = 100'000});
  world.tables.decide = [](testing::Operation) { return std::optional(testing::Denied()); };
  const auto written = world.Write(kFirst);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_EQ(world.Write(kSecond, "another").error().code, ErrorCode::kConflict);
  EXPECT_EQ(world.Write({.status = "completed"}).error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(world.Write(kSecond, written->etag).has_value());
  const ReadReply read = world.MustRead(kId);
  EXPECT_EQ(read.document.json(), JsonOf(kSecond));
  EXPECT_EQ(read.source, ReadSource::kObject);
  ASSERT_TRUE(world.Write({.status = "cancelled"}).has_value());
  EXPECT_TRUE(world.Delete(kId).has_value());
  EXPECT_TRUE(world.IsAbsent(kId));
}

}  // namespace
}  // namespace tidemark::documents
