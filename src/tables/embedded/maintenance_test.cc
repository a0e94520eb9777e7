#include "tables/embedded/maintenance.h"

#include <atomic>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tables/embedded/group.h"
#include "tables/limits.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

using item::Item;
using item::Number;

constexpr const char* kTable = "things";
// Enough items for several steps of whatever fills or sweeps them.
constexpr int kMany = 1'200;
constexpr std::chrono::minutes kBetweenLooks(30);

// A clock that has gone on, or back, whenever it is looked at again.
class RestlessClock final : public Clock {
 public:
  RestlessClock(const Clock& start, std::chrono::minutes step) : start_(start), step_(step) {}
  std::chrono::milliseconds Now() const override {
    return start_.Now() + looks_.fetch_add(1) * step_;
  }
  std::chrono::nanoseconds Monotonic() const override { return start_.Monotonic(); }
  void Rewind() { looks_ = 0; }

 private:
  const Clock& start_;
  const std::chrono::minutes step_;
  mutable std::atomic<int> looks_ = 0;
};

class MaintenanceTest : public ::testing::Test {
 protected:
  MaintenanceTest() {
    CHECK(tables_
              ->CreateTable({.table = kTable,
                             .keys = {.partition = {.name = "id"}},
                             .stream = tables::StreamView::kNewAndOldImages})
              .has_value());
  }

  void Reopen() {
    tables_.reset();
    tables_ = folder_.Open();
  }

  void ReopenWith(const Clock& clock) {
    Options options = folder_.options();
    options.clock = &clock;
    tables_.reset();
    tables_ = DataFolder::Open(options);
  }

  EpochSeconds now() { return folder_.clock().NowSeconds(); }

  void Put(const Item& item) {
    const auto reply = tables_->Put({.table = kTable, .item = item});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
  }
  void PutExpiring(const std::string& id, EpochSeconds ttl) {
    Put({{"id", id}, {"ttl", Number::FromInt(ttl)}});
  }
  void PutMany() {
    tables::BatchWriteRequest request;
    for (int i = 0; i < kMany; ++i) {
      request.tables[kTable].push_back(tables::BatchWriteRequest::Put{
          {{"id", fmt::format("{:05}", i)}, {"owner", "o"}, {"ttl", Number::FromInt(now() + 5)}}});
      if (request.tables[kTable].size() < 25) continue;
      ASSERT_TRUE(tables_->BatchWrite(request).has_value());
      request.tables.clear();
    }
  }

  bool Has(const std::string& id) {
    const auto item = tables_->Get({.table = kTable, .key = {{"id", id}}});
    CHECK(item.has_value());
    return item->has_value();
  }

  void EnableTimeToLive() {
    ASSERT_TRUE(tables_->SetTimeToLive({.table = kTable, .attribute = "ttl"}).has_value());
  }
  void Maintain() {
    const Status status = tables_->Maintain();
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }

  void AddIndex() {
    const auto updated = tables_->UpdateTable(
        {.table = kTable,
         .add_index = tables::IndexSpec{
             .name = "by-owner",
             .keys = {.partition = {.name = "owner"}, .sort = item::KeyAttribute{.name = "id"}}}});
    ASSERT_TRUE(updated.has_value()) << updated.error().message;
  }
  uint64_t CountInIndex() {
    tables::QueryRequest request{.table = kTable,
                                 .index = "by-owner",
                                 .key_condition = "#o = :o",
                                 .names = {{"#o", "owner"}},
                                 .values = {{":o", "o"}},
                                 .select = tables::Select::kCount};
    const auto page = tables_->Query(request);
    CHECK(page.has_value() && !page->last);
    return page->count;
  }

  std::string Arn() { return tables_->DescribeTable(kTable)->latest_stream->arn; }
  std::string Iterator(tables::IteratorKind kind = tables::IteratorKind::kTrimHorizon) {
    const auto description = tables_->DescribeStream(Arn());
    CHECK(description.has_value());
    return *tables_->GetShardIterator(
        {.arn = description->arn, .shard = description->shards[0].id, .kind = kind});
  }
  std::vector<tables::StreamRecord> Records() {
    const auto reply = tables_->GetRecords({.iterator = Iterator()});
    CHECK(reply.has_value());
    return reply->records;
  }

  void ExpectWhole() {
    const auto report = tables_->Verify();
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->problems, std::vector<std::string>());
  }

  DataFolder folder_;
  std::unique_ptr<EmbeddedTables> tables_ = folder_.Open();
};

// ---- Sweeping ----

