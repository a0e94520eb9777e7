// Ranges over the cache and the object store together, and what their answers say of themselves.
#include <algorithm>
#include <string>
#include <vector>

#include "apps/documents/range_reader.h"
#include "tests/documents/world.h"

namespace tidemark::documents {
namespace {

using Expected = std::vector<std::string>;

Expected IdsOf(const RangeReply& reply) {
  Expected ids;
  for (const FoundDocument& document : reply.documents) ids.push_back(document.id());
  return ids;
}

class RangeTest : public ::testing::Test {
 protected:
  // In the object store and, when it is young enough, in the cache.
  void Add(const Draft& draft) {
    const std::string etag = world.Upload(draft);
    ASSERT_TRUE(world.manager.Put(world.NewContext(), DocumentOf(draft), etag).has_value());
  }
  // As after a backfill that has just ended.
  void Mark(EpochSeconds complete_from = 0) {
    ASSERT_TRUE(world.rows
                    .StoreMark(world.NewContext(),
                               {.complete_from = complete_from, .as_of = world.clock.Now()})
                    .has_value());
  }
  Outcome<RangeReply> Try(const RangeQuery& query, Beyond beyond = Beyond::kSearchObjects) {
    return reader.Read(world.NewContext(), query, beyond);
  }
  RangeReply Read(const RangeQuery& query, Beyond beyond = Beyond::kSearchObjects) {
    auto reply = Try(query, beyond);
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    return reply ? *std::move(reply) : RangeReply{};
  }
  // All pages of a range.
  Expected ReadAll(RangeQuery query) {
    Expected ids;
    do {
      const RangeReply reply = Read(query);
      EXPECT_LE(reply.documents.size(), query.limit);
      for (const std::string& id : IdsOf(reply)) ids.push_back(id);
      query.after = reply.last;
    } while (query.after);
    return ids;
  }
  // How often objects were opened from here on.
  void CountReads() {
    reads = 0;
    world.objects.decide = [&](testing::ObjectOperation operation) {
      reads += operation == testing::ObjectOperation::kOpen ? 1 : 0;
      return std::optional<testing::ObjectFault>();
    };
  }
  void TableAway() {
    world.tables.decide = [](testing::Operation) { return std::optional(testing::Throttled()); };
  }
  void ObjectsAway() {
    world.objects.decide = [](testing::ObjectOperation) {
      return std::optional(testing::ObjectsAway());
    };
  }

