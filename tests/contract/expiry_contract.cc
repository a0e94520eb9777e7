// Time to live: which items the sweeper deletes, and the stream records that it writes.
#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kFiveYears = int64_t{5} * 365 * 24 * 3600;

class ExpiryContract : public Contract {
 protected:
  ExpiryContract() {
    tables::CreateTableRequest request = Users();
    request.indexes = {{.name = "by-team", .keys = {StringKey("team")}}};
    request.stream = tables::StreamView::kNewAndOldImages;
    Create(request);
  }
  void Enable() { Must(tables().SetTimeToLive({.table = "users", .attribute = "ttl"})); }
  Item Until(const std::string& id, Value ttl) { return {{"id", id}, {"ttl", std::move(ttl)}}; }
  int64_t Now() { return clock().NowSeconds(); }
  bool IsThere(const std::string& id) { return Get("users", User(id)).has_value(); }
};
INSTANTIATE_TEST_SUITE_P(Every, ExpiryContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(ExpiryContract, SweepsFromTheSecondOfTheDeadline) {
  Enable();
  Put("users", Until("past", Num(Now() - 1)));
  Put("users", Until("now", Num(Now())));
  Put("users", Until("soon", Num(Now() + 1)));
  Put("users", User("forever"));
  Maintain();
  EXPECT_FALSE(IsThere("past"));
  EXPECT_FALSE(IsThere("now"));
  EXPECT_TRUE(IsThere("soon"));
  EXPECT_TRUE(IsThere("forever"));
  clock().Advance(std::chrono::seconds(1));
  Maintain();
  EXPECT_FALSE(IsThere("soon"));
  EXPECT_EQ(Must(tables().DescribeTable("users")).item_count, 1U);
}

// The store returns expired items until they are swept. Callers must compare the time themselves.
TEST_P(ExpiryContract, ExpiredItemsAreThereUntilSwept) {
  Enable();
  const Item item = Until("a", Num(Now() - 10));
  Put("users", item);
  EXPECT_EQ(Get("users", User("a")), item);
  EXPECT_THAT(ScanAll({.table = "users"}), ElementsAre(item));
  EXPECT_FALSE(
      Must(tables().Put(
               {.table = "users", .item = User("a"), .condition = "attribute_not_exists(id)"}))
          .applied);
}

TEST_P(ExpiryContract, OnlyNumbersOfRecentSecondsExpire) {
  Enable();
  Put("users", Until("string", std::to_string(Now() - 10)));
  Put("users", Until("set", item::NumberSet({Number::FromInt(Now() - 10)})));
  Put("users", Until("zero", Num(0)));
  Put("users", Until("old", Num(Now() - kFiveYears - 10)));
  Put("users", Until("negative", Num(-1)));
  Put("users", Until("huge", Num("1e100")));
  Put("users", Until("not so old", Num(Now() - kFiveYears + 10)));
  Maintain();
  EXPECT_FALSE(IsThere("not so old"));
  for (const char* id : {"string", "set", "zero", "old", "negative", "huge"})
    EXPECT_TRUE(IsThere(id)) << id;
}

TEST_P(ExpiryContract, AnExtendedItemStays) {
  Enable();
  Put("users", Until("a", Num(Now() + 10)));
  Put("users", Until("b", Num(Now() + 10)));
  Put("users", Until("c", Num(Now() + 10)));
  Must(tables().Update({.table = "users",
                        .key = User("a"),
                        .update = "SET #t = :t",
                        .names = {{"#t", "ttl"}},
                        .values = {{":t", Num(Now() + 1000)}}}));
  Must(tables().Update(
      {.table = "users", .key = User("b"), .update = "REMOVE #t", .names = {{"#t", "ttl"}}}));
  Put("users", User("c"));
  clock().Advance(std::chrono::seconds(100));
  Maintain();
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(IsThere(id)) << id;
}

TEST_P(ExpiryContract, WhatWasThereBeforeIsSweptToo) {
  Put("users", Until("a", Num(Now() - 10)));
  Put("users", Until("b", Num(Now() + 10)));
  Maintain();
  EXPECT_TRUE(IsThere("a"));
  Enable();
  EXPECT_EQ(Must(tables().DescribeTable("users")).ttl_attribute, "ttl");
  Maintain();
  EXPECT_FALSE(IsThere("a"));
  EXPECT_TRUE(IsThere("b"));
}

TEST_P(ExpiryContract, NothingIsSweptOnceItIsOff) {
  Enable();
  Put("users", Until("a", Num(Now() + 10)));
  clock().Advance(std::chrono::hours(2));
  Must(tables().SetTimeToLive({.table = "users", .attribute = "ttl", .enabled = false}));
  EXPECT_EQ(Must(tables().DescribeTable("users")).ttl_attribute, std::nullopt);
  Maintain();
  EXPECT_TRUE(IsThere("a"));
  // After a change of the attribute, the old attribute is ignored.
  clock().Advance(std::chrono::hours(2));
  Must(tables().SetTimeToLive({.table = "users", .attribute = "other"}));
  Put("users", {{"id", "b"}, {"other", Num(Now() - 1)}});
  Maintain();
  EXPECT_TRUE(IsThere("a"));
  EXPECT_FALSE(IsThere("b"));
}

TEST_P(ExpiryContract, RefusesToBeSetTwice) {
  EXPECT_THAT(tables().SetTimeToLive({.table = "users", .attribute = "ttl", .enabled = false}),
              Fails(ErrorCode::kInvalid, "TimeToLive is already disabled"));
  Enable();
  EXPECT_THAT(tables().SetTimeToLive({.table = "users", .attribute = "ttl"}),
              Fails(ErrorCode::kInvalid, "TimeToLive is already enabled"));
  EXPECT_THAT(tables().SetTimeToLive({.table = "users", .attribute = "other"}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().SetTimeToLive({.table = "users", .attribute = ""}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_EQ(Must(tables().DescribeTable("users")).ttl_attribute, "ttl");
}

// A consumer of the stream can tell expiry from deletion.
TEST_P(ExpiryContract, TheSweeperLeavesARecordOfItsOwn) {
  Enable();
  const Item swept{{"id", "a"}, {"ttl", Num(Now() + 10)}, {"team", "red"}};
  Put("users", swept);
  Put("users", User("b"));
  clock().Advance(std::chrono::seconds(10));
  Maintain();
  Must(tables().Delete({.table = "users", .key = User("b")}));
  const std::vector<tables::StreamRecord> records = ReadStream(LatestArn("users"));
  ASSERT_THAT(records, SizeIs(4));
  EXPECT_EQ(records[2].kind, tables::ChangeKind::kRemove);
  EXPECT_TRUE(records[2].expired);
  EXPECT_EQ(records[2].keys, User("a"));
  EXPECT_EQ(records[2].old_image, swept);
  EXPECT_EQ(records[2].new_image, std::nullopt);
  EXPECT_EQ(records[2].created_at, Now());
  EXPECT_FALSE(records[0].expired);
  EXPECT_FALSE(records[3].expired);
  // Its index rows are deleted too, and it is swept only once.
  EXPECT_THAT(ScanAll({.table = "users", .index = "by-team"}), IsEmpty());
  Maintain();
  EXPECT_THAT(ReadStream(LatestArn("users")), SizeIs(4));
}

TEST_P(ExpiryContract, TheAttributeMayBeAKey) {
  Create({.table = "slots", .keys = {StringKey("id"), NumberKey("ttl")}});
  Must(tables().SetTimeToLive({.table = "slots", .attribute = "ttl"}));
  Put("slots", Until("a", Num(Now() - 1)));
  Put("slots", Until("a", Num(Now() + 1)));
  Maintain();
  EXPECT_THAT(ScanAll({.table = "slots"}), ElementsAre(Until("a", Num(Now() + 1))));
}

}  // namespace
}  // namespace tidemark::contract