TEST_F(MaintenanceTest, SweepsFromTheSecondOfTheDeadlineOn) {
  EnableTimeToLive();
  PutExpiring("past", now() - 1);
  PutExpiring("due", now());
  PutExpiring("live", now() + 1);
  Put({{"id", "lasting"}});
  Maintain();
  EXPECT_FALSE(Has("past"));
  EXPECT_FALSE(Has("due"));
  EXPECT_TRUE(Has("live"));
  EXPECT_TRUE(Has("lasting"));
  ExpectWhole();
}

// A consumer that keeps an archive must be able to tell housekeeping from a person's deletion.
TEST_F(MaintenanceTest, SweptItemsLeaveRecordsThatSayWhoRemovedThem) {
  EnableTimeToLive();
  PutExpiring("swept", now());
  PutExpiring("deleted", now() + 100);
  ASSERT_TRUE(tables_->Delete({.table = kTable, .key = {{"id", "deleted"}}}).has_value());
  Maintain();
  const auto records = Records();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[2].kind, tables::ChangeKind::kRemove);
  EXPECT_FALSE(records[2].expired);
  EXPECT_EQ(records[3].kind, tables::ChangeKind::kRemove);
  EXPECT_TRUE(records[3].expired);
  EXPECT_EQ(records[3].keys, (Item{{"id", "swept"}}));
  EXPECT_TRUE(records[3].old_image.has_value());
}

// Gives one time when it is asked first, and an earlier one from then on.
class SteppingBackClock final : public Clock {
 public:
  explicit SteppingBackClock(const Clock& base) : base_(base) {}
  std::chrono::milliseconds Now() const override {
    if (!std::exchange(ahead_, false)) return base_.Now();
    return base_.Now() + std::chrono::hours(1);
  }
  std::chrono::nanoseconds Monotonic() const override { return base_.Monotonic(); }
  void LookAheadOnce() { ahead_ = true; }

 private:
  const Clock& base_;
  mutable bool ahead_ = false;
};

// Between finding an expired item and removing it somebody may have renewed it, or the clock been
// set back. What counts is the item and the time of the removing write.
TEST_F(MaintenanceTest, TheSweeperAsksAgainInTheWriteThatRemoves) {
  SteppingBackClock clock(folder_.clock());
  Options options = folder_.options();
  options.clock = &clock;
  tables_.reset();
  tables_ = DataFolder::Open(options);
  EnableTimeToLive();
  Maintain();
  PutExpiring("a", now() + 60);
  clock.LookAheadOnce();
  Maintain();
  EXPECT_TRUE(Has("a"));
  folder_.clock().Advance(std::chrono::seconds(60));
  Maintain();
  EXPECT_FALSE(Has("a"));
  tables_.reset();
}

TEST_F(MaintenanceTest, SweepsAllOfMany) {
  PutMany();
  EnableTimeToLive();
  Maintain();
  folder_.clock().Advance(std::chrono::seconds(5));
  Maintain();
  EXPECT_EQ(tables_->DescribeTable(kTable)->item_count, 0u);
  ExpectWhole();
}

// An item that got another deadline has one row in the expiry list, not two.
TEST_F(MaintenanceTest, ARenewedItemStays) {
  EnableTimeToLive();
  Maintain();
  PutExpiring("a", now() + 1);
  PutExpiring("a", now() + 100);
  ExpectWhole();
  folder_.clock().Advance(std::chrono::seconds(50));
  Maintain();
  EXPECT_TRUE(Has("a"));
}

// ---- Filling ----

TEST_F(MaintenanceTest, FillsAnIndexOverManyItems) {
  PutMany();
  AddIndex();
  EXPECT_EQ(tables_->DescribeTable(kTable)->indexes[0].state, tables::IndexState::kCreating);
  Maintain();
  const auto description = tables_->DescribeTable(kTable);
  EXPECT_EQ(description->indexes[0].state, tables::IndexState::kActive);
  EXPECT_EQ(description->indexes[0].item_count, static_cast<uint64_t>(kMany));
  EXPECT_EQ(CountInIndex(), static_cast<uint64_t>(kMany));
  ExpectWhole();
}

// Half an index would look like a whole one.
TEST_F(MaintenanceTest, AnIndexIsNotReadBeforeItIsFilled) {
  Put({{"id", "a"}, {"owner", "o"}});
  AddIndex();
  const auto page = tables_->Scan({.table = kTable, .index = "by-owner"});
  ASSERT_FALSE(page.has_value());
  EXPECT_NE(page.error().message.find("backfilling"), std::string::npos) << page.error().message;
  Maintain();
  EXPECT_EQ(CountInIndex(), 1u);
}

