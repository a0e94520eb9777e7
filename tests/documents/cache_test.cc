// The cache by itself: put, get, delete and the ranges, over the model and the embedded tables.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/documents/limits.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/documents/world.h"
#include "tests/support/temp_folder.h"

namespace tidemark::documents {
namespace {

std::vector<std::string> Ids(const std::vector<FoundDocument>& documents) {
  std::vector<std::string> ids;
  for (const FoundDocument& document : documents) ids.push_back(document.id());
  return ids;
}
using Expected = std::vector<std::string>;

enum class Engine { kModel, kEmbedded };

class CacheTest : public ::testing::TestWithParam<Engine> {
 protected:
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

  CachePut Put(const Draft& draft) {
    const auto put = world.manager.Put(world.NewContext(), DocumentOf(draft), "etag");
    EXPECT_TRUE(put.has_value()) << put.error().message;
    return put ? *put : CachePut::kDryRun;
  }
  Outcome<CachedDocument> Get(const std::string& id) {
    return world.manager.Get(world.NewContext(), id);
  }
  // All that match, page by page.
  Expected Find(RangeQuery query) {
    Expected found;
    do {
      const auto page = world.manager.Query(world.NewContext(), query);
      EXPECT_TRUE(page.has_value()) << page.error().message;
      if (!page) break;
      EXPECT_LE(page->hits.size(), query.limit);
      for (const CachedHit& hit : page->hits) found.push_back(hit.id);
      query.after = page->last;
    } while (query.after);
    return found;
  }
  Expected FindAll(RangeQuery query = {}) {
    query.from = kToday - 100 * kDay;
    query.to = kToday + kDay;
    return Find(query);
  }
  void Maintain() { embedded ? (void)embedded->Maintain() : world.model.Maintain(); }

