// Writing through the cache: what both stores hold afterwards, whatever fails on the way.
#include <string>
#include <thread>
#include <vector>

#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

using testing::ObjectOperation;

const std::string kId = "CHG-2025-001";
const Draft kFirst{.title = "first"};
const Draft kSecond{.title = "second"};

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
  EXPECT_EQ(world.manager.Get(world.NewContext(), kId)->document.json(), JsonOf(draft));
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
TEST(WriteThroughTest, WhatIsNotValidTouchesNeitherStore) {
  WriteWorld world;
  EXPECT_FALSE(Document::Parse(JsonOf({.id = ""})).has_value()) << "there is nothing to write";
  ASSERT_TRUE(world.Write({.status = "draft"}).has_value());
  const auto row = world.Stored(kId);
  const auto object = world.ObjectOf(kId);
  const auto refused = world.Write({.status = "approved"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().type, CacheErrorType::kValidation);
  EXPECT_FALSE(refused.error().retryable);
  EXPECT_EQ(world.Stored(kId), row);
  EXPECT_EQ(world.ObjectOf(kId), object);
}

// A stale row refuses nothing that the object allows.
TEST(WriteThroughTest, TheTransitionIsThatOfTheObject) {
  WriteWorld world;
  ASSERT_TRUE(world.Write({.status = "submitted"}).has_value());
  world.Upload({.status = "approved"});
  EXPECT_TRUE(world.Write({.status = "completed"}).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.Write({.status = "submitted"}).error().type, CacheErrorType::kValidation);
}

// Spec: 002-26
TEST(WriteThroughTest, StrictWritesFailBeforeTheObjectWhenTheTableIsAway) {
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
TEST(WriteThroughTest, LenientWritesLeaveANoteWhenTheTableIsAway) {
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

// Both stores away is an error that names both; a note without an object does no harm.
TEST(WriteThroughTest, LenientWritesFailWhenBothAreAway) {
  WriteWorld world({.rate_per_second = 100'000, .write_mode = WriteMode::kLenient});
  world.tables.decide = FailingWrites(testing::Denied());
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectsAway());
  const auto written = world.Write(kFirst);
  ASSERT_FALSE(written.has_value());
  EXPECT_GE(written.error().causes.size(), 2U);
}

// Spec: 002-28
TEST(WriteThroughTest, AFailedFirstWriteLeavesNoRow) {
  WriteWorld world;
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectsAway());
  const auto written = world.Write({.customers = {"hts", "cds"}});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().type, CacheErrorType::kNetwork);
  EXPECT_EQ(world.StoredItems(), 0U);
  EXPECT_EQ(world.ObjectOf(kId), std::nullopt);
}

// All of it but the revision, which is new with each write of the row.
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
TEST(WriteThroughTest, RollbackLeavesWhatAnotherWrote) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != ObjectOperation::kPut) return std::nullopt;
    // Somebody else's upload, whose event is handled while we are trying.
    world.Upload(kSecond);
    EXPECT_EQ(world.Sync(kId), SyncOutcome::kWritten);
    return testing::ObjectFault{{ErrorCode::kDenied, "for the test"}};
  };
  ASSERT_FALSE(world.Write({.title = "third"}).has_value());
  EXPECT_EQ(world.RowOf(kId)->committed->document->json(), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-30
TEST(WriteThroughTest, WhenTheRollbackFailsTooTheErrorNamesBothAndNothingOfItIsServed) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != ObjectOperation::kPut) return std::nullopt;
    world.tables.decide = [](testing::Operation) { return std::optional(testing::Denied()); };
    return testing::ObjectsAway();
  };
  const auto written = world.Write(kSecond);
  ASSERT_FALSE(written.has_value());
  ASSERT_EQ(written.error().causes.size(), 2U);
  EXPECT_NE(written.error().message.find("object store away"), std::string::npos);
  EXPECT_NE(written.error().message.find("access denied"), std::string::npos);

  world.tables.decide = nullptr;
  world.objects.decide = nullptr;
  EXPECT_TRUE(world.RowOf(kId)->intent.has_value());
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kFirst));
  world.PassLease();
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kFirst));
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-32
TEST(WriteThroughTest, TheSameTwiceIsOneRowAndOneObject) {
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

// The row may be stale: only the object says that there is nothing to do.
TEST(WriteThroughTest, TheSameAsAStaleRowIsWritten) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.Upload(kSecond);
  const auto again = world.Write(kFirst);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->changed);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(kFirst));
  EXPECT_TRUE(world.IsEqual(kId));
}

