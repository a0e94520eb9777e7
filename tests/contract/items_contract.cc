// One item at a time: put, get, update and delete, with conditions and what they return.
#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

using tables::OnConditionFailure;
using tables::ReturnValues;
using tables::WriteReply;

class ItemsContract : public Contract {
 protected:
  ItemsContract() { Create(Users()); }
};
INSTANTIATE_TEST_SUITE_P(Every, ItemsContract, ::testing::ValuesIn(ImplementationsInAllModes()),
                         NameOf);

TEST_P(ItemsContract, GetsWhatWasPut) {
  const Item item{{"id", "a"},
                  {"string", ""},
                  {"number", Num("-12345678901234567890123456789012345678e10")},
                  {"binary", Bin(std::string("\0\xff", 2))},
                  {"bool", true},
                  {"null", item::Null{}},
                  {"strings", item::StringSet({"b", "a", ""})},
                  {"numbers", item::NumberSet({Number::FromInt(3), Number::FromInt(-1)})},
                  {"binaries", item::BinarySet({item::Binary{"x"}, item::Binary{""}})},
                  {"list", item::List{Num(1), "two", item::List{}, item::Map{}}},
                  {"map", item::Map{{"deep", item::Map{{"er", Num(1)}}}}}};
  Put("users", item);
  EXPECT_EQ(Get("users", User("a")), item);
}

TEST_P(ItemsContract, AnAbsentItemIsNoError) { EXPECT_EQ(Get("users", User("a")), std::nullopt); }

TEST_P(ItemsContract, APutReplacesTheWholeItem) {
  Put("users", {{"id", "a"}, {"x", Num(1)}});
  Put("users", {{"id", "a"}, {"y", Num(2)}});
  EXPECT_EQ(Get("users", User("a")), (Item{{"id", "a"}, {"y", Num(2)}}));
}

TEST_P(ItemsContract, ProjectsWhatIsAskedFor) {
  Put("users",
      {{"id", "a"}, {"list", item::List{"x", "y", "z"}}, {"m", item::Map{{"k", "v"}, {"l", "w"}}}});
  EXPECT_EQ(Must(tables().Get({.table = "users",
                               .key = User("a"),
                               .projection = "#l[2], #l[0], m.k",
                               .names = {{"#l", "list"}}})),
            (Item{{"list", item::List{"x", "z"}}, {"m", item::Map{{"k", "v"}}}}));
  // When a projection matches nothing, the reply has an empty item: it exists.
  EXPECT_EQ(Must(tables().Get({.table = "users", .key = User("a"), .projection = "nothing"})),
            Item());
  EXPECT_EQ(Must(tables().Get({.table = "users", .key = User("b"), .projection = "nothing"})),
            std::nullopt);
}

TEST_P(ItemsContract, RefusesKeysThatDoNotMatchTheSchema) {
  const std::string text = "The provided key element does not match the schema";
  for (const Item& key :
       {Item{}, Item{{"id", Num(1)}}, Item{{"other", "a"}}, Item{{"id", "a"}, {"x", "b"}}}) {
    EXPECT_THAT(tables().Get({.table = "users", .key = key}), Fails(ErrorCode::kInvalid, text));
    EXPECT_THAT(tables().Delete({.table = "users", .key = key}), Fails(ErrorCode::kInvalid, text));
    EXPECT_THAT(
        tables().Update(
            {.table = "users", .key = key, .update = "SET y = :y", .values = {{":y", "z"}}}),
        Fails(ErrorCode::kInvalid, text));
  }
  EXPECT_THAT(tables().Put({.table = "users", .item = {{"x", "a"}}}),
              Fails(ErrorCode::kInvalid, "Missing the key id in the item"));
  EXPECT_THAT(tables().Put({.table = "users", .item = {{"id", Num(1)}}}),
              Fails(ErrorCode::kInvalid, "Type mismatch for key id expected: S actual: N"));
  EXPECT_THAT(tables().Put({.table = "users", .item = {{"id", ""}}}),
              Fails(ErrorCode::kInvalid, "cannot contain an empty string value. Key: id"));
  EXPECT_EQ(Must(tables().DescribeTable("users")).item_count, 0U);
}