  TempFolder folder;
  embedded::EmbeddedTables* embedded = nullptr;
  World world{{.rate_per_second = 100'000}, Maker()};
};

INSTANTIATE_TEST_SUITE_P(Engines, CacheTest, ::testing::Values(Engine::kModel, Engine::kEmbedded),
                         [](const auto& parameter) {
                           return parameter.param == Engine::kModel ? "Model" : "Embedded";
                         });

// Spec: 002-09
TEST_P(CacheTest, WhatWasPutIsGot) {
  const Draft draft{.extra = R"(,"unknown" : 1.0)"};
  EXPECT_EQ(Put(draft), CachePut::kCached);
  const auto got = Get(draft.id);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->document, DocumentOf(draft));
  EXPECT_EQ(got->etag, "etag");
  EXPECT_EQ(got->verified, world.clock.Now());

  const auto missing = Get("CHG-2");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().type, CacheErrorType::kNotFound);
  EXPECT_FALSE(missing.error().retryable);
}

// Nothing that is no document reaches the table.
// Spec: 002-06
TEST_P(CacheTest, WhatIsNotValidIsNotPut) {
  const auto put_json = [&](std::string json) -> Outcome<CachePut> {
    Result<Document> document = Document::Parse(std::move(json));
    if (!document) return Refused(std::move(document).error());
    return world.manager.Put(world.NewContext(), *document, "etag");
  };
  for (const std::string& json :
       {JsonOf({.id = ""}), JsonOf({.type = "incident"}), JsonOf({.created_at = 0}), std::string(),
        JsonOf({.extra = R"(,"metadata":{"a":1})"}), std::string("{}"),
        std::string(R"({"object_type":"change","changeId":"C","changeTitle":"T"})")}) {
    const auto put = put_json(json);
    ASSERT_FALSE(put.has_value()) << json;
    EXPECT_EQ(put.error().type, CacheErrorType::kValidation);
    EXPECT_FALSE(put.error().retryable);
  }
  EXPECT_EQ(world.StoredItems(), 0U);
  EXPECT_TRUE(put_json(JsonOf({})).has_value());
}

// Spec: 002-10
TEST_P(CacheTest, DeletingSucceedsWhetherItWasThereOrNot) {
  Put({.customers = {"hts", "cds"}});
  EXPECT_TRUE(world.manager.Delete(world.NewContext(), "CHG-2025-001").has_value());
  EXPECT_EQ(Get("CHG-2025-001").error().type, CacheErrorType::kNotFound);
  EXPECT_TRUE(FindAll({.customer = "cds"}).empty());
  EXPECT_TRUE(FindAll().empty());
  EXPECT_TRUE(world.manager.Delete(world.NewContext(), "CHG-2025-001").has_value());
  EXPECT_TRUE(world.manager.Delete(world.NewContext(), "never-there").has_value());
  EXPECT_EQ(world.Stored("never-there"), std::nullopt);
}

// Swept or not: an expired row is absent. The object is not the cache's to take.
// Spec: 002-11, 002-19
TEST_P(CacheTest, AnExpiredRowIsAbsent) {
  const Draft draft{.created_at = kToday - kDay};
  world.Upload(draft);
  Put(draft);
  Put({.id = "CHG-2", .created_at = kToday});
  world.Pass(std::chrono::hours(24 * 89));
  EXPECT_EQ(Get(draft.id).error().type, CacheErrorType::kNotFound);
  EXPECT_TRUE(world.Stored(draft.id).has_value()) << "the sweeper has not run yet";
  EXPECT_EQ(FindAll(), Expected{"CHG-2"});
  EXPECT_EQ(FindAll({.customer = "hts"}), Expected{"CHG-2"});
  EXPECT_EQ(FindAll({.status = "submitted"}), Expected{"CHG-2"});
  EXPECT_TRUE(world.ObjectOf(draft.id).has_value());
}

// Spec: 002-73
TEST_P(CacheTest, AShortLifeEndsAtOnceAndIsSwept) {
  World brief({.ttl = std::chrono::minutes(1), .rate_per_second = 1000});
  const Draft draft{.customers = {"hts", "cds"}, .created_at = kToday};
  brief.Upload(draft);
  ASSERT_TRUE(brief.manager.Put(brief.NewContext(), DocumentOf(draft), "e").has_value());
  brief.Pass(std::chrono::seconds(59));
  EXPECT_TRUE(brief.manager.Get(brief.NewContext(), draft.id).has_value());
  brief.Pass(std::chrono::seconds(1));
  EXPECT_FALSE(brief.manager.Get(brief.NewContext(), draft.id).has_value());
  EXPECT_EQ(brief.StoredItems(), 2U);
  brief.Pass(std::chrono::seconds(1));
  brief.model.Maintain();
  EXPECT_EQ(brief.StoredItems(), 0U);
  EXPECT_TRUE(brief.ObjectOf(draft.id).has_value());
}

// A ttl in the past would make a row that is gone on every read.
// Spec: 002-12
TEST_P(CacheTest, WhatIsTooOldIsNotCachedAndNoError) {
  EXPECT_EQ(Put({.created_at = kToday - 90 * kDay}), CachePut::kTooOld);
  EXPECT_EQ(world.StoredItems(), 0U);
  EXPECT_EQ(Put({.created_at = kToday - 90 * kDay + 1}), CachePut::kCached);
  // Created long ago, but edited yesterday.
  EXPECT_EQ(Put({.id = "B", .created_at = kToday - 200 * kDay, .modified_at = kToday - kDay}),
            CachePut::kCached);
}

// The version before must not be served in the place of one that is not cached.
TEST_P(CacheTest, WhatIsTooOldTakesTheVersionBeforeAway) {
  Put({.created_at = kToday - kDay});
  EXPECT_EQ(Put({.created_at = kToday - 365 * kDay}), CachePut::kTooOld);
  EXPECT_FALSE(Get("CHG-2025-001").has_value());
}

// Spec: 002-13
TEST_P(CacheTest, ADryRunLogsAndWritesNothing) {
  Put({});
  const auto before = world.Stored("CHG-2025-001");
  DocumentsOptions dry = world.options;
  dry.dry_run = true;
  CacheManager manager(dry, &world.rows, &world.observer);
  world.log.str("");
  EXPECT_EQ(*manager.Put(world.NewContext(), DocumentOf({.title = "Other"}), "e2"),
            CachePut::kDryRun);
  EXPECT_TRUE(manager.Delete(world.NewContext(), "CHG-2025-001").has_value());
  EXPECT_EQ(world.Stored("CHG-2025-001"), before);
  const std::string logged = world.Logged();
  EXPECT_NE(logged.find("(dry run) operation=put key=CHG-2025-001"), std::string::npos) << logged;
  EXPECT_NE(logged.find("(dry run) operation=delete key=CHG-2025-001"), std::string::npos);
  EXPECT_EQ(manager.Get(world.NewContext(), "CHG-2025-001")->document, DocumentOf({}));
}

// Spec: 002-05
TEST_P(CacheTest, WithoutCustomersItIsFoundByAllElse) {
  Put({.customers = {}});
  EXPECT_FALSE(world.Stored("CHG-2025-001")->Contains("customer_code"));
  EXPECT_FALSE(world.Stored("CHG-2025-001")->Contains("customers"));
  EXPECT_TRUE(Get("CHG-2025-001").has_value());
  EXPECT_EQ(FindAll({.type = "change"}), Expected{"CHG-2025-001"});
  EXPECT_EQ(FindAll({.status = "submitted"}), Expected{"CHG-2025-001"});
}

// A row that others damaged is as good as none.
TEST_P(CacheTest, DamageIsAMiss) {
  Put({});
  item::Item row = *world.Stored("CHG-2025-001");
  row.Set("document_json", std::string("{"));
  world.Store(row);
  EXPECT_EQ(Get("CHG-2025-001").error().type, CacheErrorType::kNotFound);
  const auto page = world.manager.Query(world.NewContext(), {.from = 0, .to = kToday});
  ASSERT_EQ(page->hits.size(), 1U);
  EXPECT_FALSE(page->hits[0].document.has_value());
  // The text of another document, which only the hash tells.
  row.Set("document_json", JsonOf({.title = "Forged"}));
  world.Store(row);
  const auto again = world.manager.Query(world.NewContext(), {.from = 0, .to = kToday});
  EXPECT_FALSE(again->hits[0].document.has_value());
}

// The row keeps what it is found by; the document is the object's.
TEST_P(CacheTest, WhatIsTooLargeIsFoundButNotCached) {
  const Draft large{.customers = {"hts", "cds"},
                    .extra = R"(,"note":")" + std::string(420'000, 'x') + "\""};
  EXPECT_EQ(Put(large), CachePut::kTooLarge);
  EXPECT_EQ(Get(large.id).error().type, CacheErrorType::kNotFound);
  EXPECT_EQ(FindAll({.customer = "cds"}), Expected{large.id});
  EXPECT_EQ(FindAll({.status = "submitted"}), Expected{large.id});
}

// Both ends belong to a range, and only what matches comes, in the order of creation.
// Spec: 002-14
TEST_P(CacheTest, RangesHaveExactlyWhatMatches) {
  Put({.id = "C3", .created_at = kToday - 10});
  Put({.id = "C1", .created_at = kToday - 30});
  Put({.id = "C2", .customers = {"cds"}, .status = "approved", .created_at = kToday - 20});
  Put({.id = "A1", .type = "announcement_cic", .created_at = kToday - 25});
  const Context context = world.NewContext();
  CacheManager& manager = world.manager;
  EXPECT_EQ(Ids(*manager.QueryByTimeRange(context, "change", kToday - 30, kToday - 10)),
            (Expected{"C1", "C2", "C3"}));
  EXPECT_EQ(Ids(*manager.QueryByTimeRange(context, "change", kToday - 29, kToday - 11)),
            Expected{"C2"});
  EXPECT_EQ(Ids(*manager.QueryByTimeRange(context, "announcement", kToday - 99, kToday)),
            Expected{"A1"});
  EXPECT_EQ(Ids(*manager.QueryByCustomerAndTime(context, "hts", kToday - 30, kToday - 10)),
            (Expected{"C1", "A1", "C3"}));
  EXPECT_EQ(Ids(*manager.QueryByStatusAndTime(context, "approved", kToday - 20, kToday - 20)),
            Expected{"C2"});
  EXPECT_TRUE(manager.QueryByStatusAndTime(context, "draft", 0, kToday)->empty());
  // Without anything but a time: all types, in one order.
  EXPECT_EQ(FindAll(), (Expected{"C1", "A1", "C2", "C3"}));
}

// Spec: 002-15
TEST_P(CacheTest, EveryCustomerFindsItOnce) {
  Put({.customers = {"hts", "cds", "abc"}});
  for (const char* customer : {"hts", "cds", "abc"}) {
    EXPECT_EQ(FindAll({.customer = customer}), Expected{"CHG-2025-001"}) << customer;
  }
  EXPECT_TRUE(FindAll({.customer = "other"}).empty());
  // The first becomes another, one goes, one comes.
  Put({.customers = {"cds", "hts", "new"}});
  for (const char* customer : {"hts", "cds", "new"}) {
    EXPECT_EQ(FindAll({.customer = customer}), Expected{"CHG-2025-001"}) << customer;
  }
  EXPECT_TRUE(FindAll({.customer = "abc"}).empty());
  EXPECT_EQ(world.Stored("CHG-2025-001#abc"), std::nullopt);
  EXPECT_EQ(world.Stored("CHG-2025-001#cds"), std::nullopt);
}

// As many as a document may have, all changed at once: what does not fit into the transaction is
// left behind, and found by nobody.
TEST_P(CacheTest, PointersThatAreLeftFindNothing) {
  std::vector<std::string> before;
  std::vector<std::string> after;
  for (size_t i = 0; i < kMaxCustomers; ++i) {
    before.push_back("b" + std::to_string(i));
    after.push_back("a" + std::to_string(i));
  }
  Put({.customers = before});
  Put({.customers = after});
  for (size_t i = 0; i < kMaxCustomers; i += 7) {
    EXPECT_TRUE(FindAll({.customer = before[i]}).empty());
    EXPECT_EQ(FindAll({.customer = after[i]}), Expected{"CHG-2025-001"});
  }
  // Nor twice, by a pointer that is left for who is the first now.
  std::swap(after.front(), after.back());
  Put({.customers = {after.front()}});
  EXPECT_EQ(FindAll({.customer = after.front()}), Expected{"CHG-2025-001"});
}

// Spec: 002-16
TEST_P(CacheTest, OnlyTheNewStatusFindsIt) {
  Put({.status = "submitted"});
  Put({.status = "approved"});
  EXPECT_TRUE(FindAll({.status = "submitted"}).empty());
  EXPECT_EQ(FindAll({.status = "approved"}), Expected{"CHG-2025-001"});
}

// A moved time of creation moves it in every index.
TEST_P(CacheTest, OnlyTheNewTimeFindsIt) {
  Put({.customers = {"hts", "cds"}, .created_at = kToday - 20});
  Put({.customers = {"hts", "cds"}, .created_at = kToday - 10});
  for (const char* customer : {"hts", "cds"}) {
    EXPECT_TRUE(Find({.from = 0, .to = kToday - 11, .customer = customer}).empty());
    EXPECT_EQ(FindAll({.customer = customer}), Expected{"CHG-2025-001"});
  }
}

// Pages of every size, with many of one second, over one index or two.
// Spec: 002-17
TEST_P(CacheTest, PagesHaveNoGapsAndNoRepeats) {
  Expected all;
  for (int i = 0; i < 60; ++i) {
    char id[8];
    snprintf(id, sizeof id, "D%02d", i);
    Put({.id = id,
         .type = i % 3 == 0 ? "announcement_general" : "change",
         .customers =
             i % 2 == 0 ? std::vector<std::string>{"hts", "cds"} : std::vector<std::string>{"cds"},
         .created_at = kToday - 1000 + (i / 10)});
    all.push_back(id);
  }
  for (const size_t limit : {1, 7, 10, 59, 60, 1000}) {
    EXPECT_EQ(FindAll({.limit = limit}), all) << limit;
    Expected by_customer = FindAll({.customer = "cds", .limit = limit});
    std::sort(by_customer.begin(), by_customer.end());
    EXPECT_EQ(by_customer, all) << limit;
    EXPECT_EQ(FindAll({.type = "announcement", .limit = limit}).size(), 20U);
  }
  EXPECT_EQ(Ids(*world.manager.QueryByTimeRange(world.NewContext(), "change", 0, kToday)).size(),
            40U);
}

// Documents of 10 KB: a page of the table ends long before a page of ours.
TEST_P(CacheTest, PagesOfTheTableDoNotMatter) {
  for (int i = 0; i < 250; ++i) {
    Put({.id = "D" + std::to_string(1000 + i),
         .created_at = kToday - 1000 + i,
         .extra = R"(,"note":")" + std::string(10'000, 'x') + "\""});
  }
  EXPECT_EQ(FindAll({.customer = "hts", .limit = 1000}).size(), 250U);
  EXPECT_EQ(FindAll({.type = "change", .status = "draft", .limit = 10}).size(), 0U);
}