// Writers do not wait for the filling: what they change before it comes by is neither lost nor
// counted twice.
TEST_F(MaintenanceTest, WritesBeforeTheFillingComesByAreCountedOnce) {
  for (const char* id : {"changed", "moved", "deleted", "same"}) {
    Put({{"id", id}, {"owner", "o"}, {"n", Number::FromInt(1)}});
  }
  AddIndex();
  ExpectWhole();
  Put({{"id", "changed"}, {"owner", "o"}, {"n", Number::FromInt(2)}});
  Put({{"id", "moved"}, {"owner", "another"}});
  Put({{"id", "new"}, {"owner", "o"}});
  ASSERT_TRUE(tables_->Delete({.table = kTable, .key = {{"id", "deleted"}}}).has_value());
  ExpectWhole();
  Maintain();
  EXPECT_EQ(CountInIndex(), 3u);
  EXPECT_EQ(tables_->DescribeTable(kTable)->indexes[0].item_count, 4u);
  ExpectWhole();
}

// However far it came when the power went, the filling goes on from there and ends exact.
TEST_F(MaintenanceTest, FillingGoesOnAfterACrash) {
  PutMany();
  AddIndex();
  const auto is_log_sync = [](const FileCall& call) {
    return call.kind == FileCallKind::kSync && call.path.ends_with(".log");
  };
  // The third step is the first that does not reach the disk.
  folder_.files().Arm({.matches = is_log_sync, .nth = 3, .effect = FaultEffect::kPowerCut});
  EXPECT_FALSE(tables_->Maintain().has_value());
  ASSERT_TRUE(folder_.files().fired());
  tables_.reset();
  folder_.files().Restart();
  folder_.files().Disarm();
  tables_ = folder_.Open();
  EXPECT_EQ(tables_->DescribeTable(kTable)->indexes[0].state, tables::IndexState::kCreating);
  EXPECT_GE(tables_->DescribeTable(kTable)->indexes[0].item_count, 1u);
  Maintain();
  EXPECT_EQ(CountInIndex(), static_cast<uint64_t>(kMany));
  ExpectWhole();
}

// ---- Trimming ----

TEST_F(MaintenanceTest, StreamsAreKeptForADay) {
  Put({{"id", "old"}});
  folder_.clock().Advance(std::chrono::hours(1));
  Put({{"id", "new"}});
  folder_.clock().Advance(std::chrono::hours(23) - std::chrono::seconds(1));
  Maintain();
  EXPECT_EQ(Records().size(), 2u);
  folder_.clock().Advance(std::chrono::seconds(1));
  Maintain();
  const auto records = Records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].keys, (Item{{"id", "new"}}));
  ExpectWhole();
}

// A consumer that was left behind is told, and not shown a stream without the part it missed.
TEST_F(MaintenanceTest, AnIteratorIntoWhatWasTrimmedSaysSo) {
  Put({{"id", "a"}});
  const std::string shard = tables_->DescribeStream(Arn())->shards[0].id;
  const std::string first = Records()[0].sequence;
  folder_.clock().Advance(tables::kStreamRetention);
  Maintain();
  const auto iterator = tables_->GetShardIterator(
      {.arn = Arn(), .shard = shard, .kind = tables::IteratorKind::kAtSequence, .sequence = first});
  ASSERT_TRUE(iterator.has_value());
  EXPECT_EQ(tables_->GetRecords({.iterator = *iterator})->outcome,
            tables::RecordsOutcome::kTrimmed);
}

// Consumers remember sequence numbers: one must never come twice, whatever was trimmed before
// the folder was opened again.
TEST_F(MaintenanceTest, SequencesGoOnAfterEverythingWasTrimmed) {
  for (const char* id : {"a", "b", "c"}) Put({{"id", id}});
  const std::string last = Records().back().sequence;
  folder_.clock().Advance(tables::kStreamRetention);
  Maintain();
  EXPECT_TRUE(Records().empty());
  Reopen();
  Put({{"id", "d"}});
  const auto records = Records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_GT(records[0].sequence, last);
  ExpectWhole();
}

TEST_F(MaintenanceTest, AClosedStreamGoesADayAfterItsEnd) {
  Put({{"id", "a"}});
  ASSERT_TRUE(tables_->DeleteTable(kTable).has_value());
  folder_.clock().Advance(tables::kStreamRetention - std::chrono::seconds(1));
  Maintain();
  EXPECT_EQ(tables_->ListStreams({})->streams.size(), 1u);
  folder_.clock().Advance(std::chrono::seconds(1));
  Maintain();
  EXPECT_TRUE(tables_->ListStreams({})->streams.empty());
  ExpectWhole();
}