  World world{{.rate_per_second = 100'000}};
  RangeReader reader{world.options, &world.manager, &world.rows, &world.store, &world.observer};
  int reads = 0;
  const RangeQuery recent{.from = kToday - 10 * kDay, .to = kToday};
  const RangeQuery whole_year{.from = kToday - 365 * kDay, .to = kToday};
};

// What the cache has whole is answered by the cache alone, and says as of when.
TEST_F(RangeTest, TheCacheAnswersWhatItHasWhole) {
  Add({.id = "C1", .created_at = kToday - 2 * kDay});
  Add({.id = "C2", .created_at = kToday - kDay});
  Mark();
  const auto as_of = world.clock.Now();
  world.Pass(std::chrono::hours(1));
  CountReads();
  const RangeReply reply = Read(recent);
  EXPECT_EQ(IdsOf(reply), (Expected{"C1", "C2"}));
  EXPECT_TRUE(reply.coverage.complete);
  EXPECT_EQ(reply.coverage.complete_from, recent.from);
  EXPECT_EQ(reply.coverage.complete_to, recent.to);
  EXPECT_EQ(reply.coverage.as_of, as_of);
  EXPECT_FALSE(reply.coverage.searched_objects);
  EXPECT_FALSE(reply.coverage.cache_was_away);
  EXPECT_EQ(reads, 0);
}

// What is too old for the cache is in the object store, and is read from there when it is asked
// for.
// Spec: 002-20
TEST_F(RangeTest, TheObjectsAnswerWhatIsTooOld) {
  Add({.id = "old", .created_at = kToday - 200 * kDay});
  Add({.id = "new", .created_at = kToday - kDay});
  Mark();
  const RangeReply reply = Read(whole_year);
  EXPECT_EQ(IdsOf(reply), (Expected{"old", "new"}));
  EXPECT_TRUE(reply.coverage.complete);
  EXPECT_TRUE(reply.coverage.searched_objects);
  EXPECT_EQ(reply.coverage.complete_from, whole_year.from);
}

// Or it is not, and the answer says from when on it is whole.
// Spec: 002-20
TEST_F(RangeTest, APartialAnswerSaysSo) {
  Add({.id = "old", .created_at = kToday - 200 * kDay});
  Add({.id = "new", .created_at = kToday - kDay});
  Mark();
  const RangeReply reply = Read(whole_year, Beyond::kFlag);
  EXPECT_EQ(IdsOf(reply), Expected{"new"});
  EXPECT_FALSE(reply.coverage.complete);
  EXPECT_FALSE(reply.coverage.searched_objects);
  EXPECT_EQ(reply.coverage.complete_from, kToday - 90 * kDay + 1);
  EXPECT_NE(world.Logged().find("incomplete"), std::string::npos);
}

// The edge of the cache is exact: a document of the last second before it is the objects'.
TEST_F(RangeTest, NothingFallsBetweenCacheAndObjects) {
  for (int i = -2; i <= 2; ++i) {
    Add({.id = "D" + std::to_string(i + 2), .created_at = kToday - 90 * kDay + i});
  }
  Mark();
  EXPECT_EQ(IdsOf(Read(whole_year)), (Expected{"D0", "D1", "D2", "D3", "D4"}));
  for (int i = -2; i <= 2; ++i) {
    const EpochSeconds at = kToday - 90 * kDay + i;
    EXPECT_EQ(IdsOf(Read({.from = at, .to = at})), Expected{"D" + std::to_string(i + 2)});
  }
}

// Before a run over all objects has been, nobody knows what the cache lacks.
TEST_F(RangeTest, WithoutAMarkTheObjectsAnswer) {
  Add({.id = "cached", .created_at = kToday - kDay});
  world.Upload({.id = "uploaded", .created_at = kToday - kDay});
  const RangeReply reply = Read(recent);
  EXPECT_EQ(IdsOf(reply), (Expected{"cached", "uploaded"}));
  EXPECT_TRUE(reply.coverage.complete);
  EXPECT_TRUE(reply.coverage.searched_objects);
  const RangeReply flagged = Read(recent, Beyond::kFlag);
  EXPECT_EQ(IdsOf(flagged), Expected{"cached"});
  EXPECT_FALSE(flagged.coverage.complete);
}

// A run over a part of the objects makes that part whole.
TEST_F(RangeTest, AMarkCountsFromItsBeginning) {
  Add({.id = "late", .created_at = kToday - 2 * kDay});
  world.Upload({.id = "early", .created_at = kToday - 5 * kDay});
  Mark(kToday - 3 * kDay);
  CountReads();
  EXPECT_EQ(IdsOf(Read({.from = kToday - 3 * kDay, .to = kToday})), Expected{"late"});
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(IdsOf(Read(recent)), (Expected{"early", "late"}));
}

// The same documents, whichever store answers, with all filters.
// Spec: 002-21
TEST_F(RangeTest, WithoutTheTableTheObjectsAnswerTheSame) {
  Add({.id = "C1", .customers = {"hts", "cds"}, .status = "approved", .created_at = kToday - 20});
  Add({.id = "C2", .customers = {"cds"}, .created_at = kToday - 10});
  Add({.id = "A1", .type = "announcement_cic", .customers = {"cds"}, .created_at = kToday - 15});
  Mark();
  const std::vector<RangeQuery> queries = {
      recent,
      {.from = kToday - 20, .to = kToday - 10, .customer = "cds"},
      {.from = kToday - 19, .to = kToday - 11},
      {.from = 0, .to = kToday, .type = "change", .status = "submitted"},
      {.from = 0, .to = kToday, .type = "change", .customer = "hts", .status = "approved"}};
  std::vector<Expected> by_table;
  for (const RangeQuery& query : queries) by_table.push_back(IdsOf(Read(query)));
  TableAway();
  for (size_t i = 0; i < queries.size(); ++i) {
    const RangeReply reply = Read(queries[i]);
    EXPECT_EQ(IdsOf(reply), by_table[i]);
    EXPECT_FALSE(reply.documents.empty());
    EXPECT_TRUE(reply.coverage.cache_was_away);
    EXPECT_TRUE(reply.coverage.complete);
    EXPECT_TRUE(reply.coverage.searched_objects);
  }
}

// The table goes away between two pages of one answer: it begins anew, and nothing is twice.
TEST_F(RangeTest, ATableThatGoesAwayMidwayIsReplaced) {
  Add({.id = "old", .created_at = kToday - 200 * kDay});
  Add({.id = "C1", .created_at = kToday - 20});
  Mark();
  int calls = 0;
  world.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    if (operation == testing::Operation::kRead && ++calls > 1) return testing::Throttled();
    return std::nullopt;
  };
  const RangeReply reply = Read(whole_year);
  EXPECT_EQ(IdsOf(reply), (Expected{"old", "C1"}));
  EXPECT_TRUE(reply.coverage.cache_was_away);
}

// An empty list must not stand for an outage.
TEST_F(RangeTest, WithoutBothThereIsNoAnswer) {
  Add({});
  Mark();
  TableAway();
  EXPECT_EQ(Try(recent, Beyond::kFlag).error().type, CacheErrorType::kThrottling);
  ObjectsAway();
  const auto reply = Try(recent);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().type, CacheErrorType::kUnavailable);
  EXPECT_EQ(reply.error().causes.size(), 2U);
  EXPECT_NE(reply.error().message.find("the table"), std::string::npos);
  EXPECT_NE(reply.error().message.find("the object store"), std::string::npos);
}

// What the cache has is served, and said to be a part.
TEST_F(RangeTest, WithoutTheObjectsTheCacheAnswersAPart) {
  Add({.id = "new"});
  Mark();
  ObjectsAway();
  EXPECT_TRUE(Read(recent).coverage.complete);
  const RangeReply reply = Read(whole_year);
  EXPECT_EQ(IdsOf(reply), Expected{"new"});
  EXPECT_FALSE(reply.coverage.complete);
  EXPECT_EQ(reply.coverage.complete_from, kToday - 90 * kDay + 1);
}

// Pages that begin in the objects and end in the cache.
TEST_F(RangeTest, PagesGoOverTheEdge) {
  Expected all;
  for (int i = 0; i < 12; ++i) {
    const std::string id = "D" + std::to_string(10 + i);
    Add({.id = id, .customers = {"hts", "cds"}, .created_at = kToday - 96 * kDay + i * kDay});
    all.push_back(id);
  }
  Mark();
  for (const size_t limit : {1, 2, 5, 6, 7, 11, 12, 100}) {
    RangeQuery query = whole_year;
    query.limit = limit;
    EXPECT_EQ(ReadAll(query), all) << limit;
    query.customer = "cds";
    EXPECT_EQ(ReadAll(query), all) << limit;
  }
}

// The stores take turns while somebody turns pages; many are of one second, and of names that sort
// before the mark of a pointer.
TEST_F(RangeTest, PagesGoOnWhicheverStoreAnswers) {
  Expected all;
  for (int i = 0; i < 12; ++i) {
    const std::string id = std::string("A") + (i % 2 == 0 ? "" : " ") + std::to_string(10 + i / 2);
    Add({.id = id,
         .customers =
             i % 3 == 0 ? std::vector<std::string>{"cds"} : std::vector<std::string>{"hts", "cds"},
         .created_at = kToday - kDay + i / 6});
    all.push_back(id);
  }
  std::sort(all.begin(), all.end());
  Mark();
  for (const size_t limit : {1, 2, 3}) {
    RangeQuery query = recent;
    query.limit = limit;
    query.customer = "cds";
    Expected ids;
    int page = 0;
    do {
      world.tables.decide = nullptr;
      if (++page % 2 == 0) TableAway();
      const RangeReply reply = Read(query);
      for (const std::string& id : IdsOf(reply)) ids.push_back(id);
      query.after = reply.last;
    } while (query.after);
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, all) << limit;
  }
}

// Too large for its row, or damaged in it: the object has it.
TEST_F(RangeTest, WhatARowDoesNotHoldIsReadFromItsObject) {
  const Draft large{.id = "large", .extra = R"(,"note":")" + std::string(420'000, 'x') + "\""};
  Add(large);
  Add({.id = "damaged", .created_at = kToday - 2 * kDay});
  item::Item row = *world.Stored("damaged");
  row.Set("document_json", std::string("?"));
  world.Store(row);
  Mark();
  const RangeReply reply = Read(recent);
  EXPECT_EQ(IdsOf(reply), (Expected{"damaged", "large"}));
  EXPECT_EQ(reply.documents[1].json(), JsonOf(large));
  EXPECT_TRUE(reply.coverage.complete);
}

