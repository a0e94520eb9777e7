#include "tables/embedded/group.h"

#include <gtest/gtest.h>

#include "tables/embedded/definition.h"
#include "tables/embedded/write.h"
#include "tables/limits.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

using item::Item;
using item::Number;

constexpr const char* kGroupTable = "things";
constexpr EpochSeconds kGroupNow = 1'700'000'000;

tables::CreateTableRequest GroupThings() {
  return {
      .table = kGroupTable,
      .keys = {.partition = {.name = "id"}},
      .indexes = {{.name = "by-owner",
                   .keys = {.partition = {.name = "owner"}},
                   .projection = {.kind = tables::ProjectionKind::kInclude, .included = {"n"}}}},
      .stream = tables::StreamView::kNewAndOldImages};
}

// The test makes groups itself, without the committer and its threads.
class GroupTest : public ::testing::Test {
 protected:
  GroupTest() {
    auto opened = Store::Open(folder_.options());
    CHECK(opened.has_value());
    store_ = *std::move(opened);
    auto loaded = Catalog::Load(*store_, "local");
    CHECK(loaded.has_value());
    catalog_ = *std::move(loaded);
    items_ = std::make_unique<WorkingSet>(*store_, 1 << 20);
    SeededRandom random(1);
    DefinitionChange creation(
        [&](Group* group) { return CreateTable(GroupThings(), &random, group); });
    Group group = NewGroup();
    CHECK(creation.Evaluate(&group).has_value());
    Write(&group);
    creation.Committed(catalog_.get());
  }

  Group NewGroup(EpochSeconds now = kGroupNow) {
    return Group(*store_, catalog_.get(), items_.get(), std::chrono::seconds(now));
  }

  void Write(Group* group) {
    group->Finish();
    CHECK(store_->Write(&group->batch(), Store::Sync::kNo).has_value());
  }

  // Evaluates a request in the group, as the committer does.
  template <typename Request>
  static tables::WriteReply Evaluate(const Request& request, Group* group) {
    auto write = Prepare(request);
    CHECK(write.has_value());
    WriteChange change(*std::move(write));
    CHECK(change.Evaluate(group).has_value());
    return change.TakeReply();
  }

  static tables::UpdateRequest Increment() {
    return {.table = kGroupTable,
            .key = {{"id", "a"}},
            .update = "ADD n :one",
            .values = {{":one", Number::FromInt(1)}},
            .return_values = tables::ReturnValues::kAllNew};
  }

  uint64_t RowsIn(Family family) {
    uint64_t rows = 0;
    Cursor cursor = store_->Iterate(family, {std::string(1, '\0'), std::string(8, '\xff')});
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) ++rows;
    return rows;
  }

  DataFolder folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<WorkingSet> items_;
};

// Two increments that share a sync must both count.
TEST_F(GroupTest, LaterChangesAreDecidedByEarlierOnes) {
  Group group = NewGroup();
  for (int64_t i = 1; i <= 3; ++i) {
    const auto reply = Evaluate(Increment(), &group);
    EXPECT_EQ(*reply.attributes->Find("n"), item::Value(Number::FromInt(i)));
  }
  Write(&group);
  Group next = NewGroup();
  const auto reply = Evaluate(Increment(), &next);
  EXPECT_EQ(*reply.attributes->Find("n"), item::Value(Number::FromInt(4)));
}

// Item, index row, stream record, counts and token are written together or not at all.
TEST_F(GroupTest, NothingIsWrittenBeforeTheBatchIs) {
  const uint64_t catalog_rows = RowsIn(Family::kCatalog);
  Group group = NewGroup();
  const tables::PutRequest put{.table = kGroupTable,
                               .item = {{"id", "a"}, {"owner", "o"}, {"n", Number::FromInt(1)}}};
  ASSERT_TRUE(Evaluate(put, &group).applied);
  group.AddToken("token", {.expires = kGroupNow + 1, .fingerprint = "f"});
  EXPECT_EQ(RowsIn(Family::kRows), 0u);
  EXPECT_EQ(RowsIn(Family::kStreams), 0u);
  EXPECT_EQ(RowsIn(Family::kCatalog), catalog_rows);
  Write(&group);
  EXPECT_EQ(RowsIn(Family::kRows), 2u);  // The item and its index row.
  EXPECT_EQ(RowsIn(Family::kStreams), 1u);
  EXPECT_EQ(RowsIn(Family::kCatalog), catalog_rows + 3);  // Two counts and the token.
}

// DynamoDB leaves no record of a write that changes nothing.
TEST_F(GroupTest, AChangeThatChangesNothingAddsNothing) {
  const tables::PutRequest put{.table = kGroupTable, .item = {{"id", "a"}, {"owner", "o"}}};
  Group first = NewGroup();
  Evaluate(put, &first);
  Write(&first);
  Group group = NewGroup();
  EXPECT_TRUE(Evaluate(put, &group).applied);
  Evaluate(tables::DeleteRequest{.table = kGroupTable, .key = {{"id", "absent"}}}, &group);
  group.Finish();
  EXPECT_TRUE(group.batch().empty());
}

// When a condition does not hold, nothing is written, and the reply has the item that was checked.
TEST_F(GroupTest, ConditionsAreCheckedOnTheItemAsOfTheGroup) {
  Group group = NewGroup();
  tables::PutRequest put{.table = kGroupTable,
                         .item = {{"id", "a"}, {"n", Number::FromInt(1)}},
                         .condition = "attribute_not_exists(id)",
                         .on_failure = tables::OnConditionFailure::kAllOld};
  EXPECT_TRUE(Evaluate(put, &group).applied);
  put.item.Set("n", Number::FromInt(2));
  const auto refused = Evaluate(put, &group);
  EXPECT_FALSE(refused.applied);
  EXPECT_EQ(*refused.failed_on->Find("n"), item::Value(Number::FromInt(1)));
  put.condition = "n = :one";
  put.values = {{":one", Number::FromInt(1)}};
  EXPECT_TRUE(Evaluate(put, &group).applied);
}