TEST_P(ItemsContract, EqualNumbersAreTheSameKey) {
  Create({.table = "numbers", .keys = {NumberKey("n")}});
  Put("numbers", {{"n", Num("1e3")}, {"x", "first"}});
  Put("numbers", {{"n", Num("1000.0")}, {"x", "second"}});
  EXPECT_EQ(Get("numbers", {{"n", Num(1000)}}), (Item{{"n", Num(1000)}, {"x", "second"}}));
  EXPECT_EQ(Must(tables().DescribeTable("numbers")).item_count, 1U);
}

TEST_P(ItemsContract, BinaryKeysMayHoldAnyBytes) {
  Create({.table = "binaries", .keys = {BinaryKey("b"), BinaryKey("c")}});
  const Item first{{"b", Bin(std::string("\0", 1))}, {"c", Bin(std::string("\0\x01", 2))}};
  const Item second{{"b", Bin(std::string("\0\0", 2))}, {"c", Bin("\x01")}};
  Put("binaries", first);
  Put("binaries", second);
  EXPECT_EQ(Get("binaries", first), first);
  EXPECT_EQ(Get("binaries", second), second);
}

// ---- Conditions ----

TEST_P(ItemsContract, ACreatorWinsOnce) {
  const tables::PutRequest create{.table = "users",
                                  .item = {{"id", "a"}, {"n", Num(1)}},
                                  .condition = "attribute_not_exists(id)"};
  EXPECT_TRUE(Must(tables().Put(create)).applied);
  tables::PutRequest again = create;
  again.item.Set("n", Num(2));
  const WriteReply reply = Must(tables().Put(again));
  EXPECT_FALSE(reply.applied);
  EXPECT_EQ(reply.attributes, std::nullopt);
  EXPECT_EQ(reply.failed_on, std::nullopt);
  EXPECT_EQ(Get("users", User("a")), create.item);
}

TEST_P(ItemsContract, AFailedConditionShowsTheItemWhenAsked) {
  const Item stored{{"id", "a"}, {"n", Num(1)}};
  Put("users", stored);
  const OnConditionFailure show = OnConditionFailure::kAllOld;
  const tables::Values values{{":two", Num(2)}};
  const WriteReply put = Must(tables().Put({.table = "users",
                                            .item = User("a"),
                                            .condition = "n = :two",
                                            .values = values,
                                            .on_failure = show}));
  const WriteReply update = Must(tables().Update({.table = "users",
                                                  .key = User("a"),
                                                  .update = "SET n = :two",
                                                  .condition = "n = :two",
                                                  .values = values,
                                                  .on_failure = show}));
  const WriteReply erase = Must(tables().Delete({.table = "users",
                                                 .key = User("a"),
                                                 .condition = "n = :two",
                                                 .values = values,
                                                 .on_failure = show}));
  for (const WriteReply& reply : {put, update, erase}) {
    EXPECT_FALSE(reply.applied);
    EXPECT_EQ(reply.failed_on, stored);
    EXPECT_EQ(reply.attributes, std::nullopt);
  }
  EXPECT_EQ(Get("users", User("a")), stored);
  // Without an item there is nothing to return.
  const WriteReply absent = Must(tables().Delete({.table = "users",
                                                  .key = User("b"),
                                                  .condition = "n = :two",
                                                  .values = values,
                                                  .on_failure = show}));
  EXPECT_FALSE(absent.applied);
  EXPECT_EQ(absent.failed_on, std::nullopt);
}

TEST_P(ItemsContract, ConditionsSeeTheItemBeforeTheWrite) {
  Put("users", {{"id", "a"}, {"n", Num(1)}});
  EXPECT_TRUE(Must(tables().Update({.table = "users",
                                    .key = User("a"),
                                    .update = "SET n = n + :one",
                                    .condition = "n = :one",
                                    .values = {{":one", Num(1)}}}))
                  .applied);
  EXPECT_FALSE(Must(tables().Update({.table = "users",
                                     .key = User("a"),
                                     .update = "SET n = n + :one",
                                     .condition = "n = :one",
                                     .values = {{":one", Num(1)}}}))
                   .applied);
  EXPECT_EQ(Get("users", User("a")), (Item{{"id", "a"}, {"n", Num(2)}}));
}