// Spec: 002-18
TEST_P(CacheTest, RefusesRangesThatMakeNoSense) {
  const std::vector<RangeQuery> wrong = {{.from = 2, .to = 1},
                                         {.from = 1, .to = 2, .type = "incident"},
                                         {.from = 1, .to = 2, .type = ""},
                                         {.from = 1, .to = 2, .customer = ""},
                                         {.from = 1, .to = 2, .customer = "a#b"},
                                         {.from = 1, .to = 2, .status = "done"},
                                         {.from = 1, .to = 2, .limit = 0},
                                         {.from = 1, .to = 2, .limit = kMaxPage + 1}};
  for (const RangeQuery& query : wrong) {
    const auto page = world.manager.Query(world.NewContext(), query);
    ASSERT_FALSE(page.has_value());
    EXPECT_EQ(page.error().type, CacheErrorType::kValidation);
    EXPECT_FALSE(page.error().retryable);
  }
  EXPECT_TRUE(world.manager.Query(world.NewContext(), {.from = 1, .to = 1}).has_value());
}

// Spec: 002-22
TEST_P(CacheTest, AllFiltersApplyTogether) {
  Put({.id = "yes", .customers = {"cds", "hts"}, .status = "approved"});
  Put({.id = "status", .customers = {"hts"}, .status = "draft"});
  Put({.id = "customer", .customers = {"cds"}, .status = "approved"});
  Put({.id = "type", .type = "announcement_cic", .customers = {"hts"}, .status = "approved"});
  Put({.id = "time", .customers = {"hts"}, .status = "approved", .created_at = kToday - 50 * kDay});
  EXPECT_EQ(Find({.from = kToday - 2 * kDay,
                  .to = kToday,
                  .type = "change",
                  .customer = "hts",
                  .status = "approved"}),
            Expected{"yes"});
}