TEST_F(GroupTest, TokensAreFoundInTheGroupAndAfterIt) {
  Group group = NewGroup();
  EXPECT_EQ(*group.FindToken("token"), std::nullopt);
  group.AddToken("token", {.expires = kGroupNow + 10, .fingerprint = "f"});
  EXPECT_EQ((*group.FindToken("token"))->fingerprint, "f");
  Write(&group);
  Group later = NewGroup(kGroupNow + 9);
  ASSERT_TRUE(later.FindToken("token")->has_value());
  EXPECT_EQ((*later.FindToken("token"))->fingerprint, "f");
  Group too_late = NewGroup(kGroupNow + 10);
  EXPECT_EQ(*too_late.FindToken("token"), std::nullopt);
}

// ---- What follows from an item's change, seen from outside ----

class ItemChangeTest : public ::testing::Test {
 protected:
  ItemChangeTest() { CHECK(tables_->CreateTable(GroupThings()).has_value()); }

  void Put(const Item& item) {
    const auto reply = tables_->Put({.table = kGroupTable, .item = item});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
  }

  std::vector<Item> OwnedBy(const std::string& owner) {
    auto page = tables_->Query({.table = kGroupTable,
                                .index = "by-owner",
                                .key_condition = "#o = :o",
                                .names = {{"#o", "owner"}},
                                .values = {{":o", owner}}});
    CHECK(page.has_value());
    return page->items;
  }

  void ExpectWhole() {
    const auto report = tables_->Verify();
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->problems, std::vector<std::string>());
  }

  DataFolder folder_;
  std::unique_ptr<EmbeddedTables> tables_ = folder_.Open();
};

// An old index row would show an item at its old position.
TEST_F(ItemChangeTest, AnItemThatMovesInAnIndexLeavesNoRowBehind) {
  Put({{"id", "a"}, {"owner", "first"}});
  Put({{"id", "a"}, {"owner", "second"}});
  EXPECT_TRUE(OwnedBy("first").empty());
  EXPECT_EQ(OwnedBy("second").size(), 1u);
  ExpectWhole();
}

TEST_F(ItemChangeTest, AnItemThatLosesItsIndexKeyLeavesTheIndex) {
  Put({{"id", "a"}, {"owner", "first"}});
  Put({{"id", "a"}});
  EXPECT_TRUE(OwnedBy("first").empty());
  Put({{"id", "b"}, {"owner", "first"}});
  ASSERT_TRUE(tables_->Delete({.table = kGroupTable, .key = {{"id", "b"}}}).has_value());
  EXPECT_TRUE(OwnedBy("first").empty());
  ExpectWhole();
}

TEST_F(ItemChangeTest, AnIndexRowFollowsWhatItCarries) {
  Put({{"id", "a"}, {"owner", "o"}, {"n", Number::FromInt(1)}, {"hidden", "x"}});
  Put({{"id", "a"}, {"owner", "o"}, {"n", Number::FromInt(2)}, {"hidden", "y"}});
  const Item expected{{"id", "a"}, {"owner", "o"}, {"n", Number::FromInt(2)}};
  EXPECT_EQ(OwnedBy("o"), std::vector<Item>{expected});
  ExpectWhole();
}

// Counts are updated and stored with every change.
TEST_F(ItemChangeTest, CountsFollowTheItems) {
  Put({{"id", "a"}, {"owner", "o"}, {"hidden", std::string(50, 'x')}});
  Put({{"id", "a"}, {"owner", "o"}});
  Put({{"id", "b"}});
  const auto before = tables_->DescribeTable(kGroupTable);
  EXPECT_EQ(before->item_count, 2u);
  EXPECT_EQ(before->size_bytes, 12u);  // id a, owner o; id b.
  EXPECT_EQ(before->indexes[0].item_count, 1u);
  EXPECT_EQ(before->indexes[0].size_bytes, 9u);
  tables_.reset();
  tables_ = folder_.Open();
  const auto after = tables_->DescribeTable(kGroupTable);
  EXPECT_EQ(after->item_count, 2u);
  EXPECT_EQ(after->size_bytes, 12u);
  EXPECT_EQ(after->indexes[0].item_count, 1u);
  ExpectWhole();
}

// After a power cut at any moment of a write, item and index row are both present or both absent.
TEST_F(ItemChangeTest, APowerCutLeavesAllOfAWriteOrNothing) {
  uint64_t present = 0;
  for (uint64_t nth = 1;; ++nth) {
    const std::string id = "a" + std::to_string(nth);
    folder_.files().Arm({.nth = nth, .effect = FaultEffect::kPowerCut});
    const auto reply = tables_->Put({.table = kGroupTable, .item = {{"id", id}, {"owner", id}}});
    const bool finished = !folder_.files().fired();
    folder_.files().Disarm();
    folder_.files().PowerCut();
    tables_.reset();
    folder_.files().Restart();
    tables_ = folder_.Open();
    const auto item = tables_->Get({.table = kGroupTable, .key = {{"id", id}}});
    ASSERT_TRUE(item.has_value());
    EXPECT_EQ(OwnedBy(id).size(), item->has_value() ? 1u : 0u);
    EXPECT_TRUE(item->has_value() || !reply.has_value());
    present += item->has_value() ? 1 : 0;
    ExpectWhole();
    if (finished) break;
    ASSERT_LT(nth, 20u);
  }
  EXPECT_GE(present, 1u);
}

}  // namespace
}  // namespace tidemark::embedded