// Expressions have their own tests. These check that tables return their errors.
TEST_P(ItemsContract, RefusesNamesAndValuesThatNothingUses) {
  EXPECT_THAT(tables().Put({.table = "users", .item = User("a"), .values = {{":v", "x"}}}),
              Fails(ErrorCode::kInvalid, "ExpressionAttributeValues"));
  EXPECT_THAT(tables().Get({.table = "users", .key = User("a"), .names = {{"#n", "x"}}}),
              Fails(ErrorCode::kInvalid, "ExpressionAttributeNames"));
  EXPECT_THAT(
      tables().Put({.table = "users",
                    .item = User("a"),
                    .condition = "attribute_exists(id)",
                    .values = {{":v", "x"}}}),
      Fails(ErrorCode::kInvalid,
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"));
  EXPECT_THAT(tables().Update({.table = "users", .key = User("a"), .update = "SET a = :v"}),
              Fails(ErrorCode::kInvalid, "Invalid UpdateExpression"));
  EXPECT_EQ(Get("users", User("a")), std::nullopt);
}

// ---- Put and delete ----

TEST_P(ItemsContract, PutAndDeleteReturnTheOldItem) {
  const Item first{{"id", "a"}, {"n", Num(1)}};
  const Item second{{"id", "a"}, {"n", Num(2)}};
  const ReturnValues old = ReturnValues::kAllOld;
  EXPECT_EQ(Must(tables().Put({.table = "users", .item = first, .return_values = old})).attributes,
            std::nullopt);
  EXPECT_EQ(Must(tables().Put({.table = "users", .item = second, .return_values = old})).attributes,
            first);
  EXPECT_EQ(Must(tables().Put({.table = "users", .item = second})).attributes, std::nullopt);
  EXPECT_EQ(
      Must(tables().Delete({.table = "users", .key = User("a"), .return_values = old})).attributes,
      second);
  EXPECT_EQ(
      Must(tables().Delete({.table = "users", .key = User("a"), .return_values = old})).attributes,
      std::nullopt);
}

TEST_P(ItemsContract, PutAndDeleteReturnNothingElse) {
  for (const ReturnValues wrong :
       {ReturnValues::kAllNew, ReturnValues::kUpdatedNew, ReturnValues::kUpdatedOld}) {
    const std::string text = "can only be ALL_OLD or NONE";
    EXPECT_THAT(tables().Put({.table = "users", .item = User("a"), .return_values = wrong}),
                Fails(ErrorCode::kInvalid, text));
    EXPECT_THAT(tables().Delete({.table = "users", .key = User("a"), .return_values = wrong}),
                Fails(ErrorCode::kInvalid, text));
  }
  EXPECT_EQ(Get("users", User("a")), std::nullopt);
}

TEST_P(ItemsContract, DeletingWhatIsAbsentSucceeds) {
  EXPECT_TRUE(Must(tables().Delete({.table = "users", .key = User("a")})).applied);
}

// ---- Update ----

TEST_P(ItemsContract, AnUpdateMakesTheItem) {
  EXPECT_TRUE(Must(tables().Update({.table = "users",
                                    .key = User("a"),
                                    .update = "ADD n :one",
                                    .values = {{":one", Num(1)}}}))
                  .applied);
  EXPECT_EQ(Get("users", User("a")), (Item{{"id", "a"}, {"n", Num(1)}}));
  // Without an expression the new item has only its key.
  EXPECT_TRUE(Must(tables().Update({.table = "users", .key = User("b")})).applied);
  EXPECT_EQ(Get("users", User("b")), User("b"));
}

TEST_P(ItemsContract, AnUpdateThatOnlyRemovesMakesNothing) {
  const WriteReply reply = Must(tables().Update({.table = "users",
                                                 .key = User("a"),
                                                 .update = "REMOVE n",
                                                 .return_values = ReturnValues::kAllNew}));
  EXPECT_TRUE(reply.applied);
  EXPECT_EQ(reply.attributes, std::nullopt);
  EXPECT_EQ(Get("users", User("a")), std::nullopt);
}

TEST_P(ItemsContract, AnUpdateWithoutExpressionLeavesTheItem) {
  const Item stored{{"id", "a"}, {"n", Num(1)}};
  Put("users", stored);
  EXPECT_EQ(Must(tables().Update(
                     {.table = "users", .key = User("a"), .return_values = ReturnValues::kAllNew}))
                .attributes,
            stored);
}

TEST_P(ItemsContract, UpdatesReturnEveryForm) {
  const Item stored{
      {"id", "a"}, {"n", Num(1)}, {"m", item::Map{{"x", Num(1)}, {"y", Num(2)}}}, {"gone", "g"}};
  const Item updated{{"id", "a"},
                     {"n", Num(2)},
                     {"m", item::Map{{"x", Num(5)}, {"y", Num(2)}}},
                     {"fresh", Num(5)}};
  auto update = [&](ReturnValues wanted) {
    Put("users", stored);
    return Must(tables().Update(
                    {.table = "users",
                     .key = User("a"),
                     .update = "SET n = n + :one, m.x = :five, fresh = :five REMOVE gone",
                     .values = {{":one", Num(1)}, {":five", Num(5)}},
                     .return_values = wanted}))
        .attributes;
  };
  EXPECT_EQ(update(ReturnValues::kNone), std::nullopt);
  EXPECT_EQ(update(ReturnValues::kAllOld), stored);
  EXPECT_EQ(update(ReturnValues::kAllNew), updated);
  EXPECT_EQ(update(ReturnValues::kUpdatedOld),
            (Item{{"n", Num(1)}, {"m", item::Map{{"x", Num(1)}}}, {"gone", "g"}}));
  EXPECT_EQ(update(ReturnValues::kUpdatedNew),
            (Item{{"n", Num(2)}, {"m", item::Map{{"x", Num(5)}}}, {"fresh", Num(5)}}));
  EXPECT_EQ(Get("users", User("a")), updated);
}

TEST_P(ItemsContract, UpdatesOfANewItemHaveNothingOldToReturn) {
  for (const ReturnValues old : {ReturnValues::kAllOld, ReturnValues::kUpdatedOld}) {
    Must(tables().Delete({.table = "users", .key = User("a")}));
    EXPECT_EQ(Must(tables().Update({.table = "users",
                                    .key = User("a"),
                                    .update = "SET n = :n",
                                    .values = {{":n", Num(1)}},
                                    .return_values = old}))
                  .attributes,
              std::nullopt);
  }
}

TEST_P(ItemsContract, TouchedAttributesThatWereAbsentAreLeftOut) {
  Put("users", User("a"));
  EXPECT_EQ(Must(tables().Update({.table = "users",
                                  .key = User("a"),
                                  .update = "SET n = :n",
                                  .values = {{":n", Num(1)}},
                                  .return_values = ReturnValues::kUpdatedOld}))
                .attributes,
            std::nullopt);
  EXPECT_EQ(Must(tables().Update({.table = "users",
                                  .key = User("a"),
                                  .update = "REMOVE n",
                                  .return_values = ReturnValues::kUpdatedNew}))
                .attributes,
            std::nullopt);
}

TEST_P(ItemsContract, AnUpdateNeverTouchesTheKey) {
  Put("users", User("a"));
  const std::string text = "Cannot update attribute id. This attribute is part of the key";
  EXPECT_THAT(
      tables().Update(
          {.table = "users", .key = User("a"), .update = "SET id = :v", .values = {{":v", "b"}}}),
      Fails(ErrorCode::kInvalid, text));
  EXPECT_THAT(tables().Update({.table = "users", .key = User("a"), .update = "REMOVE id"}),
              Fails(ErrorCode::kInvalid, text));
  EXPECT_EQ(Get("users", User("a")), User("a"));
}

TEST_P(ItemsContract, AFailingUpdateWritesNothing) {
  const Item stored{{"id", "a"}, {"s", "text"}};
  Put("users", stored);
  for (const char* update :
       {"SET fresh = :n, n = n + :n", "SET fresh = :n, m.x = :n", "SET fresh = :n ADD s :n"}) {
    EXPECT_THAT(
        tables().Update(
            {.table = "users", .key = User("a"), .update = update, .values = {{":n", Num(1)}}}),
        FailsWith(ErrorCode::kInvalid));
  }
  EXPECT_EQ(Get("users", User("a")), stored);
  EXPECT_THAT(
      tables().Update({.table = "users",
                       .key = User("b"),
                       .update = "SET n = n + :n",
                       .values = {{":n", Num(1)}}}),
      Fails(ErrorCode::kInvalid,
            "The provided expression refers to an attribute that does not exist in the item"));
  EXPECT_EQ(Get("users", User("b")), std::nullopt);
}

TEST_P(ItemsContract, EveryIncrementCounts) {
  for (int i = 0; i < 100; ++i) {
    Must(tables().Update({.table = "users",
                          .key = User("a"),
                          .update = "ADD n :one",
                          .values = {{":one", Num(1)}}}));
  }
  EXPECT_EQ(Get("users", User("a")), (Item{{"id", "a"}, {"n", Num(100)}}));
}

}  // namespace
}  // namespace tidemark::contract
