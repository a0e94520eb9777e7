// Notifications about changed objects, and how they change rows.
#include <string>
#include <vector>

#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

using Fates = std::vector<RecordFate>;

const std::string kKey = "archive/CHG-2025-001.json";

struct EventText {
  std::string name = "ObjectCreated:Put";
  std::string key = kKey;
  std::string sequencer = {};
  std::string bucket = "ccoe-change-metadata";
  std::string source = "aws:s3";
};

std::string RecordOf(const EventText& event) {
  std::string text;
  JsonWriter writer(&text);
  const auto string = [&](std::string_view name, std::string_view value) {
    writer.Key(name);
    writer.String(value);
  };
  const auto begin = [&](std::string_view name) {
    writer.Key(name);
    writer.BeginObject();
  };
  writer.BeginObject();
  string("eventSource", event.source);
  string("eventName", event.name);
  begin("s3");
  begin("bucket");
  string("name", event.bucket);
  writer.EndObject();
  begin("object");
  string("key", event.key);
  if (!event.sequencer.empty()) string("sequencer", event.sequencer);
  writer.EndObject();
  writer.EndObject();
  writer.EndObject();
  return text;
}

std::string NotificationOf(const std::vector<std::string>& records) {
  std::string text = R"({"Records":[)";
  for (const std::string& record : records) text += (text.back() == '[' ? "" : ",") + record;
  return text + "]}";
}

struct EventsTest : ::testing::Test {
  EventReport Handle(const EventText& event) { return HandleAll({RecordOf(event)}); }
  EventReport HandleAll(const std::vector<std::string>& records) {
    return world.events.Handle(world.NewContext(), NotificationOf(records));
  }
  RecordFate FateOf(const EventText& event) { return Handle(event).records.front().fate; }
  void DeleteObject() {
    ASSERT_TRUE(world.memory.Delete({.key = ObjectKey(world.options, kId)}).has_value());
  }

  WriteWorld world;
};

Fates FatesOf(const EventReport& report) {
  Fates fates;
  for (const RecordReport& record : report.records) fates.push_back(record.fate);
  return fates;
}

// Spec: 002-38, 002-49
TEST_F(EventsTest, FindsAnUploadByGetAndByQuery) {
  world.Upload({.customers = {"hts", "cds"}});
  EXPECT_EQ(FateOf({}), RecordFate::kSynced);
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_EQ(world.MustRead(kId).source, ReadSource::kCache);
  const auto found = world.ranges.Read(world.NewContext(),
                                       {.from = kToday - 2 * kDay, .to = kToday, .customer = "cds"},
                                       Beyond::kFlag);
  EXPECT_EQ(found->documents.size(), 1U);
}

// Events of AWS and MinIO, for every way to create an object.
TEST_F(EventsTest, HandlesEveryKindOfCreation) {
  for (const char* name : {"s3:ObjectCreated:Put", "ObjectCreated:Copy",
                           "ObjectCreated:CompleteMultipartUpload", "ObjectCreated:Post"}) {
    world.Upload({.title = name});
    EXPECT_EQ(FateOf({.name = name, .source = "minio:s3"}), RecordFate::kSynced);
    EXPECT_TRUE(world.IsEqual(kId));
  }
}

// Spec: 002-39
TEST_F(EventsTest, ADeletedObjectRemovesItsRow) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  DeleteObject();
  EXPECT_EQ(FateOf({.name = "ObjectRemoved:Delete"}), RecordFate::kSynced);
  EXPECT_TRUE(world.IsEqual(kId));
  EXPECT_TRUE(world.IsAbsent(kId));
  EXPECT_EQ(FateOf({.name = "ObjectRemoved:DeleteMarkerCreated"}), RecordFate::kUnchanged);
}

// Triggers are deleted after each processing while the document lives on.
// Spec: 002-40
TEST_F(EventsTest, IgnoresOtherPrefixes) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const auto row = world.Stored(kId);
  for (const char* key : {"customers/hts/CHG-2025-001.json", "drafts/CHG-2025-001.json",
                          "archive/CHG-2025-001.txt", "archive/x/CHG-2025-001.json"}) {
    EXPECT_EQ(FateOf({.name = "ObjectRemoved:Delete", .key = key}), RecordFate::kIgnored);
    EXPECT_EQ(FateOf({.key = key}), RecordFate::kIgnored);
  }
  EXPECT_EQ(FateOf({.name = "ObjectRemoved:Delete", .bucket = "another"}), RecordFate::kIgnored);
  EXPECT_EQ(FateOf({.name = "ObjectTagging:Put"}), RecordFate::kIgnored);
  EXPECT_EQ(world.Stored(kId), row);
}

