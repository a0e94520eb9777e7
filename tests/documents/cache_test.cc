// The cache as callers of Documents see it: written documents can be read and found. Every test
// runs over the model of the tables and over the embedded tables.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/documents/documents.h"
#include "apps/documents/limits.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/documents/write_world.h"
#include "tests/support/temp_folder.h"

namespace tidemark::documents {
namespace {

using Expected = std::vector<std::string>;

enum class Engine { kModel, kEmbedded };

class CacheTest : public ::testing::TestWithParam<Engine> {
 protected:
  explicit CacheTest(DocumentsOptions options = {.rate_per_second = 100'000})
      : world(std::move(options), Maker()) {}

  World::MakeTables Maker() {
    if (GetParam() == Engine::kModel) return {};
    return [this](const Clock* clock) -> std::unique_ptr<tables::Tables> {
      auto opened =
          *embedded::EmbeddedTables::Open({.folder = folder.path() + "/data",
                                           .durability = embedded::Durability::kEverySecond,
                                           .background = false,
                                           .clock = clock});
      embedded = opened.get();
      return opened;
    };
  }

  Context NewContext() const { return documents->NewContext(); }
  WriteResult Write(const Draft& draft) {
    const auto written = documents->Write(NewContext(), {.document = DocumentOf(draft)});
    EXPECT_TRUE(written.has_value()) << written.error().message;
    return written ? *written : WriteResult{};
  }
  std::optional<ReadReply> Get(const std::string& id) {
    auto read = ReadNow(*documents, NewContext(), id);
    EXPECT_TRUE(read.has_value()) << read.error().message;
    return read ? *std::move(read) : std::nullopt;
  }
  // One page of what the cache has. Its objects are not searched.
  RangeReply Range(const RangeQuery& query) {
    auto reply = documents->Range(NewContext(), query, Beyond::kFlag);
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    return reply ? *std::move(reply) : RangeReply{};
  }
  // The ids of all pages.
  Expected Find(RangeQuery query) {
    Expected found;
    do {
      const RangeReply page = Range(query);
      EXPECT_LE(page.documents.size(), query.limit);
      for (const FoundDocument& document : page.documents) found.push_back(document.id());
      query.after = page.last;
    } while (query.after);
    return found;
  }
  Expected FindAll(RangeQuery query = {}) {
    query.from = kToday - 100 * kDay;
    query.to = kToday + kDay;
    return Find(query);
  }
  // Runs the sweeper.
  void Sweep() { embedded ? (void)embedded->Maintain() : world.model.Maintain(); }

  TempFolder folder;
  embedded::EmbeddedTables* embedded = nullptr;
  WriteWorld world;
  Metrics metrics;
  std::unique_ptr<Documents> documents =
      *Documents::Open(world.options, &world.tables, &world.objects, world.RuntimeWith(&metrics));
};

const auto kEngines = ::testing::Values(Engine::kModel, Engine::kEmbedded);
std::string NameOfEngine(const ::testing::TestParamInfo<Engine>& info) {
  return info.param == Engine::kModel ? "Model" : "Embedded";
}

INSTANTIATE_TEST_SUITE_P(Engines, CacheTest, kEngines, NameOfEngine);

// Spec: 002-09
TEST_P(CacheTest, ReadsWhatWasWritten) {
  const Draft draft{.extra = R"(,"unknown" : 1.0)"};
  const WriteResult written = Write(draft);
  EXPECT_TRUE(written.cached);
  const auto read = Get(draft.id);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->document, DocumentOf(draft));
  EXPECT_EQ(read->etag, written.etag);
  EXPECT_EQ(read->source, ReadSource::kCache);
  EXPECT_EQ(Get("CHG-2"), std::nullopt);
}

// Spec: 002-10
TEST_P(CacheTest, DeleteSucceedsWhetherTheDocumentExistsOrNot) {
  Write({.customers = {"hts", "cds"}, .status = "draft"});
  EXPECT_TRUE(documents->Delete(NewContext(), {.id = "CHG-2025-001"})->changed);
  EXPECT_EQ(Get("CHG-2025-001"), std::nullopt);
  EXPECT_TRUE(FindAll({.customer = "cds"}).empty());
  EXPECT_TRUE(FindAll().empty());
  EXPECT_FALSE(documents->Delete(NewContext(), {.id = "CHG-2025-001"})->changed);
  EXPECT_FALSE(documents->Delete(NewContext(), {.id = "never-there"})->changed);
  EXPECT_EQ(world.Stored("never-there"), std::nullopt);
}

// An expired row counts as absent, also before the sweeper has removed it. Then the object is read.
// When there is no object either, there is no document.
// Spec: 002-11, 002-19
TEST_P(CacheTest, DoesNotServeAnExpiredRow) {
  const Draft draft{.created_at = kToday - kDay};
  Write(draft);
  Write({.id = "CHG-2", .created_at = kToday});
  world.Pass(std::chrono::hours(24 * 89));
  EXPECT_TRUE(world.Stored(draft.id).has_value()) << "the sweeper has not run yet";
  EXPECT_EQ(FindAll(), Expected{"CHG-2"});
  EXPECT_EQ(FindAll({.customer = "hts"}), Expected{"CHG-2"});
  EXPECT_EQ(FindAll({.status = "submitted"}), Expected{"CHG-2"});
  EXPECT_TRUE(world.ObjectOf(draft.id).has_value());
  EXPECT_EQ(Get(draft.id)->source, ReadSource::kObject);
  ASSERT_TRUE(world.memory.Delete({.key = ObjectKey(world.options, draft.id)}).has_value());
  EXPECT_EQ(Get(draft.id), std::nullopt);
}

class ShortLifeTest : public CacheTest {
 protected:
  ShortLifeTest() : CacheTest({.ttl = std::chrono::minutes(1), .rate_per_second = 100'000}) {}
};
INSTANTIATE_TEST_SUITE_P(Engines, ShortLifeTest, kEngines, NameOfEngine);

// Spec: 002-73
TEST_P(ShortLifeTest, RowsAreInvisibleAtTheirEndAndThenSwept) {
  const Draft draft{.customers = {"hts", "cds"}, .created_at = kToday};
  Write(draft);
  world.Pass(std::chrono::seconds(59));
  EXPECT_EQ(Get(draft.id)->source, ReadSource::kCache);
  EXPECT_EQ(FindAll({.customer = "cds"}), Expected{draft.id});
  world.Pass(std::chrono::seconds(1));
  EXPECT_TRUE(FindAll().empty());
  EXPECT_TRUE(FindAll({.customer = "cds"}).empty());
  EXPECT_EQ(Get(draft.id)->source, ReadSource::kObject);
  // A read of the expired row leaves a tombstone, which lives for a day.
  world.Pass(std::chrono::hours(25));
  EXPECT_GT(world.StoredItems(), 0U);
  Sweep();
  EXPECT_EQ(world.StoredItems(), 0U);
  EXPECT_EQ(world.ObjectOf(draft.id), JsonOf(draft));
}

// A ttl in the past would make a row that is a miss on every read.
// Spec: 002-12
TEST_P(CacheTest, DoesNotCacheADocumentThatIsTooOld) {
  EXPECT_FALSE(Write({.created_at = kToday - 90 * kDay}).cached);
  EXPECT_TRUE(Write({.id = "A", .created_at = kToday - 90 * kDay + 1}).cached);
  // Created long ago, but edited yesterday.
  EXPECT_TRUE(
      Write({.id = "B", .created_at = kToday - 200 * kDay, .modified_at = kToday - kDay}).cached);
}

// When the new version is not cached, the previous version must not be served instead.
TEST_P(CacheTest, ADocumentThatIsTooOldRemovesTheVersionBefore) {
  Write({.created_at = kToday - kDay});
  const Draft old{.created_at = kToday - 365 * kDay};
  EXPECT_FALSE(Write(old).cached);
  EXPECT_TRUE(FindAll().empty());
  EXPECT_EQ(Get(old.id)->document, DocumentOf(old));
}

class DryRunTest : public CacheTest {
 protected:
  DryRunTest() : CacheTest({.rate_per_second = 100'000, .dry_run = true}) {}
};
INSTANTIATE_TEST_SUITE_P(Engines, DryRunTest, kEngines, NameOfEngine);

// Spec: 002-13
TEST_P(DryRunTest, LogsWritesAndChangesNothing) {
  const Draft draft{.status = "draft"};
  world.Upload(draft);
  world.Store(
      EncodeRow(world.options, CommitVersion(world.options, Row{.id = draft.id, .revision = "r"},
                                             DocumentOf(draft), "etag", world.clock.Now())));
  const auto before = world.Stored(draft.id);
  world.log.str("");
  EXPECT_TRUE(Write({.status = "draft", .title = "Other"}).dry_run);
  EXPECT_TRUE(documents->Delete(NewContext(), {.id = draft.id})->dry_run);
  EXPECT_EQ(world.Stored(draft.id), before);
  EXPECT_EQ(world.ObjectOf(draft.id), JsonOf(draft));
  const std::string logged = world.Logged();
  for (const char* line :
       {R"((dry run) operation="write row" key=CHG-2025-001)",
        R"((dry run) operation="write object" key=archive/CHG-2025-001.json)",
        R"((dry run) operation="delete row" key=CHG-2025-001)",
        R"((dry run) operation="delete object" key=archive/CHG-2025-001.json)"}) {
    EXPECT_NE(logged.find(line), std::string::npos) << line << " in " << logged;
  }
  EXPECT_EQ(Get(draft.id)->document, DocumentOf(draft));
  EXPECT_EQ(Get(draft.id)->source, ReadSource::kCache);
}

// Spec: 002-05
TEST_P(CacheTest, FindsADocumentWithoutCustomers) {
  Write({.customers = {}});
  EXPECT_FALSE(world.Stored("CHG-2025-001")->Contains("customer_code"));
  EXPECT_FALSE(world.Stored("CHG-2025-001")->Contains("customers"));
  EXPECT_EQ(Get("CHG-2025-001")->source, ReadSource::kCache);
  EXPECT_EQ(FindAll({.type = "change"}), Expected{"CHG-2025-001"});
  EXPECT_EQ(FindAll({.status = "submitted"}), Expected{"CHG-2025-001"});
}

// A damaged text is not served: the object answers.
TEST_P(CacheTest, ReadsTheObjectInPlaceOfADamagedRow) {
  Write({});
  item::Item row = *world.Stored("CHG-2025-001");
  // A text that is not JSON, and the text of another document, which only the hash reveals.
  for (const std::string& text : {std::string("{"), JsonOf({.title = "Forged"})}) {
    row.Set("document_json", text);
    world.Store(row);
    const RangeReply reply = Range({.from = 0, .to = kToday});
    ASSERT_EQ(reply.documents.size(), 1U);
    EXPECT_EQ(reply.documents[0].json(), JsonOf({}));
  }
  row.Set("document_json", std::string("{"));
  world.Store(row);
  EXPECT_EQ(Get("CHG-2025-001")->source, ReadSource::kObject);
}

// The row keeps the facts, so queries find the document. Its text comes from the object.
TEST_P(CacheTest, FindsADocumentThatIsTooLargeForItsRow) {
  const Draft large{.customers = {"hts", "cds"},
                    .extra = R"(,"note":")" + std::string(420'000, 'x') + "\""};
  EXPECT_FALSE(Write(large).cached);
  EXPECT_EQ(Get(large.id)->source, ReadSource::kObject);
  EXPECT_EQ(FindAll({.customer = "cds"}), Expected{large.id});
  EXPECT_EQ(FindAll({.status = "submitted"}), Expected{large.id});
}

// Both ends belong to a range, and only documents that match are found, in the order of creation.
// Spec: 002-14
TEST_P(CacheTest, RangesHaveExactlyTheDocumentsThatMatch) {
  Write({.id = "C3", .created_at = kToday - 10});
  Write({.id = "C1", .created_at = kToday - 30});
  Write({.id = "C2", .customers = {"cds"}, .status = "approved", .created_at = kToday - 20});
  Write({.id = "A1", .type = "announcement_cic", .created_at = kToday - 25});
  EXPECT_EQ(Find({.from = kToday - 30, .to = kToday - 10, .type = "change"}),
            (Expected{"C1", "C2", "C3"}));
  EXPECT_EQ(Find({.from = kToday - 29, .to = kToday - 11, .type = "change"}), Expected{"C2"});
  EXPECT_EQ(Find({.from = kToday - 99, .to = kToday, .type = "announcement"}), Expected{"A1"});
  EXPECT_EQ(Find({.from = kToday - 30, .to = kToday - 10, .customer = "hts"}),
            (Expected{"C1", "A1", "C3"}));
  EXPECT_EQ(Find({.from = kToday - 20, .to = kToday - 20, .status = "approved"}), Expected{"C2"});
  EXPECT_TRUE(Find({.from = 0, .to = kToday, .status = "draft"}).empty());
  // Without a condition: all types, in one order.
  EXPECT_EQ(FindAll(), (Expected{"C1", "A1", "C2", "C3"}));
}

// Spec: 002-15
TEST_P(CacheTest, EveryCustomerFindsADocumentOnce) {
  Write({.customers = {"hts", "cds", "abc"}});
  for (const char* customer : {"hts", "cds", "abc"}) {
    EXPECT_EQ(FindAll({.customer = customer}), Expected{"CHG-2025-001"}) << customer;
  }
  EXPECT_TRUE(FindAll({.customer = "other"}).empty());
  // Another customer becomes the first one, one is removed, and one is added.
  Write({.customers = {"cds", "hts", "new"}});
  for (const char* customer : {"hts", "cds", "new"}) {
    EXPECT_EQ(FindAll({.customer = customer}), Expected{"CHG-2025-001"}) << customer;
  }
  EXPECT_TRUE(FindAll({.customer = "abc"}).empty());
  EXPECT_EQ(world.Stored("CHG-2025-001#abc"), std::nullopt);
  EXPECT_EQ(world.Stored("CHG-2025-001#cds"), std::nullopt);
}

// The largest number of customers, and all of them change at once. Old pointers that do not fit
// into the transaction stay in the table, but find nothing.
TEST_P(CacheTest, OldPointersFindNothing) {
  std::vector<std::string> before;
  std::vector<std::string> after;
  for (size_t i = 0; i < kMaxCustomers; ++i) {
    before.push_back("b" + std::to_string(i));
    after.push_back("a" + std::to_string(i));
  }
  Write({.customers = before});
  Write({.customers = after});
  for (size_t i = 0; i < kMaxCustomers; i += 7) {
    EXPECT_TRUE(FindAll({.customer = before[i]}).empty());
    EXPECT_EQ(FindAll({.customer = after[i]}), Expected{"CHG-2025-001"});
  }
  // The last customer becomes the first. Its old pointer does not find the document a second time.
  std::swap(after.front(), after.back());
  Write({.customers = {after.front()}});
  EXPECT_EQ(FindAll({.customer = after.front()}), Expected{"CHG-2025-001"});
}

// Spec: 002-16
TEST_P(CacheTest, OnlyTheNewStatusFindsADocument) {
  Write({.status = "submitted"});
  Write({.status = "approved"});
  EXPECT_TRUE(FindAll({.status = "submitted"}).empty());
  EXPECT_EQ(FindAll({.status = "approved"}), Expected{"CHG-2025-001"});
}

// A new time of creation moves the document in every index.
TEST_P(CacheTest, OnlyTheNewTimeOfCreationFindsADocument) {
  Write({.customers = {"hts", "cds"}, .created_at = kToday - 20});
  Write({.customers = {"hts", "cds"}, .created_at = kToday - 10});
  for (const char* customer : {"hts", "cds"}) {
    EXPECT_TRUE(Find({.from = 0, .to = kToday - 11, .customer = customer}).empty());
    EXPECT_EQ(FindAll({.customer = customer}), Expected{"CHG-2025-001"});
  }
}

// Pages of every size, with many documents of one second, over one index and over two.
// Spec: 002-17
TEST_P(CacheTest, PagesHaveNoGapsAndNoRepeats) {
  Expected all;
  for (int i = 0; i < 60; ++i) {
    char id[8];
    snprintf(id, sizeof id, "D%02d", i);
    Write({.id = id,
           .type = i % 3 == 0 ? "announcement_general" : "change",
           .customers = i % 2 == 0 ? std::vector<std::string>{"hts", "cds"}
                                   : std::vector<std::string>{"cds"},
           .created_at = kToday - 1000 + (i / 10)});
    all.push_back(id);
  }
  for (const size_t limit : {1, 7, 10, 59, 60, 1000}) {
    EXPECT_EQ(FindAll({.limit = limit}), all) << limit;
    Expected by_customer = FindAll({.customer = "cds", .limit = limit});
    std::sort(by_customer.begin(), by_customer.end());
    EXPECT_EQ(by_customer, all) << limit;
    EXPECT_EQ(FindAll({.type = "announcement", .limit = limit}).size(), 20U);
    EXPECT_EQ(FindAll({.type = "change", .limit = limit}).size(), 40U);
  }
}

// Documents of 10 KB: a page of the table ends long before a page of the reply.
TEST_P(CacheTest, ARangeContinuesOverPagesOfTheTable) {
  for (int i = 0; i < 250; ++i) {
    Write({.id = "D" + std::to_string(1000 + i),
           .created_at = kToday - 1000 + i,
           .extra = R"(,"note":")" + std::string(10'000, 'x') + "\""});
  }
  EXPECT_EQ(FindAll({.customer = "hts", .limit = 1000}).size(), 250U);
  EXPECT_EQ(FindAll({.type = "change", .status = "draft", .limit = 10}).size(), 0U);
}

// Spec: 002-18
TEST_P(CacheTest, RefusesInvalidRanges) {
  const std::vector<RangeQuery> wrong = {{.from = 2, .to = 1},
                                         {.from = 1, .to = 2, .type = "incident"},
                                         {.from = 1, .to = 2, .type = ""},
                                         {.from = 1, .to = 2, .customer = ""},
                                         {.from = 1, .to = 2, .customer = "a#b"},
                                         {.from = 1, .to = 2, .status = "done"},
                                         {.from = 1, .to = 2, .limit = 0},
                                         {.from = 1, .to = 2, .limit = kMaxPage + 1}};
  for (const RangeQuery& query : wrong) {
    const auto reply = documents->Range(NewContext(), query, Beyond::kFlag);
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(IsRetryable(reply.error().code));
  }
  EXPECT_TRUE(documents->Range(NewContext(), {.from = 1, .to = 1}, Beyond::kFlag).has_value());
}

// Spec: 002-22
TEST_P(CacheTest, AllFiltersApplyTogether) {
  Write({.id = "yes", .customers = {"cds", "hts"}, .status = "approved"});
  Write({.id = "status", .customers = {"hts"}, .status = "draft"});
  Write({.id = "customer", .customers = {"cds"}, .status = "approved"});
  Write({.id = "type", .type = "announcement_cic", .customers = {"hts"}, .status = "approved"});
  Write(
      {.id = "time", .customers = {"hts"}, .status = "approved", .created_at = kToday - 50 * kDay});
  EXPECT_EQ(Find({.from = kToday - 2 * kDay,
                  .to = kToday,
                  .type = "change",
                  .customer = "hts",
                  .status = "approved"}),
            Expected{"yes"});
}

// Readers do not see a running write. The range only counts it.
TEST_P(CacheTest, IntentsAreNotServed) {
  Write({});
  world.LeaveIntent("CHG-2025-001",
                    {.txn = "t", .base_etag = world.RowOf("CHG-2025-001")->committed->etag});
  world.LeaveIntent("CHG-2", {.txn = "u"});
  EXPECT_EQ(Get("CHG-2025-001")->document, DocumentOf({}));
  EXPECT_EQ(Get("CHG-2"), std::nullopt);
  const RangeReply reply = Range({.from = 0, .to = kToday + kDay});
  ASSERT_EQ(reply.documents.size(), 1U);
  EXPECT_EQ(reply.coverage.in_flight, 2U);
  const std::vector<Row> first_writes = *world.rows.ListFirstWrites(NewContext());
  ASSERT_EQ(first_writes.size(), 1U);
  EXPECT_EQ(first_writes.front().id, "CHG-2");
}

// The sweeper must not remove a row that somebody is writing.
TEST_P(CacheTest, ARowWithAnIntentIsNotSwept) {
  Write({});
  world.LeaveIntent("CHG-2025-001", {.txn = "t"});
  world.Pass(std::chrono::hours(24 * 100));
  Sweep();
  EXPECT_TRUE(world.Stored("CHG-2025-001").has_value());
  EXPECT_TRUE(FindAll().empty());
}

// Two writers of one row: the second learns that the row has changed.
TEST_P(CacheTest, ReplacesOnlyTheRowThatWasRead) {
  Write({.customers = {"hts", "cds"}});
  const auto row = *world.rows.Load(NewContext(), "CHG-2025-001");
  Write({.customers = {"hts"}, .title = "Newer"});
  Row next = *row;
  next.verified = world.clock.Now();
  EXPECT_FALSE(*world.rows.Replace(NewContext(), row, next));
  EXPECT_FALSE(*world.rows.Remove(NewContext(), *row));
  EXPECT_FALSE(*world.rows.Replace(NewContext(), std::nullopt, next));
  EXPECT_EQ(Get("CHG-2025-001")->document, DocumentOf({.customers = {"hts"}, .title = "Newer"}));
}

// The reply is lost after the row was written, alone or with pointers.
TEST_P(CacheTest, RecognisesItsOwnWriteAfterALostReply) {
  for (const std::vector<std::string>& customers :
       {std::vector<std::string>{"hts"}, std::vector<std::string>{"hts", "cds"}}) {
    bool lost = false;
    world.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
      if (!testing::Writes(operation) || std::exchange(lost, true)) return std::nullopt;
      return testing::LostReply();
    };
    const Document document =
        DocumentOf({.id = "D" + std::to_string(customers.size()), .customers = customers});
    const Row row =
        CommitVersion(world.options, Row{.id = document.id()}, document, "e", world.clock.Now());
    EXPECT_TRUE(*world.rows.Replace(NewContext(), std::nullopt, row));
    EXPECT_TRUE(lost);
    EXPECT_EQ(world.sleeper.slept().back(), std::chrono::milliseconds(1000));
  }
  EXPECT_EQ(FindAll({.customer = "cds"}), Expected{"D2"});
}

// Rows of other programs, such as the seed's own code, are read and replaced.
TEST_P(CacheTest, UnderstandsRowsOfOtherPrograms) {
  const Draft draft{.customers = {"hts", "cds"}};
  world.Upload(draft);
  world.Store({{"object_id", draft.id},
               {"object_type", "change"},
               {"status", "submitted"},
               {"customer_code", "hts"},
               {"customers", item::StringSet({"cds", "hts"})},
               {"created_at", item::Number::FromInt(draft.created_at)},
               {"ttl", item::Number::FromInt(draft.created_at + 90 * kDay)},
               {"document_json", JsonOf(draft)}});
  EXPECT_EQ(Get(draft.id)->document, DocumentOf(draft));
  EXPECT_EQ(Get(draft.id)->source, ReadSource::kCache);
  EXPECT_EQ(FindAll({.customer = "hts"}), Expected{draft.id});
  Write({.customers = {"hts", "cds"}, .title = "Newer"});
  EXPECT_EQ(FindAll({.customer = "cds"}), Expected{draft.id});
}

class LaggingIndexesTest : public CacheTest {
 protected:
  LaggingIndexesTest() : CacheTest({.rate_per_second = 100'000, .indexes_lag = true}) {}
};
INSTANTIATE_TEST_SUITE_P(Engines, LaggingIndexesTest, kEngines, NameOfEngine);

// The row decides, because an index may be behind it.
TEST_P(LaggingIndexesTest, ReadsEachRowAgain) {
  Write({.status = "draft"});
  int gets = 0;
  world.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    gets += operation == testing::Operation::kGet ? 1 : 0;
    return std::nullopt;
  };
  EXPECT_EQ(Range({.from = 0, .to = kToday}).documents.size(), 1U);
  // The mark, and the row.
  EXPECT_EQ(gets, 2);
}

// Making the table again changes nothing.
TEST_P(CacheTest, TheTableIsThatOfTheSeed) {
  const auto description = *world.tables.DescribeTable("ccoe-customer-contact-manager-cache");
  EXPECT_EQ(description.keys,
            (item::KeySchema{.partition = {"object_id", item::Type::kString}, .sort = {}}));
  ASSERT_EQ(description.indexes.size(), 3U);
  const std::map<std::string, std::string> wanted = {{"TimeRangeIndex", "object_type"},
                                                     {"CustomerTimeIndex", "customer_code"},
                                                     {"StatusTimeIndex", "status"}};
  for (const tables::IndexDescription& index : description.indexes) {
    EXPECT_EQ(index.spec.keys.partition.name, wanted.at(index.spec.name));
    EXPECT_EQ(index.spec.keys.sort, (item::KeyAttribute{"created_at", item::Type::kNumber}));
    EXPECT_EQ(index.spec.projection.kind, tables::ProjectionKind::kAll);
  }
  EXPECT_EQ(description.ttl_attribute, "ttl");
  EXPECT_EQ(description.throughput, std::nullopt) << "on demand";
  EXPECT_TRUE(world.tables.ListTags(description.name)->contains("CostCenter"));

  Write({});
  EXPECT_TRUE(EnsureCacheTable(world.tables, description.name).has_value());
  EXPECT_EQ(world.tables.DescribeTable(description.name)->id, description.id);
  EXPECT_EQ(Get("CHG-2025-001")->source, ReadSource::kCache);
}

}  // namespace
}  // namespace tidemark::documents