// Writers wait while the committer works: how far to trim is known before its turn comes, and not
// found by walking over all that is to go. A record that expires in between stays for the next
// time.
TEST_F(MaintenanceTest, WhatIsTrimmedIsFoundBeforeTheCommittersTurn) {
  Put({{"id", "a"}});
  folder_.clock().Advance(kBetweenLooks);
  Put({{"id", "b"}});
  folder_.clock().Advance(tables::kStreamRetention - kBetweenLooks);
  RestlessClock clock(folder_.clock(), kBetweenLooks);
  ReopenWith(clock);
  for (const uint64_t left : {1u, 0u}) {
    clock.Rewind();
    Maintain();
    EXPECT_EQ(tables_->Verify()->stream_records, left);
    folder_.clock().Advance(kBetweenLooks);
  }
  Reopen();
}

// ---- Tokens ----

// A token protects for ten minutes, whether housekeeping runs or not.
TEST_F(MaintenanceTest, TokensAreKeptForTheirWholeLife) {
  const tables::TransactWriteRequest request{
      .actions = {tables::UpdateRequest{.table = kTable,
                                        .key = {{"id", "a"}},
                                        .update = "ADD n :one",
                                        .values = {{":one", Number::FromInt(1)}}}},
      .token = "token"};
  ASSERT_TRUE(tables_->TransactWrite(request).has_value());
  folder_.clock().Advance(tables::kTokenLife - std::chrono::seconds(1));
  Maintain();
  EXPECT_TRUE(tables_->TransactWrite(request)->replayed);
  folder_.clock().Advance(std::chrono::seconds(1));
  Maintain();
  EXPECT_FALSE(tables_->TransactWrite(request)->replayed);
}

// What was found before the committer's turn may be another by then: here the clock went back, as a
// transaction may have taken the token up again.
TEST_F(MaintenanceTest, ATokenThatIsLiveInTheCommittersTurnStays) {
  const tables::TransactWriteRequest request{
      .actions = {tables::PutRequest{.table = kTable, .item = {{"id", "a"}}}}, .token = "token"};
  ASSERT_TRUE(tables_->TransactWrite(request).has_value());
  const EpochSeconds made_at = now();
  folder_.clock().Advance(tables::kTokenLife + kBetweenLooks);
  // Looked at for the stream, for the tokens and in the committer's turn.
  RestlessClock clock(folder_.clock(), -kBetweenLooks);
  ReopenWith(clock);
  clock.Rewind();
  Maintain();
  Reopen();
  folder_.clock().SetNow(made_at);
  EXPECT_TRUE(tables_->TransactWrite(request)->replayed);
}

// There may be many: they go in steps, and the last step takes the rest.
TEST_F(MaintenanceTest, ManyTokensAreSweptToTheLast) {
  tables::TransactWriteRequest request{
      .actions = {tables::PutRequest{.table = kTable, .item = {{"id", "a"}}}}};
  for (int i = 0; i < kMany; ++i) {
    request.token = fmt::format("token {}", i);
    ASSERT_TRUE(tables_->TransactWrite(request).has_value());
  }
  folder_.clock().Advance(tables::kTokenLife);
  request.token = "live";
  ASSERT_TRUE(tables_->TransactWrite(request).has_value());
  Maintain();
  tables_.reset();
  const auto store = *Store::Open(folder_.options());
  Cursor tokens = store->Iterate(Family::kCatalog, TokenRange());
  tokens.SeekToFirst();
  ASSERT_TRUE(tokens.valid());
  EXPECT_TRUE(tokens.key().ends_with("live")) << tokens.key();
  tokens.Next();
  EXPECT_FALSE(tokens.valid());
}

// ---- The thread ----

TEST_F(MaintenanceTest, TheThreadFillsWithoutBeingAsked) {
  PutMany();
  Options options = folder_.options();
  options.background = true;
  tables_.reset();
  tables_ = DataFolder::Open(options);
  AddIndex();
  // Adding an index wakes the thread; closing waits for the step under way, not for all.
  while (tables_->DescribeTable(kTable)->indexes[0].state != tables::IndexState::kActive) {
    std::this_thread::yield();
  }
  EXPECT_EQ(CountInIndex(), static_cast<uint64_t>(kMany));
}

}  // namespace
}  // namespace tidemark::embedded
