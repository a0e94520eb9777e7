#include "tables/embedded/streams.h"

#include <gtest/gtest.h>

#include "tables/limits.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

using item::Item;
using item::Number;
using tables::ChangeKind;
using tables::IteratorKind;
using tables::RecordsOutcome;
using tables::StreamView;

constexpr const char* kStreamsTable = "things";

Item Numbered(int64_t n) { return {{"id", "a"}, {"n", Number::FromInt(n)}}; }

class StreamsTest : public ::testing::Test {
 protected:
  void Create(StreamView view = StreamView::kNewAndOldImages) {
    const auto made = tables_->CreateTable(
        {.table = kStreamsTable, .keys = {.partition = {.name = "id"}}, .stream = view});
    ASSERT_TRUE(made.has_value());
    stream_ = *tables_->DescribeStream(made->latest_stream->arn);
  }

  void Put(const Item& item) {
    ASSERT_TRUE(tables_->Put({.table = kStreamsTable, .item = item}).has_value());
  }
  void Delete() {
    ASSERT_TRUE(tables_->Delete({.table = kStreamsTable, .key = {{"id", "a"}}}).has_value());
  }

  std::string Iterator(IteratorKind kind = IteratorKind::kTrimHorizon,
                       std::optional<std::string> sequence = std::nullopt) {
    const auto iterator = tables_->GetShardIterator({.arn = stream_.arn,
                                                     .shard = stream_.shards[0].id,
                                                     .kind = kind,
                                                     .sequence = std::move(sequence)});
    CHECK(iterator.has_value());
    return *iterator;
  }

  tables::RecordsReply Read(const std::string& iterator, size_t limit = 1'000) {
    const auto reply = tables_->GetRecords({.iterator = iterator, .limit = limit});
    CHECK(reply.has_value());
    return *reply;
  }
  std::vector<tables::StreamRecord> Records() { return Read(Iterator()).records; }

  DataFolder folder_;
  std::unique_ptr<EmbeddedTables> tables_ = folder_.Open();
  tables::StreamDescription stream_;
};

// An insert, a change and a removal each have a record with the old and new image. The numbers have
// no gaps.
TEST_F(StreamsTest, EveryChangeLeavesARecord) {
  Create();
  Put(Numbered(1));
  Put(Numbered(2));
  Delete();
  const auto records = Records();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].kind, ChangeKind::kInsert);
  EXPECT_EQ(records[0].old_image, std::nullopt);
  EXPECT_EQ(records[0].new_image, Numbered(1));
  EXPECT_EQ(records[1].kind, ChangeKind::kModify);
  EXPECT_EQ(records[1].old_image, Numbered(1));
  EXPECT_EQ(records[1].new_image, Numbered(2));
  EXPECT_EQ(records[2].kind, ChangeKind::kRemove);
  EXPECT_EQ(records[2].old_image, Numbered(2));
  EXPECT_EQ(records[2].new_image, std::nullopt);
  for (const auto& record : records) {
    EXPECT_EQ(record.keys, (Item{{"id", "a"}}));
    EXPECT_EQ(record.created_at, folder_.clock().NowSeconds());
    EXPECT_FALSE(record.expired);
  }
  EXPECT_EQ(records[0].sequence, "000000000000000000001");
  EXPECT_EQ(records[2].sequence, "000000000000000000003");
}

TEST_F(StreamsTest, AWriteThatChangesNothingLeavesNoRecord) {
  Create();
  Put(Numbered(1));
  Put(Numbered(1));
  Delete();
  Delete();
  EXPECT_EQ(Records().size(), 2u);
}

// A consumer may not be allowed to see what a view leaves out.
TEST_F(StreamsTest, AViewShowsWhatItSays) {
  for (StreamView view : {StreamView::kKeysOnly, StreamView::kNewImage, StreamView::kOldImage}) {
    Create(view);
    Put(Numbered(1));
    Put(Numbered(2));
    const auto records = Records();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].old_image.has_value(), view == StreamView::kOldImage);
    EXPECT_EQ(records[1].new_image.has_value(), view == StreamView::kNewImage);
    ASSERT_TRUE(tables_->DeleteTable(kStreamsTable).has_value());
    folder_.clock().Advance(std::chrono::seconds(1));
  }
}

TEST_F(StreamsTest, IteratorsBeginWhereTheySay) {
  Create();
  for (int n = 1; n <= 3; ++n) Put(Numbered(n));
  const std::string second = Records()[1].sequence;
  EXPECT_EQ(Read(Iterator(IteratorKind::kAtSequence, second)).records.size(), 2u);
  EXPECT_EQ(Read(Iterator(IteratorKind::kAfterSequence, second)).records.size(), 1u);
  const std::string latest = Iterator(IteratorKind::kLatest);
  EXPECT_TRUE(Read(latest).records.empty());
  Put(Numbered(4));
  ASSERT_EQ(Read(latest).records.size(), 1u);
  EXPECT_EQ(Read(latest).records[0].new_image, Numbered(4));
}

