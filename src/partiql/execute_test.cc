#include "partiql/execute.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "item/json.h"
#include "partiql/batch.h"
#include "partiql/parse.h"
#include "tests/model/model_tables.h"
#include "tests/support/forwarding_tables.h"
#include "tests/support/manual_time.h"

namespace tidemark::partiql {
namespace {

using ::testing::HasSubstr;

class PartiqlTest : public ::testing::Test {
 protected:
  PartiqlTest() {
    const item::KeyAttribute by_kind{.name = "kind"};
    EXPECT_TRUE(tables_.CreateTable(
        {.table = "rows",
         .keys = {.partition = {.name = "h"}, .sort = {{"r", item::Type::kNumber}}},
         .indexes = {{.name = "kinds",
                      .keys = {.partition = by_kind},
                      .projection = {.kind = tables::ProjectionKind::kKeysOnly}}}}));
    for (int i = 1; i <= 4; ++i) {
      Do(fmt::format("INSERT INTO rows VALUE {{'h': 'a', 'r': {}, 'n': {}, 'kind': '{}'}}", i,
                     10 * i, i % 2 == 0 ? "even" : "odd"));
    }
  }

  Result<Reply> Run(const std::string& text, Options options = {}) {
    auto statement = std::make_shared<Statement>(TRY(Parse(text, {})));
    return Execute(&tables_, statement, options).Wait();
  }
  Reply Do(const std::string& text, const Options& options = {}) {
    auto reply = Run(text, options);
    EXPECT_TRUE(reply.has_value()) << text << ": " << reply.error().message;
    return reply ? *std::move(reply) : Reply();
  }
  std::string ErrorOf(const std::string& text) {
    const auto reply = Run(text);
    return reply ? "accepted" : reply.error().message;
  }
  // The items as JSON, in one line each.
  std::string Items(const std::string& text, const Options& options = {}) {
    const Reply reply = Do(text, options);
    std::string lines;
    for (const item::Item& item : reply.items) lines += item::ToJson(item) + "\n";
    return lines;
  }

