// All parts of documents together, as programs use them: with and without the cache.
#include "apps/documents/documents.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DocumentsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Documents> Open(const DocumentsOptions& options) {
    return *Documents::Open(options, &world_.tables, &world_.objects,
                            world_.RuntimeWith(&metrics_));
  }
  static std::vector<std::string> IdsOf(const Result<RangeReply>& reply) {
    std::vector<std::string> ids;
    for (const auto& document : reply->documents) ids.push_back(document.id());
    return ids;
  }
  static ReadReply MustGet(Documents& documents, const std::string& id) {
    auto read = ReadNow(documents, documents.NewContext(), id);
    CHECK(read && *read);
    return **std::move(read);
  }
  RangeQuery LastWeek() const { return {.from = kToday - 7 * kDay, .to = kToday}; }

  WriteWorld world_;
  Metrics metrics_;
};

// Spec: 002-79
TEST_F(DocumentsTest, RowObjectAndQueriesAgreeOnWhatWasWritten) {
  const auto documents = Open({});
  const Draft draft{.customers = {"hts", "cds"}};
  const auto written = documents->Write(documents->NewContext(), {.document = DocumentOf(draft)});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(world_.IsEqual(draft.id));
  const ReadReply read = MustGet(*documents, draft.id);
  EXPECT_EQ(read.source, ReadSource::kCache);
  EXPECT_EQ(read.document.json(), JsonOf(draft));
  EXPECT_EQ(read.etag, written->etag);
  EXPECT_EQ(world_.ObjectOf(draft.id), JsonOf(draft));
  const auto by_time = documents->Range(documents->NewContext(), LastWeek(), Beyond::kFlag);
  ASSERT_THAT(IdsOf(by_time), ElementsAre(draft.id));
  EXPECT_EQ(by_time->documents.front().json(), JsonOf(draft));
  for (const char* customer : {"hts", "cds"}) {
    RangeQuery query = LastWeek();
    query.customer = customer;
    const auto found = documents->Range(documents->NewContext(), query, Beyond::kFlag);
    ASSERT_THAT(IdsOf(found), ElementsAre(draft.id)) << customer;
    EXPECT_EQ(found->documents.front().json(), JsonOf(draft));
  }
}

// Spec: 002-67
TEST_F(DocumentsTest, UsesOnlyTheObjectStoreWithoutTheCache) {
  world_.tables.decide = [](testing::Operation) -> std::optional<testing::Fault> {
    ADD_FAILURE() << "the table was asked";
    return std::nullopt;
  };
  const auto documents = Open({.enabled = false});
  const Draft draft{.status = "cancelled"};
  ASSERT_TRUE(documents->Write(documents->NewContext(), {.document = DocumentOf(draft)}));
  EXPECT_EQ(world_.ObjectOf(draft.id), JsonOf(draft));
  EXPECT_EQ(MustGet(*documents, draft.id).source, ReadSource::kObject);
  EXPECT_THAT(IdsOf(documents->Range(documents->NewContext(), LastWeek(), Beyond::kFlag)),
              ElementsAre(draft.id));
  EXPECT_TRUE(documents->Housekeep(documents->NewContext()));
  EXPECT_TRUE(documents->HandleEvents(documents->NewContext(), "{}").records.empty());
  ASSERT_TRUE(documents->Delete(documents->NewContext(), {.id = draft.id}));
  EXPECT_EQ(world_.ObjectOf(draft.id), std::nullopt);
  EXPECT_EQ(ReadNow(*documents, documents->NewContext(), draft.id)->has_value(), false);
}

// Housekeeping settles a first write whose writer died.
TEST_F(DocumentsTest, HousekeepingSettlesStaleWrites) {
  const auto documents = Open({});
  const Draft draft;
  world_.LeaveIntent(draft.id, {.txn = "a"});
  world_.UploadTagged(draft, "a");
  world_.PassLease();
  ASSERT_TRUE(documents->Housekeep(documents->NewContext()));
  EXPECT_TRUE(world_.IsEqual(draft.id));
}

// The upkeep of the cache can be called through Documents.
TEST_F(DocumentsTest, FillsChecksSamplesAndCountsTheCache) {
  const auto documents = Open({});
  world_.Upload({.id = "CHG-1", .customers = {"hts", "cds"}});
  world_.LeaveIntent("CHG-2", {.txn = "a"});
  ASSERT_TRUE(world_.memory.Put({.key = "cache-repairs/CHG-1", .bytes = "1"}).has_value());
  const auto empty = documents->Stats(documents->NewContext());
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(empty->coverage, std::nullopt);
  EXPECT_EQ(empty->first_writes, 1U);
  EXPECT_EQ(empty->repairs, 1U);
  EXPECT_EQ(documents->Backfill(documents->NewContext(), {})->cached, 1U);
  EXPECT_EQ(MustGet(*documents, "CHG-1").source, ReadSource::kCache);
  world_.Upload({.id = "CHG-1", .title = "another"});
  EXPECT_EQ(documents->Sample(documents->NewContext(), 5)->stale, 1U);
  std::string found;
  const auto checked = documents->Fsck(documents->NewContext(), {},
                                       [&](const FsckFinding& finding) { found += finding.id; });
  EXPECT_EQ(checked->repaired, 1U);
  EXPECT_EQ(found, "CHG-1");
  const auto stats = documents->Stats(documents->NewContext());
  EXPECT_EQ(stats->table.items, world_.StoredItems());
  EXPECT_TRUE(stats->coverage.has_value());
  EXPECT_EQ(stats->counts.hits, 1U);
  EXPECT_EQ(stats->counts.misses, 0U);
}

TEST_F(DocumentsTest, RefusesUpkeepWithoutTheCache) {
  const auto documents = Open({.enabled = false});
  const Context context = documents->NewContext();
  const std::vector<Error> refusals = {
      documents->Backfill(context, {}).error(), documents->Fsck(context, {}, {}).error(),
      documents->Sample(context, 1).error(), documents->Stats(context).error()};
  for (const Error& refusal : refusals) {
    EXPECT_EQ(refusal.code, ErrorCode::kInvalid);
    EXPECT_THAT(refusal.message, HasSubstr("documents.cache"));
  }
}

TEST_F(DocumentsTest, RefusesToOpenWithAWrongOption) {
  const auto documents =
      Documents::Open({.rate_per_second = 0}, &world_.tables, &world_.objects, world_.runtime);
  EXPECT_THAT(documents.error().message, HasSubstr("documents.rate"));
}

}  // namespace
}  // namespace tidemark::documents