// A write that is under way is nobody's business; one that was left is told.
TEST_P(CacheTest, RangesIgnoreIntents) {
  Put({});
  auto row = *world.rows.Load(world.NewContext(), "CHG-2025-001");
  Row next = *row;
  next.intent = Intent{.txn = "t", .base_etag = "etag", .started = world.clock.Now()};
  ASSERT_TRUE(*world.rows.Replace(world.NewContext(), row, next));
  Row first{.id = "CHG-2"};
  first.intent = Intent{.txn = "u", .base_etag = std::nullopt, .started = world.clock.Now()};
  ASSERT_TRUE(*world.rows.Replace(world.NewContext(), std::nullopt, first));

  EXPECT_EQ(Get("CHG-2025-001")->document, DocumentOf({}));
  EXPECT_FALSE(Get("CHG-2").has_value());
  const RangeQuery all{.from = 0, .to = kToday + kDay};
  auto page = *world.manager.Query(world.NewContext(), all);
  ASSERT_EQ(page.hits.size(), 1U);
  EXPECT_EQ(page.in_flight, 1U);
  EXPECT_FALSE(page.hits[0].in_doubt);
  EXPECT_EQ(*world.rows.ListIntents(world.NewContext(), world.clock.Now()), Expected{"CHG-2"});

  world.Pass(std::chrono::seconds(34));
  page = *world.manager.Query(world.NewContext(), all);
  EXPECT_TRUE(page.hits[0].in_doubt);
}