// In threads, with real turns. The one that is there at the end is in both.
// Spec: 002-33
TEST(WriteThroughTest, ConcurrentWritersEndWithTheSameVersionInBoth) {
  WriteWorld world;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      // One gives up when the others, whose waits move the clock, take all of its time: while it
      // waits for its turn, or when it has it and is between the two stores.
      for (int n = 0; n < 10; ++n) {
        const auto written =
            world.Write({.version = i * 100 + n, .title = "of " + std::to_string(i)});
        if (written || written.error().type == CacheErrorType::kConflict ||
            written.error().type == CacheErrorType::kCancelled) {
          continue;
        }
        EXPECT_EQ(written.error().type, CacheErrorType::kUnavailable);
        for (const Error& cause : written.error().causes) {
          EXPECT_NE(cause.message.find("deadline"), std::string::npos) << cause.message;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  world.PassLease();
  ASSERT_TRUE(world.Read(kId).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-34
TEST(WriteThroughTest, AnExpectedVersionThatIsGoneIsAConflict) {
  WriteWorld world;
  const auto first = world.Write(kFirst);
  EXPECT_EQ(world.Write(kSecond, "another").error().type, CacheErrorType::kConflict);
  EXPECT_EQ(world.Write(kSecond, "").error().type, CacheErrorType::kConflict);
  // The row still has what was expected, and the object has not.
  world.Upload({.title = "from outside"});
  EXPECT_EQ(world.Write(kSecond, first->etag).error().type, CacheErrorType::kConflict);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf({.title = "from outside"}));
  EXPECT_TRUE(world.IsEqual(kId));

  const auto now = world.Read(kId);
  EXPECT_TRUE(world.Write(kSecond, now->etag).has_value());
  EXPECT_TRUE(world.Write({.id = "CHG-2"}, "").has_value());
  EXPECT_EQ(world.Write({.id = "CHG-3"}, "any").error().type, CacheErrorType::kConflict);
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
TEST(WriteThroughTest, AnObjectStoreThatFailsTwiceIsTriedAgain) {
  WriteWorld world;
  int left = 2;
  world.objects.decide = [&](ObjectOperation operation) -> std::optional<testing::ObjectFault> {
    if (operation != ObjectOperation::kPut || left-- <= 0) return std::nullopt;
    return testing::ObjectsAway();
  };
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.pauser.pauses(), (std::vector<std::chrono::milliseconds>{
                                       std::chrono::seconds(1), std::chrono::seconds(2)}));
}

// Spec: 002-37
TEST(WriteThroughTest, WhoGivesUpWhileWaitingStopsAtOnceAndRollsBack) {
  WriteWorld world;
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectsAway());
  std::stop_source source;
  world.pauser.on_pause = [&](std::chrono::nanoseconds) { source.request_stop(); };
  const auto written =
      world.writer.Write(world.NewContext(source.get_token()), {.document = DocumentOf(kFirst)});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().type, CacheErrorType::kCancelled);
  EXPECT_TRUE(world.pauser.pauses().empty()) << "nothing was waited for";
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

// A reply that was lost is no failure when the object has our tag.
TEST(WriteThroughTest, ALostReplyIsRecognisedByTheTag) {
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
TEST(WriteThroughTest, ALostRequestIsSentAgain) {
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

// What may still arrive is not rolled back: the intent stays, by which it is settled when it has
// arrived.
TEST(WriteThroughTest, WhatIsNotKnownIsNotRolledBackOnAGuess) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const std::string base = world.RowOf(kId)->committed->etag;
  world.objects.decide = Failing(ObjectOperation::kPut, testing::ObjectRequestLost());
  const auto written = world.Write(kSecond);
  ASSERT_FALSE(written.has_value());
  EXPECT_TRUE(written.error().retryable);
  EXPECT_NE(written.error().message.find("not known"), std::string::npos);
  const auto row = world.RowOf(kId);
  ASSERT_TRUE(row->intent.has_value());
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kFirst));
  // It arrives.
  ASSERT_TRUE(world.memory
                  .Put({.key = ObjectKey(world.options, kId),
                        .bytes = JsonOf(kSecond),
                        .metadata = {{std::string(kTxnMetadata), row->intent->txn}},
                        .if_match = base})
                  ->applied);
  world.PassLease();
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// It may have landed and been replaced: nothing is claimed, and nothing is written over the other.
TEST(WriteThroughTest, WhatWasOvertakenIsNotWrittenAgain) {
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

// Somebody else's version in the object: without an expectation ours goes on top of it.
TEST(WriteThroughTest, AWriteGoesOverWhatCameFromOutside) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  world.Upload({.title = "from outside"});
  ASSERT_TRUE(world.Write(kSecond).has_value());
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// The object has it, so it is a success; the intent is what the row is settled by.
TEST(WriteThroughTest, ARowThatCannotBePromotedIsSettledLater) {
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
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(kSecond));
  EXPECT_TRUE(world.IsEqual(kId));
}

// A writer whose reply to the intent is lost finds its own intent, or withdraws it.
TEST(WriteThroughTest, LostRepliesOfTheTableAreHarmless) {
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

// Another writer's intent is waited for; one that stays is a conflict.
TEST(WriteThroughTest, WritersTakeTurns) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const std::string base = world.RowOf(kId)->committed->etag;
  world.LeaveIntent(kId, {.txn = "other", .base_etag = base});
  const auto waiting = world.Write(kSecond);
  ASSERT_FALSE(waiting.has_value());
  EXPECT_EQ(waiting.error().type, CacheErrorType::kConflict);
  EXPECT_TRUE(waiting.error().retryable);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(kFirst));
  // Now it is stale.
  world.PassLease();
  ASSERT_TRUE(world.Write(kSecond).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-07
TEST(WriteThroughTest, ADocumentThatIsTooLargeBypassesTheCache) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const Draft large{.title = std::string(500'000, 'x')};
  const auto written = world.Write(large);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_FALSE(written->cached);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(large));
  EXPECT_FALSE(world.manager.Get(world.NewContext(), kId).has_value());
  const auto read = world.Read(kId);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->document.json(), JsonOf(large));
  EXPECT_EQ(read->source, ReadSource::kObject);
  ASSERT_TRUE(world.Write(kSecond).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// An older version must not stay where a version that is not cached has come.
// Spec: 002-12
TEST(WriteThroughTest, ADocumentWhoseLifeIsOverIsWrittenAndNotCached) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const Draft old{.created_at = kToday - 100 * kDay};
  const auto written = world.Write(old);
  ASSERT_TRUE(written.has_value());
  EXPECT_FALSE(written->cached);
  EXPECT_EQ(world.ObjectOf(kId), JsonOf(old));
  EXPECT_FALSE(world.manager.Get(world.NewContext(), kId).has_value());
  EXPECT_EQ(world.Read(kId)->document.json(), JsonOf(old));
}

// A tombstone is left, and what was deleted can be written anew.
TEST(WriteThroughTest, DeletingLeavesATombstone) {
  WriteWorld world;
  ASSERT_TRUE(world.Write({.customers = {"hts", "cds"}, .status = "draft"}).has_value());
  const auto deleted = world.Delete(kId);
  ASSERT_TRUE(deleted.has_value()) << deleted.error().message;
  EXPECT_TRUE(deleted->changed);
  EXPECT_EQ(world.ObjectOf(kId), std::nullopt);
  EXPECT_TRUE(world.RowOf(kId)->tombstone.has_value());
  EXPECT_EQ(world.StoredItems(), 1U);
  EXPECT_EQ(world.Read(kId).error().type, CacheErrorType::kNotFound);
  EXPECT_FALSE(world.Delete(kId)->changed);
  EXPECT_FALSE(world.Delete("never-there")->changed);
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// Only drafts and cancelled ones, and by what the object says.
TEST(WriteThroughTest, DeletingAsksTheStatusOfTheObject) {
  WriteWorld world;
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_EQ(world.Delete(kId).error().type, CacheErrorType::kValidation);
  world.Upload({.status = "cancelled"});
  EXPECT_TRUE(world.Delete(kId).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.writer.Delete(world.NewContext(), {.id = "a/b"}).error().type,
            CacheErrorType::kValidation);
}

TEST(WriteThroughTest, ALostReplyToADeleteIsRecognised) {
  for (const auto& fault : {testing::ObjectReplyLost(), testing::ObjectsAway()}) {
    WriteWorld world;
    ASSERT_TRUE(world.Write({.status = "draft"}).has_value());
    world.objects.decide = Failing(ObjectOperation::kDelete, fault);
    EXPECT_EQ(world.Delete(kId).has_value(), fault.applied);
    EXPECT_TRUE(world.IsEqual(kId));
  }
}

// Only the object store, conditional all the same.
TEST(WriteThroughTest, ADisabledCacheIsNotTouched) {
  WriteWorld world({.enabled = false, .rate_per_second = 100'000});
  world.tables.decide = [](testing::Operation) { return std::optional(testing::Denied()); };
  const auto written = world.Write(kFirst);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_EQ(world.Write(kSecond, "another").error().type, CacheErrorType::kConflict);
  EXPECT_EQ(world.Write({.status = "completed"}).error().type, CacheErrorType::kValidation);
  EXPECT_TRUE(world.Write(kSecond, written->etag).has_value());
  const auto read = world.Read(kId);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->document.json(), JsonOf(kSecond));
  EXPECT_EQ(read->source, ReadSource::kObject);
  ASSERT_TRUE(world.Write({.status = "cancelled"}).has_value());
  EXPECT_TRUE(world.Delete(kId).has_value());
  EXPECT_EQ(world.Read(kId).error().type, CacheErrorType::kNotFound);
}

}  // namespace
}  // namespace tidemark::documents
