#include "tables/embedded/transact.h"

#include <gtest/gtest.h>

#include "tables/limits.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

using item::Number;
using tables::TransactOutcome;

constexpr const char* kTransactTable = "things";

tables::UpdateRequest Increment(const std::string& id) {
  return {.table = kTransactTable,
          .key = {{"id", id}},
          .update = "ADD n :one",
          .values = {{":one", Number::FromInt(1)}}};
}

class TransactTest : public ::testing::Test {
 protected:
  TransactTest() {
    CHECK(tables_->CreateTable({.table = kTransactTable, .keys = {.partition = {.name = "id"}}})
              .has_value());
  }

  // Zero when there is no item.
  int64_t NumberOf(const std::string& id) {
    const auto item = tables_->Get({.table = kTransactTable, .key = {{"id", id}}});
    CHECK(item.has_value());
    return item->has_value() ? *(*item)->Find("n")->As<Number>()->Floor() : 0;
  }

  tables::TransactWriteReply Write(const tables::TransactWriteRequest& request) {
    const auto reply = tables_->TransactWrite(request);
    CHECK(reply.has_value());
    return *reply;
  }

  DataFolder folder_;
  std::unique_ptr<EmbeddedTables> tables_ = folder_.Open();
};

// An index that came later does not take an item whose attribute has another type. A check writes
// nothing, so it does not mind.
// Review: E5
TEST_F(TransactTest, ChecksAnItemThatIsOlderThanAnIndex) {
  ASSERT_TRUE(tables_->Put({.table = kTransactTable, .item = {{"id", "a"}, {"n", "text"}}}));
  ASSERT_TRUE(tables_->UpdateTable(
      {.table = kTransactTable,
       .add_index = tables::IndexSpec{
           .name = "by_n", .keys = {.partition = {.name = "n", .type = item::Type::kNumber}}}}));
  const tables::ConditionCheck check{
      .table = kTransactTable, .key = {{"id", "a"}}, .condition = "attribute_exists(id)"};
  EXPECT_EQ(Write({.actions = {check}}).outcome, TransactOutcome::kApplied);
}

// One failed condition, at any position, and nothing is written.
TEST_F(TransactTest, AppliesAllOrNothing) {
  tables::UpdateRequest conditional = Increment("b");
  conditional.condition = "attribute_exists(id)";
  const auto refused = Write({.actions = {Increment("a"), conditional, Increment("c")}});
  EXPECT_EQ(refused.outcome, TransactOutcome::kCancelled);
  ASSERT_EQ(refused.reasons.size(), 3u);
  EXPECT_EQ(refused.reasons[0].code, tables::CancellationCode::kNone);
  EXPECT_EQ(refused.reasons[1].code, tables::CancellationCode::kConditionalCheckFailed);
  for (const char* id : {"a", "b", "c"}) EXPECT_EQ(NumberOf(id), 0) << id;
  conditional.condition = "attribute_not_exists(id)";
  EXPECT_EQ(Write({.actions = {Increment("a"), conditional, Increment("c")}}).outcome,
            TransactOutcome::kApplied);
  for (const char* id : {"a", "b", "c"}) EXPECT_EQ(NumberOf(id), 1) << id;
}

// A caller that lost the reply tries again, perhaps after a restart.
TEST_F(TransactTest, ATokenIsAppliedOnce) {
  const tables::TransactWriteRequest request{.actions = {Increment("a")}, .token = "token"};
  EXPECT_FALSE(Write(request).replayed);
  EXPECT_TRUE(Write(request).replayed);
  tables_.reset();
  tables_ = folder_.Open();
  const auto again = Write(request);
  EXPECT_EQ(again.outcome, TransactOutcome::kApplied);
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(NumberOf("a"), 1);
}