// The sweeper takes no row that somebody is writing.
TEST_P(CacheTest, ARowWithAnIntentOutlivesItsEnd) {
  Put({});
  auto row = *world.rows.Load(world.NewContext(), "CHG-2025-001");
  Row next = *row;
  next.intent = Intent{.txn = "t", .base_etag = "etag", .started = world.clock.Now()};
  ASSERT_TRUE(*world.rows.Replace(world.NewContext(), row, next));
  world.Pass(std::chrono::hours(24 * 100));
  Maintain();
  EXPECT_TRUE(world.Stored("CHG-2025-001").has_value());
  EXPECT_FALSE(Get("CHG-2025-001").has_value());
}

// Two writers of one row: the second is told that the row is another by now.
TEST_P(CacheTest, ReplacingIsConditionalOnWhatWasRead) {
  Put({.customers = {"hts", "cds"}});
  const auto row = *world.rows.Load(world.NewContext(), "CHG-2025-001");
  Put({.customers = {"hts"}, .title = "Newer"});
  Row next = *row;
  next.sequencer = "1";
  EXPECT_FALSE(*world.rows.Replace(world.NewContext(), row, next));
  EXPECT_FALSE(*world.rows.Remove(world.NewContext(), *row));
  EXPECT_FALSE(*world.rows.Replace(world.NewContext(), std::nullopt, next));
  EXPECT_EQ(Get("CHG-2025-001")->document, DocumentOf({.customers = {"hts"}, .title = "Newer"}));
}

