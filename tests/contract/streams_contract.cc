// Streams have one record for every change, in order, and keep it for a day.
#include <set>

#include "tables/stream_reader.h"
#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

using tables::ChangeKind;
using tables::IteratorKind;
using tables::RecordsOutcome;
using tables::RecordsReply;
using tables::StreamRecord;
using tables::StreamView;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

class StreamsContract : public Contract {
 protected:
  void CreateWith(StreamView view) {
    tables::CreateTableRequest request = Users();
    request.stream = view;
    Create(request);
  }
  std::vector<StreamRecord> Records() { return ReadStream(LatestArn("users")); }
  // The ids of the items that changed, in order.
  std::vector<Value> Ids() {
    std::vector<Value> ids;
    for (const StreamRecord& record : Records()) ids.push_back(*record.keys.Find("id"));
    return ids;
  }
  // Puts an item, changes it and deletes it.
  void WriteOneLife() {
    Put("users", {{"id", "a"}, {"n", Num(1)}});
    Must(tables().Update(
        {.table = "users", .key = User("a"), .update = "SET n = :n", .values = {{":n", Num(2)}}}));
    Must(tables().Delete({.table = "users", .key = User("a")}));
  }
  RecordsReply Read(const std::string& iterator, size_t limit = 1000) {
    return Must(tables().GetRecords({.iterator = iterator, .limit = limit}));
  }
  void Disable() {
    Must(
        tables().UpdateTable({.table = "users", .stream = tables::UpdateStream{.enabled = false}}));
  }
  void Enable() {
    Must(tables().UpdateTable(
        {.table = "users", .stream = tables::UpdateStream{.view = StreamView::kNewImage}}));
  }
  const Item first_{{"id", "a"}, {"n", Num(1)}};
  const Item second_{{"id", "a"}, {"n", Num(2)}};
};
INSTANTIATE_TEST_SUITE_P(Every, StreamsContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(StreamsContract, RecordsEveryChange) {
  CreateWith(StreamView::kNewAndOldImages);
  WriteOneLife();
  const std::vector<StreamRecord> records = Records();
  ASSERT_THAT(records, SizeIs(3));
  EXPECT_EQ(records[0].kind, ChangeKind::kInsert);
  EXPECT_EQ(records[0].old_image, std::nullopt);
  EXPECT_EQ(records[0].new_image, first_);
  EXPECT_EQ(records[1].kind, ChangeKind::kModify);
  EXPECT_EQ(records[1].old_image, first_);
  EXPECT_EQ(records[1].new_image, second_);
  EXPECT_EQ(records[2].kind, ChangeKind::kRemove);
  EXPECT_EQ(records[2].old_image, second_);
  EXPECT_EQ(records[2].new_image, std::nullopt);
  for (const StreamRecord& record : records) {
    EXPECT_EQ(record.keys, User("a"));
    EXPECT_EQ(record.view, StreamView::kNewAndOldImages);
    EXPECT_EQ(record.created_at, clock().NowSeconds());
    EXPECT_FALSE(record.expired);
  }
}

TEST_P(StreamsContract, CarriesWhatItsViewSays) {
  for (const StreamView view :
       {StreamView::kKeysOnly, StreamView::kNewImage, StreamView::kOldImage}) {
    CreateWith(view);
    WriteOneLife();
    const std::vector<StreamRecord> records = Records();
    ASSERT_THAT(records, SizeIs(3));
    const bool has_old = view == StreamView::kOldImage;
    const bool has_new = view == StreamView::kNewImage;
    EXPECT_EQ(records[0].old_image, std::nullopt);
    EXPECT_EQ(records[1].old_image, has_old ? std::optional(first_) : std::nullopt);
    EXPECT_EQ(records[2].old_image, has_old ? std::optional(second_) : std::nullopt);
    EXPECT_EQ(records[0].new_image, has_new ? std::optional(first_) : std::nullopt);
    EXPECT_EQ(records[1].new_image, has_new ? std::optional(second_) : std::nullopt);
    EXPECT_EQ(records[2].new_image, std::nullopt);
    for (const StreamRecord& record : records) {
      EXPECT_EQ(record.keys, User("a"));
      EXPECT_EQ(record.view, view);
    }
    Must(tables().DeleteTable("users"));
    clock().Advance(std::chrono::seconds(1));
  }
}

TEST_P(StreamsContract, AKeyAloneIsAnImage) {
  CreateWith(StreamView::kNewAndOldImages);
  Put("users", User("a"));
  ASSERT_THAT(Records(), SizeIs(1));
  EXPECT_EQ(Records()[0].new_image, User("a"));
}

TEST_P(StreamsContract, AWriteThatChangesNothingMakesNoRecord) {
  CreateWith(StreamView::kKeysOnly);
  const Item item{{"id", "a"},
                  {"n", Num(1)},
                  {"s", item::StringSet({"x", "y"})},
                  {"m", item::Map{{"k", "v"}, {"l", "w"}}}};
  Put("users", item);
  Put("users", item);
  Put("users", {{"m", item::Map{{"l", "w"}, {"k", "v"}}},
                {"s", item::StringSet({"y", "x"})},
                {"n", Num("1.0")},
                {"id", "a"}});
  Must(tables().Update({.table = "users", .key = User("a")}));
  Must(tables().Update({.table = "users",
                        .key = User("a"),
                        .update = "SET n = :n REMOVE nothing ADD s :x",
                        .values = {{":n", Num(1)}, {":x", item::StringSet({"x"})}}}));
  Must(tables().Update({.table = "users", .key = User("absent"), .update = "REMOVE n"}));
  Must(tables().Delete({.table = "users", .key = User("absent")}));
  Must(tables().BatchWrite({.tables = {{"users",
                                        {tables::BatchWriteRequest::Put{item},
                                         tables::BatchWriteRequest::Delete{User("absent")}}}}}));
  Must(tables().TransactWrite({.actions = {tables::PutRequest{.table = "users", .item = item}}}));
  EXPECT_FALSE(
      Must(tables().Put(
               {.table = "users", .item = User("a"), .condition = "attribute_not_exists(id)"}))
          .applied);
  EXPECT_THAT(Records(), SizeIs(1));
}

TEST_P(StreamsContract, ACancelledTransactionLeavesNoRecord) {
  CreateWith(StreamView::kKeysOnly);
  Must(tables().TransactWrite(
      {.actions = {
           tables::PutRequest{.table = "users", .item = User("a")},
           tables::PutRequest{
               .table = "users", .item = User("b"), .condition = "attribute_exists(id)"}}}));
  EXPECT_THAT(Records(), IsEmpty());
}

// There is one order over all items, and the numbers sort as texts in that order.
TEST_P(StreamsContract, KeepsTheOrderOfAllWrites) {
  CreateWith(StreamView::kNewImage);
  std::vector<Value> expected;
  for (int i = 0; i < 200; ++i) {
    const std::string id = std::to_string(i * 37 % 50);
    Put("users", {{"id", id}, {"n", Num(i)}});
    expected.emplace_back(id);
  }
  EXPECT_EQ(Ids(), expected);
  std::string previous;
  for (const StreamRecord& record : Records()) {
    EXPECT_EQ(record.sequence.size(), 21U);
    EXPECT_EQ(record.sequence.find_first_not_of("0123456789"), std::string::npos);
    EXPECT_GT(record.sequence, previous);
    previous = record.sequence;
  }
}

TEST_P(StreamsContract, RecordsBatchesAndTransactions) {
  CreateWith(StreamView::kKeysOnly);
  Must(tables().TransactWrite(
      {.actions = {tables::PutRequest{.table = "users", .item = User("b")},
                   tables::PutRequest{.table = "users", .item = User("a")}}}));
  Must(tables().BatchWrite({.tables = {{"users",
                                        {tables::BatchWriteRequest::Put{User("c")},
                                         tables::BatchWriteRequest::Delete{User("b")}}}}}));
  EXPECT_THAT(Ids(), UnorderedElementsAreArray(std::vector<Value>{"a", "b", "c", "b"}));
}

TEST_P(StreamsContract, ATableWithoutStreamHasNone) {
  Create(Users());
  Put("users", User("a"));
  EXPECT_FALSE(Must(tables().DescribeTable("users")).latest_stream.has_value());
  EXPECT_THAT(Must(tables().ListStreams({})).streams, IsEmpty());
  EXPECT_THAT(
      tables().UpdateTable({.table = "users", .stream = tables::UpdateStream{.enabled = false}}),
      FailsWith(ErrorCode::kInvalid));
}

TEST_P(StreamsContract, BeginsWhenItIsEnabled) {
  Create(Users());
  Put("users", User("a"));
  const auto table = Must(tables().UpdateTable(
      {.table = "users", .stream = tables::UpdateStream{.view = StreamView::kNewImage}}));
  ASSERT_TRUE(table.latest_stream.has_value());
  EXPECT_EQ(table.latest_stream->view, StreamView::kNewImage);
  Put("users", {{"id", "a"}, {"n", Num(1)}});
  ASSERT_THAT(Records(), SizeIs(1));
  EXPECT_EQ(Records()[0].kind, ChangeKind::kModify);
  EXPECT_THAT(tables().UpdateTable({.table = "users", .stream = tables::UpdateStream{}}),
              Fails(ErrorCode::kInvalid, "already has an enabled stream"));
}

TEST_P(StreamsContract, DescribesAStream) {
  CreateWith(StreamView::kOldImage);
  const auto summary = Must(tables().DescribeTable("users")).latest_stream.value();
  const tables::StreamDescription stream = Must(tables().DescribeStream(summary.arn));
  EXPECT_EQ(stream.arn, summary.arn);
  EXPECT_EQ(stream.label, summary.label);
  EXPECT_EQ(stream.table, "users");
  EXPECT_EQ(stream.keys, Users().keys);
  EXPECT_EQ(stream.view, StreamView::kOldImage);
  EXPECT_TRUE(stream.enabled);
  EXPECT_EQ(stream.created_at, clock().NowSeconds());
  ASSERT_THAT(stream.shards, SizeIs(::testing::Ge(1U)));
  EXPECT_GE(stream.shards[0].id.size(), 28U);
  EXPECT_LE(stream.shards[0].id.size(), 65U);
  EXPECT_EQ(stream.shards[0].first_sequence.size(), 21U);
  EXPECT_EQ(stream.shards[0].last_sequence, std::nullopt);
  EXPECT_EQ(stream.label.substr(0, 14), "2023-11-14T22:");
  EXPECT_NE(stream.arn.find("users"), std::string::npos);
  EXPECT_NE(stream.arn.find(stream.label), std::string::npos);
}

// ---- Iterators ----

TEST_P(StreamsContract, IteratorsBeginWhereTheySay) {
  CreateWith(StreamView::kKeysOnly);
  const std::string arn = LatestArn("users");
  for (const char* id : {"a", "b", "c"}) Put("users", User(id));
  const std::string second = Records()[1].sequence;
  auto ids_from = [&](const std::string& iterator) {
    std::vector<Value> ids;
    for (const StreamRecord& record : Read(iterator).records)
      ids.push_back(*record.keys.Find("id"));
    return ids;
  };
  const std::string latest = IteratorOf(arn, IteratorKind::kLatest);
  EXPECT_THAT(ids_from(IteratorOf(arn)), ElementsAre(Value("a"), Value("b"), Value("c")));
  EXPECT_THAT(ids_from(IteratorOf(arn, IteratorKind::kAtSequence, second)),
              ElementsAre(Value("b"), Value("c")));
  EXPECT_THAT(ids_from(IteratorOf(arn, IteratorKind::kAfterSequence, second)),
              ElementsAre(Value("c")));
  EXPECT_THAT(ids_from(latest), IsEmpty());
  Put("users", User("d"));
  EXPECT_THAT(ids_from(latest), ElementsAre(Value("d")));
  EXPECT_THAT(ids_from(IteratorOf(arn, IteratorKind::kLatest)), IsEmpty());
}

TEST_P(StreamsContract, ReadsInPagesAndWaitsAtTheEnd) {
  CreateWith(StreamView::kKeysOnly);
  std::string iterator = IteratorOf(LatestArn("users"));
  for (int i = 0; i < 5; ++i) Put("users", User(std::to_string(i)));
  for (const size_t expected : {2U, 2U, 1U, 0U, 0U}) {
    const RecordsReply reply = Read(iterator, 2);
    EXPECT_EQ(reply.outcome, RecordsOutcome::kOk);
    EXPECT_THAT(reply.records, SizeIs(expected));
    ASSERT_TRUE(reply.next.has_value());
    iterator = *reply.next;
  }
  Put("users", User("more"));
  EXPECT_THAT(Read(iterator).records, SizeIs(1));
}

// Large records are returned in several pages, and none is lost.
TEST_P(StreamsContract, ReadsLargeRecords) {
  CreateWith(StreamView::kNewAndOldImages);
  for (int i = 0; i < 8; ++i)
    Put("users", {{"id", "a"}, {"data", Text(400'000, static_cast<char>('a' + i))}});
  EXPECT_THAT(Records(), SizeIs(8));
}

TEST_P(StreamsContract, IteratorsExpire) {
  CreateWith(StreamView::kKeysOnly);
  Put("users", User("a"));
  const std::string iterator = IteratorOf(LatestArn("users"));
  clock().Advance(std::chrono::seconds(899));
  const RecordsReply in_time = Read(iterator);
  EXPECT_EQ(in_time.outcome, RecordsOutcome::kOk);
  EXPECT_THAT(in_time.records, SizeIs(1));
  clock().Advance(std::chrono::seconds(2));
  const RecordsReply late = Read(iterator);
  EXPECT_EQ(late.outcome, RecordsOutcome::kExpired);
  EXPECT_THAT(late.records, IsEmpty());
  // The iterator that came with the page is newer.
  EXPECT_EQ(Read(*in_time.next).outcome, RecordsOutcome::kOk);
}

TEST_P(StreamsContract, RefusesWrongRequests) {
  CreateWith(StreamView::kKeysOnly);
  const std::string arn = LatestArn("users");
  const std::string shard = Must(tables().DescribeStream(arn)).shards[0].id;
  std::string other = arn;
  other.back() = other.back() == '9' ? '8' : '9';
  EXPECT_THAT(tables().DescribeStream(other),
              Fails(ErrorCode::kNotFound, "Requested resource not found"));
  EXPECT_THAT(tables().GetShardIterator({.arn = other, .shard = shard}),
              FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(
      tables().GetShardIterator({.arn = arn, .shard = "shardId-00000000000000000999-99999999"}),
      FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(
      tables().GetShardIterator({.arn = arn, .shard = shard, .kind = IteratorKind::kAtSequence}),
      FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(
      tables().GetShardIterator(
          {.arn = arn, .shard = shard, .kind = IteratorKind::kAfterSequence, .sequence = "x"}),
      FailsWith(ErrorCode::kInvalid));
  const std::string iterator = IteratorOf(arn);
  EXPECT_THAT(tables().GetRecords({.iterator = iterator, .limit = 0}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().GetRecords({.iterator = iterator, .limit = 1001}),
              FailsWith(ErrorCode::kInvalid));
  for (const std::string& wrong : {std::string(), std::string("nonsense"), iterator + "x"}) {
    EXPECT_THAT(tables().GetRecords({.iterator = wrong}), FailsWith(ErrorCode::kInvalid)) << wrong;
  }
}

// ---- Trimming ----

TEST_P(StreamsContract, TrimsAfterADay) {
  CreateWith(StreamView::kKeysOnly);
  const std::string arn = LatestArn("users");
  Put("users", User("old"));
  const std::string old = Records()[0].sequence;
  clock().Advance(std::chrono::hours(23) + std::chrono::minutes(59));
  Maintain();
  EXPECT_THAT(Ids(), ElementsAre(Value("old")));
  Put("users", User("new"));
  const std::string pointing = IteratorOf(arn, IteratorKind::kAtSequence, old);
  clock().Advance(std::chrono::minutes(2));
  // The answers are the same before and after housekeeping.
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Ids(), ElementsAre(Value("new")));
    EXPECT_EQ(Read(pointing).outcome, RecordsOutcome::kTrimmed);
    Maintain();
  }
  EXPECT_THAT(Column(ScanAll({.table = "users"}), "id"), SizeIs(2));
}

// An iterator for a trimmed record is refused when it is requested or when it is used.
TEST_P(StreamsContract, ReportsATrimmedSequence) {
  CreateWith(StreamView::kKeysOnly);
  const std::string arn = LatestArn("users");
  Put("users", User("old"));
  const std::string old = Records()[0].sequence;
  clock().Advance(std::chrono::hours(25));
  Put("users", User("new"));
  Maintain();
  const auto iterator =
      tables().GetShardIterator({.arn = arn,
                                 .shard = Must(tables().DescribeStream(arn)).shards[0].id,
                                 .kind = IteratorKind::kAtSequence,
                                 .sequence = old});
  if (iterator) {
    EXPECT_EQ(Read(*iterator).outcome, RecordsOutcome::kTrimmed);
  }
}

// ---- Closed streams ----

TEST_P(StreamsContract, ADisabledStreamStaysReadable) {
  CreateWith(StreamView::kKeysOnly);
  const std::string arn = LatestArn("users");
  Put("users", User("a"));
  Put("users", User("b"));
  Disable();
  Put("users", User("unseen"));
  const auto summary = Must(tables().DescribeTable("users")).latest_stream;
  ASSERT_TRUE(summary.has_value());
  EXPECT_FALSE(summary->enabled);
  const tables::StreamDescription stream = Must(tables().DescribeStream(arn));
  EXPECT_FALSE(stream.enabled);
  ASSERT_THAT(stream.shards, SizeIs(::testing::Ge(1U)));
  for (const tables::Shard& shard : stream.shards) EXPECT_TRUE(shard.last_sequence.has_value());
  EXPECT_THAT(ReadStream(arn), SizeIs(2));
  // A closed shard has an end.
  const RecordsReply first = Read(IteratorOf(arn), 1);
  ASSERT_TRUE(first.next.has_value());
  std::optional<std::string> next = first.next;
  size_t rest = 0;
  for (int pages = 0; next && pages < 3; ++pages) {
    const RecordsReply reply = Read(*next, 1);
    rest += reply.records.size();
    next = reply.next;
  }
  EXPECT_EQ(rest, 1U);
  EXPECT_EQ(next, std::nullopt);
}

TEST_P(StreamsContract, AClosedEmptyShardEndsAtOnce) {
  CreateWith(StreamView::kKeysOnly);
  const std::string iterator = IteratorOf(LatestArn("users"));
  Disable();
  const RecordsReply reply = Read(iterator);
  EXPECT_THAT(reply.records, IsEmpty());
  EXPECT_EQ(reply.next, std::nullopt);
}

TEST_P(StreamsContract, EnablingAgainMakesAnotherStream) {
  CreateWith(StreamView::kKeysOnly);
  const std::string old_arn = LatestArn("users");
  Put("users", User("a"));
  Disable();
  // Also within the same millisecond.
  Enable();
  const std::string new_arn = LatestArn("users");
  EXPECT_NE(new_arn, old_arn);
  Put("users", User("b"));
  EXPECT_THAT(ReadStream(old_arn), SizeIs(1));
  ASSERT_THAT(ReadStream(new_arn), SizeIs(1));
  EXPECT_EQ(ReadStream(new_arn)[0].new_image, User("b"));
  EXPECT_THAT(Must(tables().ListStreams({.table = "users"})).streams, SizeIs(2));
}

// A follower of a table reads its streams in the order of their labels.
TEST_P(StreamsContract, AFollowerContinuesWhenTheClockWentBack) {
  CreateWith(StreamView::kKeysOnly);
  tables::StreamReader reader(tables(), "users");
  tables::StreamPosition position;
  auto next_ids = [&] {
    const tables::StreamPage page = Must(reader.Read(position, 10));
    std::vector<Value> ids;
    for (const StreamRecord& record : page.records) {
      ids.push_back(*record.keys.Find("id"));
      position = page.PositionAfter(record);
    }
    return ids;
  };
  Put("users", User("a"));
  EXPECT_THAT(next_ids(), ElementsAre(Value("a")));
  for (const char* id : {"b", "c"}) {
    Disable();
    clock().SetNow(clock().NowSeconds() - 3'600);
    Enable();
    Put("users", User(id));
    EXPECT_THAT(next_ids(), ElementsAre(Value(id)));
  }
  // The same when the table was deleted and created again.
  Must(tables().DeleteTable("users"));
  CreateWith(StreamView::kKeysOnly);
  Put("users", User("d"));
  EXPECT_THAT(next_ids(), ElementsAre(Value("d")));
}

TEST_P(StreamsContract, ADeletedTablesStreamStaysReadable) {
  CreateWith(StreamView::kKeysOnly);
  const std::string arn = LatestArn("users");
  Put("users", User("a"));
  Must(tables().DeleteTable("users"));
  EXPECT_THAT(ReadStream(arn), SizeIs(1));
  EXPECT_FALSE(Must(tables().DescribeStream(arn)).enabled);
  CreateWith(StreamView::kKeysOnly);
  EXPECT_NE(LatestArn("users"), arn);
  EXPECT_THAT(Records(), IsEmpty());
  EXPECT_THAT(ReadStream(arn), SizeIs(1));
  clock().Advance(std::chrono::hours(25));
  Maintain();
  EXPECT_THAT(tables().DescribeStream(arn), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(Must(tables().ListStreams({})).streams, SizeIs(1));
}

TEST_P(StreamsContract, ListsInPages) {
  std::set<std::string> arns;
  for (const char* name : {"aaa", "bbb", "ccc", "ddd", "eee"}) {
    tables::CreateTableRequest request{.table = name, .keys = {StringKey("id")}};
    request.stream = StreamView::kKeysOnly;
    arns.insert(Create(request).latest_stream.value().arn);
  }
  EXPECT_THAT(Must(tables().ListStreams({})).streams, SizeIs(5));
  EXPECT_EQ(Must(tables().ListStreams({})).last_arn, std::nullopt);
  std::vector<std::string> seen;
  std::optional<std::string> after;
  do {
    const tables::ListStreamsReply page =
        Must(tables().ListStreams({.after_arn = after, .limit = 2}));
    EXPECT_LE(page.streams.size(), 2U);
    for (const auto& stream : page.streams) seen.push_back(stream.arn);
    after = page.last_arn;
  } while (after);
  EXPECT_THAT(seen, UnorderedElementsAreArray(arns));
  const tables::ListStreamsReply one = Must(tables().ListStreams({.table = "ccc"}));
  ASSERT_THAT(one.streams, SizeIs(1));
  EXPECT_EQ(one.streams[0].table, "ccc");
  EXPECT_THAT(tables().ListStreams({.limit = 0}), FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().ListStreams({.limit = 101}), FailsWith(ErrorCode::kInvalid));
}

}  // namespace
}  // namespace tidemark::contract