TEST_F(TransactTest, ATokenIsOnlyValidForItsActions) {
  EXPECT_EQ(Write({.actions = {Increment("a")}, .token = "token"}).outcome,
            TransactOutcome::kApplied);
  EXPECT_EQ(Write({.actions = {Increment("b")}, .token = "token"}).outcome,
            TransactOutcome::kTokenMismatch);
  EXPECT_EQ(NumberOf("b"), 0);
}

TEST_F(TransactTest, ATokenIsForgottenAfterTenMinutes) {
  const tables::TransactWriteRequest request{.actions = {Increment("a")}, .token = "token"};
  Write(request);
  folder_.clock().Advance(tables::kTokenLife - std::chrono::seconds(1));
  EXPECT_TRUE(Write(request).replayed);
  folder_.clock().Advance(std::chrono::seconds(1));
  EXPECT_FALSE(Write(request).replayed);
  EXPECT_EQ(NumberOf("a"), 2);
}

// A cancelled transaction was not applied, so a retry with the same token applies it.
TEST_F(TransactTest, ACancelledTransactionDoesNotUseItsToken) {
  tables::UpdateRequest conditional = Increment("a");
  conditional.condition = "attribute_exists(id)";
  const tables::TransactWriteRequest request{.actions = {conditional}, .token = "token"};
  EXPECT_EQ(Write(request).outcome, TransactOutcome::kCancelled);
  ASSERT_TRUE(tables_->Update(Increment("a")).has_value());
  const auto applied = Write(request);
  EXPECT_EQ(applied.outcome, TransactOutcome::kApplied);
  EXPECT_FALSE(applied.replayed);
  EXPECT_EQ(NumberOf("a"), 2);
}

// Writes and syncs of the log. RocksDB also works on other files in the background, such as
// deleting those that it does not need any more. If such calls counted, the power would be cut at
// another moment in each run, and never at some of them.
bool ChangesTheLog(const FileCall& call) {
  return call.path.ends_with(".log") &&
         (call.kind == FileCallKind::kWrite || call.kind == FileCallKind::kSync);
}

// After a power cut at any moment and a retry with the same token, the transaction was applied
// exactly once.
TEST_F(TransactTest, ATokenAndItsActionsAreWrittenTogether) {
  for (uint64_t nth = 1;; ++nth) {
    const std::string id = std::to_string(nth);
    const tables::TransactWriteRequest request{.actions = {Increment(id), Increment("all" + id)},
                                               .token = "token" + id};
    folder_.files().Arm({.matches = ChangesTheLog, .nth = nth, .effect = FaultEffect::kPowerCut});
    (void)tables_->TransactWrite(request).has_value();
    const bool finished = !folder_.files().fired();
    folder_.files().Disarm();
    folder_.files().PowerCut();
    tables_.reset();
    folder_.files().Restart();
    tables_ = folder_.Open();
    EXPECT_EQ(NumberOf(id), NumberOf("all" + id));
    EXPECT_EQ(Write(request).outcome, TransactOutcome::kApplied);
    EXPECT_EQ(NumberOf(id), 1);
    if (finished) {
      EXPECT_GT(nth, 2u) << "the power was cut neither before the write nor before the sync";
      break;
    }
    ASSERT_LT(nth, 20u);
  }
}

TEST_F(TransactTest, ABatchIsCheckedBeforeAnyOfItIsWritten) {
  tables::BatchWriteRequest request;
  request.tables[kTransactTable] = {
      tables::BatchWriteRequest::Put{{{"id", "a"}, {"n", Number::FromInt(1)}}},
      tables::BatchWriteRequest::Put{{{"wrong", "a"}}}};
  EXPECT_FALSE(tables_->BatchWrite(request).has_value());
  EXPECT_EQ(NumberOf("a"), 0);
  request.tables[kTransactTable].pop_back();
  EXPECT_TRUE(tables_->BatchWrite(request).has_value());
  EXPECT_EQ(NumberOf("a"), 1);
}

}  // namespace
}  // namespace tidemark::embedded
