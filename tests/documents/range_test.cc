// Ranges over the cache and the object store together, and the coverage in their answers.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/documents/write_world.h"

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
    world.Upload(draft);
    ASSERT_TRUE(world.synchronizer.Sync(world.NewContext(), {.id = draft.id}).has_value());
  }
  // Writes the mark of a backfill that has just ended.
  void Mark(EpochSeconds complete_from = 0) {
    ASSERT_TRUE(world.rows
                    .StoreMark(world.NewContext(),
                               {.complete_from = complete_from, .as_of = world.clock.Now()})
                    .has_value());
  }
  Result<RangeReply> Try(const RangeQuery& query, Beyond beyond = Beyond::kSearchObjects) {
    return world.ranges.Read(world.NewContext(), query, beyond);
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

  WriteWorld world;
  int reads = 0;
  const RangeQuery recent{.from = kToday - 10 * kDay, .to = kToday};
  const RangeQuery whole_year{.from = kToday - 365 * kDay, .to = kToday};
};

// When the cache covers the whole range, it answers alone, and as_of has the time of the mark.
TEST_F(RangeTest, TheCacheAnswersARangeThatItCovers) {
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

// Documents that are too old for the cache are read from the object store when the caller asks for
// that.
// Spec: 002-20
TEST_F(RangeTest, TheObjectsAnswerForOldDocuments) {
  Add({.id = "old", .created_at = kToday - 200 * kDay});
  Add({.id = "new", .created_at = kToday - kDay});
  Mark();
  const RangeReply reply = Read(whole_year);
  EXPECT_EQ(IdsOf(reply), (Expected{"old", "new"}));
  EXPECT_TRUE(reply.coverage.complete);
  EXPECT_TRUE(reply.coverage.searched_objects);
  EXPECT_EQ(reply.coverage.complete_from, whole_year.from);
}

// Otherwise the answer says since when it is complete.
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

// The edge of the cache is exact to a second: a document one second before it comes from the
// objects.
TEST_F(RangeTest, NothingIsLostBetweenCacheAndObjects) {
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

// Before the first run over all objects, it is not known what the cache lacks.
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

// A mark with a start covers the time since that start.
TEST_F(RangeTest, AMarkCoversTheTimeSinceItsStart) {
  Add({.id = "late", .created_at = kToday - 2 * kDay});
  world.Upload({.id = "early", .created_at = kToday - 5 * kDay});
  Mark(kToday - 3 * kDay);
  CountReads();
  EXPECT_EQ(IdsOf(Read({.from = kToday - 3 * kDay, .to = kToday})), Expected{"late"});
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(IdsOf(Read(recent)), (Expected{"early", "late"}));
}

// Both stores give the same documents, with all filters.
// Spec: 002-21
TEST_F(RangeTest, TheObjectsGiveTheSameAnswerWhenTheTableIsNotAvailable) {
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

// The table fails between two pages of one answer. The answer starts again from the objects, and no
// document appears twice.
TEST_F(RangeTest, ReadsTheObjectsWhenTheTableFailsMidway) {
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

// An outage must not look like an empty list.
TEST_F(RangeTest, FailsWhenNoStoreIsAvailable) {
  Add({});
  Mark();
  TableAway();
  EXPECT_EQ(Try(recent, Beyond::kFlag).error().code, ErrorCode::kThrottled);
  ObjectsAway();
  const auto reply = Try(recent);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(reply.error().message.find("the table"), std::string::npos);
  EXPECT_NE(reply.error().message.find("the object store"), std::string::npos);
}

// The documents of the cache are returned, and the reply says that it is incomplete.
TEST_F(RangeTest, TheCacheAnswersAPartWhenTheObjectsAreNotAvailable) {
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
TEST_F(RangeTest, PagesContinueFromTheObjectsIntoTheCache) {
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

// Each page may come from another store. Many documents have the same second, and names that sort
// before the separator of a pointer.
TEST_F(RangeTest, PagesContinueWhenAnotherStoreAnswers) {
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

// The document is too large for its row, or damaged there, so the object is read.
TEST_F(RangeTest, ReadsTheObjectWhenTheRowHasNoDocument) {
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

// A write that its writer left may have reached the object, so the object is read.
TEST_F(RangeTest, ReadsTheObjectOfAStaleWrite) {
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
  // Without the object store the reply has the last committed version, and is not complete.
  ObjectsAway();
  reply = Read(recent);
  EXPECT_EQ(reply.documents[0].json(), JsonOf({.title = "Before"}));
  EXPECT_FALSE(reply.coverage.complete);
}

// A first write is in no index yet. A fresh one is counted, and a stale one is settled first: this
// one had reached its object, so the range finds it.
TEST_F(RangeTest, CountsFreshFirstWritesAndSettlesStaleOnes) {
  Mark();
  world.LeaveIntent("CHG-2", {.txn = "u"});
  world.UploadTagged({.id = "CHG-2"}, "u");
  EXPECT_EQ(Read(recent).coverage.in_flight, 1U);
  world.PassLease();
  const RangeReply reply = Read({.from = recent.from, .to = kToday + kDay});
  EXPECT_EQ(IdsOf(reply), Expected{"CHG-2"});
  EXPECT_EQ(reply.coverage.in_flight, 0U);
  EXPECT_TRUE(reply.coverage.complete);
}

TEST_F(RangeTest, ReadsTheObjectsWhenStaleWritesCannotBeFound) {
  Mark();
  bool is_first = true;
  world.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    const bool fails = operation == testing::Operation::kRead && std::exchange(is_first, false);
    return fails ? std::optional(testing::Denied()) : std::nullopt;
  };
  EXPECT_TRUE(Read(recent).coverage.cache_was_away);
  EXPECT_FALSE(Read(recent).coverage.cache_was_away);
}

// Review: D5
// Large documents must not fill the memory: a page also ends at a number of bytes, whether it comes
// from the cache or from the objects.
TEST_F(RangeTest, APageEndsAtANumberOfBytes) {
  const std::string filling =
      fmt::format(R"(,"note":"{}")", std::string(kMaxPageBytes * 2 / 5, 'x'));
  for (int i = 1; i <= 5; ++i) {
    Add({.id = fmt::format("CHG-{}", i), .created_at = kToday - kDay + i, .extra = filling});
  }
  const Expected all{"CHG-1", "CHG-2", "CHG-3", "CHG-4", "CHG-5"};
  for (const bool is_marked : {false, true}) {
    if (is_marked) Mark();
    EXPECT_EQ(IdsOf(Read(recent)), (Expected{"CHG-1", "CHG-2"})) << is_marked;
    EXPECT_EQ(ReadAll(recent), all) << is_marked;
  }
}

// Objects that are not documents are counted, so that an operator can check them.
TEST_F(RangeTest, CountsObjectsThatAreNotDocuments) {
  Add({});
  ASSERT_TRUE(world.memory.Put({.key = "archive/broken.json", .bytes = "{"}).has_value());
  ASSERT_TRUE(
      world.memory.Put({.key = "archive/other.json", .bytes = JsonOf({.id = "x"})}).has_value());
  ASSERT_TRUE(world.memory.Put({.key = "drafts/d.json", .bytes = JsonOf({})}).has_value());
  const RangeReply reply = Read(recent);
  EXPECT_EQ(IdsOf(reply), Expected{"CHG-2025-001"});
  EXPECT_EQ(reply.coverage.unreadable, 2U);
}

// With the cache disabled, only the objects are read.
TEST_F(RangeTest, WithTheCacheDisabledOnlyObjectsAreRead) {
  world.Upload({});
  DocumentsOptions options = world.options;
  options.enabled = false;
  world.tables.decide = [](testing::Operation) -> std::optional<testing::Fault> {
    ADD_FAILURE() << "the table was asked";
    return std::nullopt;
  };
  RangeReader disabled(options, &world.rows, &world.store, &world.synchronizer, &world.observer);
  const auto reply = disabled.Read(world.NewContext(), recent, Beyond::kSearchObjects);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(IdsOf(*reply), Expected{"CHG-2025-001"});
  EXPECT_TRUE(reply->coverage.complete);
}

}  // namespace
}  // namespace tidemark::documents