// A delete event for an object that exists again changes nothing.
TEST_F(EventsTest, ALateDeleteEventDoesNotRemoveANewObject) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  EXPECT_EQ(FateOf({.name = "ObjectRemoved:Delete"}), RecordFate::kUnchanged);
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-41
TEST_F(EventsTest, AnOlderEventAfterANewerOneChangesNothing) {
  world.Upload(kFirst);
  world.Upload(kSecond);
  EXPECT_EQ(FateOf({.sequencer = "0055AED6DCD90281E6"}), RecordFate::kSynced);
  const auto row = world.Stored(kId);
  EXPECT_EQ(FateOf({.sequencer = "0055AED6DCD90281E5"}), RecordFate::kUnchanged);
  EXPECT_EQ(FateOf({.sequencer = "0055AED6DCD90281E6"}), RecordFate::kUnchanged);
  // Without sequencers the object decides.
  EXPECT_EQ(FateOf({}), RecordFate::kUnchanged);
  EXPECT_EQ(world.Stored(kId), row);
  EXPECT_TRUE(world.IsEqual(kId));
}

// Review: D6
// Senders number their events in different ways. None of them makes a later change unseen.
TEST_F(EventsTest, TheObjectDecidesAndNotTheSequencers) {
  world.Upload(kFirst);
  EXPECT_EQ(FateOf({.sequencer = "FFFFFFFFFFFFFFFF"}), RecordFate::kSynced);
  world.Upload(kSecond);
  EXPECT_EQ(FateOf({.sequencer = "0055AED6DCD90281E5"}), RecordFate::kSynced);
  EXPECT_TRUE(world.IsEqual(kId));
}

// Review: D13
// Only another write can mend it, and that is another event.
TEST_F(EventsTest, ADamagedObjectIsNotAskedForAgain) {
  world.Upload(kFirst);
  world.objects.decide = [](testing::ObjectOperation) -> std::optional<testing::ObjectFault> {
    return testing::ObjectFault{.error = {ErrorCode::kCorrupt, "damaged"}};
  };
  EXPECT_EQ(FateOf({}), RecordFate::kDropped);
}

// Spec: 002-42
TEST_F(EventsTest, APutThatIsRedeliveredAfterTheDeleteMakesNoRow) {
  const auto put = Handle({});
  EXPECT_EQ(FatesOf(put), Fates{RecordFate::kUnchanged});
  EXPECT_FALSE(put.retry);
  EXPECT_EQ(world.StoredItems(), 0U);

  world.Upload(kFirst);
  EXPECT_EQ(FateOf({}), RecordFate::kSynced);
  DeleteObject();
  EXPECT_EQ(FateOf({.name = "ObjectRemoved:Delete"}), RecordFate::kSynced);
  EXPECT_EQ(FateOf({}), RecordFate::kUnchanged);
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-43
TEST_F(EventsTest, DropsMalformedRecordsAndHandlesTheOthers) {
  world.Upload(kFirst);
  const EventReport report = HandleAll(
      {RecordOf({.source = "aws:sns"}), "17", RecordOf({.key = ""}), RecordOf({.bucket = ""}),
       RecordOf({.name = ""}), RecordOf({.key = "archive/%zz.json"}), RecordOf({})});
  Fates expected(6, RecordFate::kDropped);
  expected.push_back(RecordFate::kSynced);
  EXPECT_EQ(FatesOf(report), expected);
  EXPECT_FALSE(report.retry);
  EXPECT_TRUE(world.IsEqual(kId));
  for (const char* json : {"", "{", "[]", "{}", R"({"Records":1})"}) {
    const EventReport bad = world.events.Handle(world.NewContext(), json);
    EXPECT_EQ(FatesOf(bad), Fates{RecordFate::kDropped}) << json;
    EXPECT_FALSE(bad.retry);
  }
  EXPECT_NE(world.Logged().find("an event was dropped"), std::string::npos);
}

// An object that is not a document is not retried for ever, and the previous version is not served
// any more.
TEST_F(EventsTest, DropsAnObjectThatIsNotADocument) {
  ASSERT_TRUE(world.memory.Put({.key = kKey, .bytes = "{"}).has_value());
  const EventReport report = Handle({});
  EXPECT_EQ(FatesOf(report), Fates{RecordFate::kDropped});
  EXPECT_FALSE(report.retry);
}

// Spec: 002-44
TEST_F(EventsTest, IgnoresTheTestEvent) {
  const EventReport report = world.events.Handle(
      world.NewContext(),
      R"({"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"ccoe-change-metadata"})");
  EXPECT_TRUE(report.records.empty());
  EXPECT_FALSE(report.retry);
}

// Spec: 002-45
TEST_F(EventsTest, OurOwnWritesChangeNoRow) {
  ASSERT_TRUE(world.Write(kFirst).has_value());
  const auto row = world.Stored(kId);
  EXPECT_EQ(FateOf({.sequencer = "1"}), RecordFate::kUnchanged);
  EXPECT_EQ(world.Stored(kId), row);
  // Also when the event is handled before the writer has written the row.
  const auto handle = [&](testing::ObjectOperation operation) {
    if (operation == testing::ObjectOperation::kPut) {
      EXPECT_EQ(FateOf({.sequencer = "2"}), RecordFate::kUnchanged);
    }
  };
  world.objects.after = handle;
  ASSERT_TRUE(world.Write(kSecond).has_value());
  EXPECT_TRUE(world.IsEqual(kId));
}