TEST_F(StreamsTest, PagesFollowEachOtherWithoutGapOrOverlap) {
  Create();
  for (int n = 1; n <= 5; ++n) Put(Numbered(n));
  std::optional<std::string> iterator = Iterator();
  for (int n = 1; n <= 5; ++n) {
    const auto reply = Read(*iterator, 1);
    ASSERT_EQ(reply.records.size(), 1u);
    EXPECT_EQ(reply.records[0].new_image, Numbered(n));
    iterator = reply.next;
    ASSERT_TRUE(iterator.has_value());
  }
  EXPECT_TRUE(Read(*iterator).records.empty());
}

// A closed shard has an end, so a consumer that read all records does not wait for more.
TEST_F(StreamsTest, AClosedStreamEnds) {
  Create();
  Put(Numbered(1));
  ASSERT_TRUE(
      tables_
          ->UpdateTable({.table = kStreamsTable, .stream = tables::UpdateStream{.enabled = false}})
          .has_value());
  Put(Numbered(2));
  const auto reply = Read(Iterator());
  EXPECT_EQ(reply.records.size(), 1u);
  EXPECT_EQ(reply.next, std::nullopt);
  const auto description = tables_->DescribeStream(stream_.arn);
  EXPECT_FALSE(description->enabled);
  EXPECT_EQ(description->shards[0].last_sequence, reply.records[0].sequence);
}

// Housekeeping never runs here, so expired records are not trimmed. They must not be returned.
TEST_F(StreamsTest, RecordsPastTheirDayAreGoneWithoutHousekeeping) {
  Create();
  Put(Numbered(1));
  const std::string first = Records()[0].sequence;
  folder_.clock().Advance(tables::kStreamRetention);
  Put(Numbered(2));
  const auto records = Records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].new_image, Numbered(2));
  EXPECT_EQ(Read(Iterator(IteratorKind::kAtSequence, first)).outcome, RecordsOutcome::kTrimmed);
}

TEST_F(StreamsTest, AnIteratorLastsFifteenMinutes) {
  Create();
  Put(Numbered(1));
  const std::string iterator = Iterator();
  folder_.clock().Advance(tables::kIteratorLife - std::chrono::seconds(1));
  EXPECT_EQ(Read(iterator).outcome, RecordsOutcome::kOk);
  folder_.clock().Advance(std::chrono::seconds(1));
  EXPECT_EQ(Read(iterator).outcome, RecordsOutcome::kExpired);
}

// Iterators come from callers. Every invalid text is refused with an error.
TEST_F(StreamsTest, RefusesInvalidIterators) {
  Create();
  for (const char* text : {"", "x", "1", "1/2", "1/2/", "1/2/3x", "-1/2/3", "99999999999/1/1"}) {
    const auto reply = tables_->GetRecords({.iterator = text});
    ASSERT_FALSE(reply.has_value()) << text;
    EXPECT_EQ(reply.error().code, ErrorCode::kInvalid) << text;
  }
  EXPECT_FALSE(tables_->GetRecords({.iterator = Iterator(), .limit = 0}).has_value());
  const auto unknown = tables_->DescribeStream("arn:none");
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
}

// A follower stores the ARN of its stream. After a change of the region it must still find the
// stream.
TEST_F(StreamsTest, FindsAStreamByItsArnOfAnotherRegion) {
  Create();
  Put(Numbered(1));
  tables_.reset();
  embedded::Options options = folder_.options();
  options.region = "eu-west-1";
  tables_ = DataFolder::Open(options);
  EXPECT_EQ(Records().size(), 1u);

  const std::string arn = tables_->DescribeTable(kStreamsTable)->latest_stream->arn;
  EXPECT_EQ(arn, "arn:aws:dynamodb:eu-west-1:000000000000:table/things/stream/" + stream_.label);
  EXPECT_EQ(tables_->DescribeStream(stream_.arn)->arn, arn);
  EXPECT_EQ(tables_->ListStreams({})->streams.at(0).arn, arn);
  EXPECT_TRUE(tables_->ListStreams({.after_arn = stream_.arn})->streams.empty());
}

TEST_F(StreamsTest, FindsNoStreamByHalfAnArn) {
  Create();
  const std::string resource = "table/things/stream/" + stream_.label;
  for (const std::string& arn :
       {resource, "arn:aws:dynamodb:" + resource, "arn:aws:dynamodb:local:" + resource,
        "arn:aws:dynamodb:local:000000000001:" + resource,
        "arn:aws:s3:local:000000000000:" + resource, stream_.arn + "0", stream_.arn.substr(1),
        std::string("arn:aws:dynamodb:local:000000000000:")}) {
    const auto found = tables_->DescribeStream(arn);
    ASSERT_FALSE(found.has_value()) << arn;
    EXPECT_EQ(found.error().code, ErrorCode::kNotFound) << arn;
  }
}

// An ARN with such a region could not be parsed.
TEST_F(StreamsTest, RefusesARegionThatWouldBreakAnArn) {
  for (const char* region : {"", "eu:west", "eu west", "EU-WEST-1", "eu/west"}) {
    embedded::Options options = folder_.options();
    options.region = region;
    const auto opened = EmbeddedTables::Open(options);
    ASSERT_FALSE(opened.has_value()) << region;
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalid) << region;
  }
}

}  // namespace
}  // namespace tidemark::embedded