  ManualClock clock_;
  model::ModelTables tables_{clock_};
};

TEST_F(PartiqlTest, SelectsWithQueriesAndScans) {
  EXPECT_EQ(Items("SELECT r FROM rows WHERE h = 'a' AND r >= 3 ORDER BY r DESC"),
            "{\"r\":{\"N\":\"4\"}}\n{\"r\":{\"N\":\"3\"}}\n");
  EXPECT_EQ(Items("SELECT r FROM rows WHERE h = 'a' AND (n = 10 OR r = 4)"),
            "{\"r\":{\"N\":\"1\"}}\n{\"r\":{\"N\":\"4\"}}\n");
  EXPECT_EQ(Items("SELECT r FROM rows WHERE n BETWEEN 20 AND 30 AND NOT r = 3"),
            "{\"r\":{\"N\":\"2\"}}\n");
  EXPECT_EQ(Items("SELECT n FROM rows WHERE missing <> 1"), "");
  EXPECT_EQ(Items("SELECT r FROM rows WHERE missing IS MISSING AND r IN [1, 9]"),
            "{\"r\":{\"N\":\"1\"}}\n");
  EXPECT_EQ(Items("SELECT * FROM rows.kinds WHERE kind = 'even' AND h = 'a'"),
            "{\"h\":{\"S\":\"a\"},\"kind\":{\"S\":\"even\"},\"r\":{\"N\":\"2\"}}\n"
            "{\"h\":{\"S\":\"a\"},\"kind\":{\"S\":\"even\"},\"r\":{\"N\":\"4\"}}\n");
}

TEST_F(PartiqlTest, PagesWithTokens) {
  const std::string text = "SELECT r FROM rows WHERE h = 'a'";
  Reply page = Do(text, {.limit = 3});
  ASSERT_EQ(page.items.size(), 3u);
  ASSERT_TRUE(page.next_token.has_value());
  page = Do(text, {.limit = 3, .next_token = page.next_token});
  EXPECT_EQ(page.items.size(), 1u);
  EXPECT_FALSE(page.next_token.has_value());
  EXPECT_FALSE(Run(text, {.next_token = "nonsense"}).has_value());
}

TEST_F(PartiqlTest, ShowsPathsUnderTheirLastName) {
  Do("INSERT INTO rows VALUE {'h': 'b', 'r': 1, 'm': {'x': [1, {'y': 'z'}]}}");
  EXPECT_EQ(Items("SELECT m.x[1].y, m.x[0], m.none FROM rows WHERE h = 'b'"),
            "{\"x[0]\":{\"N\":\"1\"},\"y\":{\"S\":\"z\"}}\n");
}

TEST_F(PartiqlTest, InsertsOnce) {
  EXPECT_EQ(Do("INSERT INTO rows VALUE {'h': 'a', 'r': 1}").outcome, Outcome::kDuplicate);
  EXPECT_THAT(ErrorOf("INSERT INTO rows VALUE {'h': 'a'}"), HasSubstr("Missing the key r"));
}

TEST_F(PartiqlTest, UpdatesOneItem) {
  EXPECT_EQ(Items("UPDATE rows SET n = n + 1, s = <<'x'>> REMOVE kind WHERE h = 'a' AND r = 1 "
                  "RETURNING ALL NEW *"),
            "{\"h\":{\"S\":\"a\"},\"n\":{\"N\":\"11\"},\"r\":{\"N\":\"1\"},"
            "\"s\":{\"SS\":[\"x\"]}}\n");
  EXPECT_EQ(Items("UPDATE rows SET s = set_add(s, <<'y'>>) WHERE h = 'a' AND r = 1 AND n = 11 "
                  "RETURNING MODIFIED NEW *"),
            "{\"s\":{\"SS\":[\"x\",\"y\"]}}\n");
  EXPECT_EQ(Items("UPDATE rows SET n = 1 WHERE h = 'a' AND r = 2"), "");
  EXPECT_EQ(Do("UPDATE rows SET n = 1 WHERE h = 'a' AND r = 3 AND n = 99").outcome,
            Outcome::kConditionFailed);
  // It makes no item.
  EXPECT_EQ(Do("UPDATE rows SET n = 1 WHERE h = 'c' AND r = 1").outcome, Outcome::kConditionFailed);
  EXPECT_EQ(ErrorOf("UPDATE rows SET n = 1 WHERE h = 'a'"),
            "Where clause does not contain a mandatory equality on all key attributes");
}

TEST_F(PartiqlTest, DeletesOneItem) {
  EXPECT_EQ(Do("DELETE FROM rows WHERE h = 'a' AND r = 1 AND n = 99").outcome,
            Outcome::kConditionFailed);
  EXPECT_THAT(Items("DELETE FROM rows WHERE h = 'a' AND r = 1 AND n = 10 RETURNING ALL OLD *"),
              HasSubstr("\"kind\""));
  EXPECT_EQ(Items("DELETE FROM rows WHERE h = 'a' AND r = 1 AND n = 10 RETURNING ALL OLD *"), "");
  EXPECT_THAT(ErrorOf("DELETE FROM rows WHERE h = 'a' AND r = 2 RETURNING ALL NEW *"),
              HasSubstr("Only RETURNING ALL OLD * is allowed"));
}

TEST_F(PartiqlTest, RefusesWhatDoesNotFitTheTable) {
  EXPECT_EQ(ErrorOf("SELECT * FROM nothing"), "Requested resource not found");
  EXPECT_EQ(ErrorOf("SELECT * FROM rows.nothing"), "The table does not have the specified index");
  EXPECT_THAT(ErrorOf("SELECT * FROM rows ORDER BY r"), HasSubstr("Must have WHERE clause"));
  EXPECT_THAT(ErrorOf("SELECT * FROM rows WHERE n = 1 ORDER BY r"),
              HasSubstr("at least one non-optional hash key condition"));
  EXPECT_THAT(ErrorOf("SELECT * FROM rows WHERE dance(n)"), HasSubstr("No such function: dance"));
}

// Fails every write but the first, as a disk that became full in between.
class FullAfterTheFirst final : public testing::ForwardingTables {
 public:
  using ForwardingTables::ForwardingTables;
  using Tables::Submit;
  Later<tables::WriteReply> Submit(WriteRequest request,
                                   std::optional<Deadline> deadline) override {
    if (writes_++ == 0) return inner().Submit(std::move(request), deadline);
    return Error{ErrorCode::kUnavailable, "the disk is full"};
  }

 private:
  int writes_ = 0;
};

// The caller would repeat a batch that failed as a whole, with the part that was executed.
TEST_F(PartiqlTest, ABatchThatWasExecutedInPartSaysWhichStatementsFailed) {
  FullAfterTheFirst tables(&tables_);
  std::vector<BatchStatement> statements;
  for (const char* text : {"UPDATE rows SET n = n + 1 WHERE h = 'a' AND r = 1",
                           "UPDATE rows SET n = n + 1 WHERE h = 'a' AND r = 2"}) {
    statements.push_back({.statement = std::make_shared<Statement>(Parse(text, {}).value())});
  }
  const auto batch = ExecuteBatch(&tables, statements, tables::Measure::kNone).Wait();
  ASSERT_TRUE(batch.has_value()) << batch.error().message;
  EXPECT_FALSE(batch->replies[0].failure);
  ASSERT_TRUE(batch->replies[1].failure);
  EXPECT_EQ(batch->replies[1].failure->code, "InternalServerError");
  EXPECT_EQ(batch->replies[1].failure->message, "Internal server error");
  // Nothing of this one is executed.
  const auto failed = ExecuteBatch(&tables, statements, tables::Measure::kNone).Wait();
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace tidemark::partiql