// Spec: 002-46
TEST_F(EventsTest, DecodesKeys) {
  const std::string id = "CHG 2025+ä%";
  world.Upload({.id = id});
  EXPECT_EQ(FateOf({.key = "archive/CHG+2025%2B%C3%a4%25.json"}), RecordFate::kSynced);
  EXPECT_TRUE(world.IsEqual(id));
}

// Spec: 002-47
TEST_F(EventsTest, ThrottlingIsRetriedAndThenReported) {
  world.Upload(kFirst);
  int left = 2;
  const auto throttle = [&](testing::Operation) {
    return left-- > 0 ? std::optional(testing::Throttled()) : std::nullopt;
  };
  world.tables.decide = throttle;
  EXPECT_EQ(FateOf({}), RecordFate::kSynced);
  world.Upload(kSecond);
  left = 1000;
  const EventReport report = Handle({});
  EXPECT_EQ(FatesOf(report), Fates{RecordFate::kFailed});
  EXPECT_TRUE(report.retry);
  world.tables.decide = nullptr;
  EXPECT_EQ(FateOf({}), RecordFate::kSynced);
}

// When access is denied because of wrong rights, no event is lost.
TEST_F(EventsTest, AStoreThatDeniesAccessIsAskedAgainLater) {
  world.Upload(kFirst);
  world.tables.decide = [](testing::Operation) { return std::optional(testing::Denied()); };
  const EventReport report = Handle({});
  EXPECT_EQ(FatesOf(report), Fates{RecordFate::kFailed});
  EXPECT_TRUE(report.retry);
}

// Spec: 002-48
TEST_F(EventsTest, EachRecordIsLogged) {
  world.Upload(kFirst);
  int left = 1;
  const auto throttle = [&](testing::Operation) {
    return left-- > 0 ? std::optional(testing::Throttled()) : std::nullopt;
  };
  world.tables.decide = throttle;
  Handle({});
  const std::string log = world.Logged();
  for (const char* field : {"operation=event", "key=archive/CHG-2025-001.json", "duration_ms=100",
                            "outcome=synced", "retries=1"}) {
    EXPECT_NE(log.find(field), std::string::npos) << field << " in " << log;
  }
}

// The handler ends before the time limit and reports the remaining records as failed, so that they
// are sent again.
// Spec: 002-76
TEST_F(EventsTest, ASlowStoreEndsInARetryableFailureBeforeTheLimit) {
  world.objects.decide = [&](testing::ObjectOperation) {
    world.Pass(std::chrono::seconds(9));
    return std::optional(testing::ObjectsAway());
  };
  const auto began = world.clock.Monotonic();
  const EventReport report =
      HandleAll({RecordOf({}), RecordOf({.key = "archive/CHG-2.json"}), RecordOf({.key = "x"})});
  EXPECT_LE(world.clock.Monotonic() - began, std::chrono::seconds(30));
  EXPECT_EQ(FatesOf(report),
            (Fates{RecordFate::kFailed, RecordFate::kFailed, RecordFate::kIgnored}));
  EXPECT_TRUE(report.retry);
}

// Spec: 002-77
TEST_F(EventsTest, NormalPathsNeedOnlyTheRightsOfTheSeed) {
  // A transaction of puts and deletes needs the rights to put and to delete.
  const auto allow = [](testing::Operation operation) -> std::optional<testing::Fault> {
    switch (operation) {
      case testing::Operation::kGet:
      case testing::Operation::kPut:
      case testing::Operation::kDelete:
      case testing::Operation::kRead:
      case testing::Operation::kTransact:
      case testing::Operation::kDescribe:
        return std::nullopt;
      default:
        return testing::Denied();
    }
  };
  world.tables.decide = allow;
  ASSERT_TRUE(world.Write({.customers = {"hts", "cds"}, .status = "draft"}).has_value());
  ASSERT_TRUE(world.Write({.customers = {"cds"}}).has_value());
  ASSERT_TRUE(world.IsFound(kId));
  ASSERT_TRUE(world.Write({.status = "cancelled"}).has_value());
  ASSERT_TRUE(world.ranges.Read(world.NewContext(), {.from = 0, .to = kToday, .type = "change"},
                                Beyond::kFlag));
  ASSERT_TRUE(world.Delete(kId).has_value());
  world.Upload(kFirst);
  EXPECT_EQ(FateOf({}), RecordFate::kSynced);
  world.LeaveIntent("CHG-2", {.txn = "dead"});
  world.PassLease();
  EXPECT_EQ(world.synchronizer.SettleStale(world.NewContext())->settled, 1U);
  ASSERT_TRUE(world.repairs.Note(world.NewContext(), kId).has_value());
  world.PassLease();
  EXPECT_EQ(world.repairs.Run(world.NewContext())->repaired, 1U);
}

}  // namespace
}  // namespace tidemark::documents