// A write that was left may have reached the object: only the object can tell.
TEST_F(RangeTest, WhatIsInDoubtIsReadFromItsObject) {
  Add({.title = "Before"});
  Mark();
  const auto row = *world.rows.Load(world.NewContext(), "CHG-2025-001");
  Row next = *row;
  next.intent = Intent{.txn = "t", .base_etag = "1", .started = world.clock.Now()};
  ASSERT_TRUE(*world.rows.Replace(world.NewContext(), row, next));
  world.Upload({.title = "After"});
  RangeReply reply = Read(recent);
  EXPECT_EQ(reply.documents[0].json(), JsonOf({.title = "Before"}));
  EXPECT_EQ(reply.coverage.in_flight, 1U);
  world.Pass(std::chrono::seconds(34));
  reply = Read(recent);
  EXPECT_EQ(reply.documents[0].json(), JsonOf({.title = "After"}));
  // Without the objects it is the last that was committed, and the answer is no longer sure.
  ObjectsAway();
  reply = Read(recent);
  EXPECT_EQ(reply.documents[0].json(), JsonOf({.title = "Before"}));
  EXPECT_FALSE(reply.coverage.complete);
}

// First writes are in no index: they are counted, and settled when somebody can.
TEST_F(RangeTest, FirstWritesAreCountedAndSettled) {
  Mark();
  Row first{.id = "CHG-2"};
  first.intent = Intent{.txn = "u", .base_etag = std::nullopt, .started = world.clock.Now()};
  ASSERT_TRUE(*world.rows.Replace(world.NewContext(), std::nullopt, first));
  EXPECT_EQ(Read(recent).coverage.in_flight, 1U);

  int settled = 0;
  bool can_settle = true;
  RangeReader settling(world.options, &world.manager, &world.rows, &world.store, &world.observer,
                       [&](const Context&) -> Outcome<Done> {
                         ++settled;
                         if (!can_settle) return NotFound("cannot, for the test");
                         return Done{};
                       });
  const auto read = [&] {
    return *settling.Read(world.NewContext(), recent, Beyond::kSearchObjects);
  };
  EXPECT_TRUE(read().coverage.complete);
  can_settle = false;
  EXPECT_FALSE(read().coverage.complete);
  EXPECT_EQ(settled, 2);
}