// A reply that was lost after the write was made is recognised, alone or with pointers.
TEST_P(CacheTest, ALostReplyIsRecognised) {
  for (const std::vector<std::string>& customers :
       {std::vector<std::string>{"hts"}, std::vector<std::string>{"hts", "cds"}}) {
    bool lost = false;
    world.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
      if (!testing::Writes(operation) || std::exchange(lost, true)) return std::nullopt;
      return testing::LostReply();
    };
    const Document document =
        DocumentOf({.id = "D" + std::to_string(customers.size()), .customers = customers});
    Row row{.id = document.id()};
    row.committed = CommittedFrom(world.options, document, "e", kToday);
    EXPECT_TRUE(*world.rows.Replace(world.NewContext(), std::nullopt, row));
    EXPECT_TRUE(lost);
    EXPECT_EQ(world.pauser.pauses().back(), std::chrono::milliseconds(1000));
  }
  EXPECT_EQ(FindAll({.customer = "cds"}), Expected{"D2"});
}

// Rows of other programs, such as the seed's own code, are read and replaced.
TEST_P(CacheTest, RowsOfOthersAreUnderstood) {
  const Draft draft{.customers = {"hts", "cds"}};
  world.Store({{"object_id", draft.id},
               {"object_type", "change"},
               {"status", "submitted"},
               {"customer_code", "hts"},
               {"customers", item::StringSet({"cds", "hts"})},
               {"created_at", item::Number::FromInt(draft.created_at)},
               {"ttl", item::Number::FromInt(draft.created_at + 90 * kDay)},
               {"document_json", JsonOf(draft)}});
  EXPECT_EQ(Get(draft.id)->document, DocumentOf(draft));
  EXPECT_EQ(FindAll({.customer = "hts"}), Expected{draft.id});
  Put(draft);
  EXPECT_EQ(FindAll({.customer = "cds"}), Expected{draft.id});
}

// Where indexes may be behind, the row decides.
TEST_P(CacheTest, WhereIndexesLagEachHitIsReadAgain) {
  World lagging({.rate_per_second = 1000, .indexes_lag = true});
  ASSERT_TRUE(
      lagging.manager.Put(lagging.NewContext(), DocumentOf({.status = "draft"}), "e").has_value());
  int gets = 0;
  lagging.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    gets += operation == testing::Operation::kGet ? 1 : 0;
    return std::nullopt;
  };
  const auto page = lagging.manager.Query(lagging.NewContext(), {.from = 0, .to = kToday});
  EXPECT_EQ(page->hits.size(), 1U);
  EXPECT_EQ(gets, 1);
}

// The table of the seed, and nothing changes when it is there.
TEST_P(CacheTest, TheTableIsTheSeeds) {
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

  Put({});
  EXPECT_TRUE(EnsureCacheTable(world.tables, description.name).has_value());
  EXPECT_EQ(world.tables.DescribeTable(description.name)->id, description.id);
  EXPECT_TRUE(Get("CHG-2025-001").has_value());
}

}  // namespace
}  // namespace tidemark::documents