// Objects that are no documents are counted: somebody should look at them.
TEST_F(RangeTest, WhatIsNoDocumentIsCounted) {
  Add({});
  ASSERT_TRUE(world.memory.Put({.key = "archive/broken.json", .bytes = "{"}).has_value());
  ASSERT_TRUE(
      world.memory.Put({.key = "archive/other.json", .bytes = JsonOf({.id = "x"})}).has_value());
  ASSERT_TRUE(world.memory.Put({.key = "drafts/d.json", .bytes = JsonOf({})}).has_value());
  const RangeReply reply = Read(recent);
  EXPECT_EQ(IdsOf(reply), Expected{"CHG-2025-001"});
  EXPECT_EQ(reply.coverage.unreadable, 2U);
}

// Without a cache the objects are all there is.
TEST_F(RangeTest, WithTheCacheDisabledOnlyObjectsAreRead) {
  world.Upload({});
  DocumentsOptions options = world.options;
  options.enabled = false;
  world.tables.decide = [](testing::Operation) -> std::optional<testing::Fault> {
    ADD_FAILURE() << "the table was asked";
    return std::nullopt;
  };
  RangeReader disabled(options, &world.manager, &world.rows, &world.store, &world.observer);
  const auto reply = disabled.Read(world.NewContext(), recent, Beyond::kSearchObjects);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(IdsOf(*reply), Expected{"CHG-2025-001"});
  EXPECT_TRUE(reply->coverage.complete);
}

}  // namespace
}  // namespace tidemark::documents
