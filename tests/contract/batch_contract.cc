// Many items in one request: batches.
#include "item/size.h"
#include "tables/limits.h"
#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using BatchPut = tables::BatchWriteRequest::Put;
using BatchDelete = tables::BatchWriteRequest::Delete;

class BatchContract : public Contract {
 protected:
  BatchContract() {
    Create(Users());
    Create(Events());
  }
};
INSTANTIATE_TEST_SUITE_P(Every, BatchContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(BatchContract, GetsFromManyTables) {
  Put("users", {{"id", "a"}, {"n", Num(1)}, {"x", Num(9)}});
  Put("users", {{"id", "b"}, {"n", Num(2)}});
  Put("events", Event("r", 1));
  const tables::BatchGetReply reply =
      Must(tables().BatchGet({.tables = {{"users",
                                          {.keys = {User("a"), User("b"), User("absent")},
                                           .projection = "id, #n",
                                           .names = {{"#n", "n"}}}},
                                         {"events", {.keys = {Event("r", 1)}}}}}));
  EXPECT_THAT(reply.items.at("users"), UnorderedElementsAre(Item{{"id", "a"}, {"n", Num(1)}},
                                                            Item{{"id", "b"}, {"n", Num(2)}}));
  EXPECT_THAT(reply.items.at("events"), UnorderedElementsAre(Event("r", 1)));
  EXPECT_THAT(reply.unprocessed, IsEmpty());
}

TEST_P(BatchContract, RefusesWrongGets) {
  EXPECT_THAT(tables().BatchGet({}), FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().BatchGet({.tables = {{"users", {.keys = {User("a"), User("a")}}}}}),
              Fails(ErrorCode::kInvalid, "Provided list of item keys contains duplicates"));
  EXPECT_THAT(tables().BatchGet({.tables = {{"users", {.keys = {{{"id", Num(1)}}}}}}}),
              Fails(ErrorCode::kInvalid, "The provided key element does not match the schema"));
  EXPECT_THAT(tables().BatchGet(
                  {.tables = {{"users", {.keys = {User("a")}}}, {"gone", {.keys = {User("a")}}}}}),
              Fails(ErrorCode::kNotFound, "Requested resource not found"));
  tables::BatchGetRequest request;
  for (int i = 0; i < 100; ++i) request.tables["users"].keys.push_back(User(std::to_string(i)));
  EXPECT_THAT(tables().BatchGet(request), Succeeds());
  request.tables["events"].keys.push_back(Event("r", 1));
  EXPECT_THAT(tables().BatchGet(request),
              Fails(ErrorCode::kInvalid, "Too many items requested for the BatchGetItem call"));
}

// Items that do not fit into 16 MB are returned as the next request.
TEST_P(BatchContract, LeavesWhatDoesNotFit) {
  tables::BatchGetRequest request;
  request.tables["users"].projection = "id, #d";
  request.tables["users"].names = {{"#d", "data"}};
  for (int i = 0; i < 45; ++i) {
    Put("users", {{"id", std::to_string(i)}, {"data", Text(400'000)}});
    request.tables["users"].keys.push_back(User(std::to_string(i)));
  }
  size_t items = 0;
  int rounds = 0;
  while (!request.tables.empty()) {
    ASSERT_LE(++rounds, 2);
    const tables::BatchGetReply reply = Must(tables().BatchGet(request));
    size_t size_bytes = 0;
    for (const Item& item : reply.items.at("users")) size_bytes += item::SizeBytes(item);
    EXPECT_LE(size_bytes, tables::kMaxBatchGetBytes);
    items += reply.items.at("users").size();
    request.tables = reply.unprocessed;
    if (request.tables.empty()) break;
    EXPECT_EQ(request.tables.at("users").projection, "id, #d");
    EXPECT_EQ(request.tables.at("users").names, (tables::Names{{"#d", "data"}}));
  }
  EXPECT_EQ(items, 45U);
  EXPECT_EQ(rounds, 2);
}

TEST_P(BatchContract, PutsAndDeletesInManyTables) {
  Put("users", User("old"));
  const tables::BatchWriteReply reply = Must(
      tables().BatchWrite({.tables = {{"users",
                                       {BatchPut{{{"id", "a"}, {"n", Num(1)}}},
                                        BatchDelete{User("old")}, BatchDelete{User("absent")}}},
                                      {"events", {BatchPut{Event("r", 1)}}}}}));
  EXPECT_THAT(reply.unprocessed, IsEmpty());
  EXPECT_THAT(ScanAll({.table = "users"}), UnorderedElementsAre(Item{{"id", "a"}, {"n", Num(1)}}));
  EXPECT_THAT(ScanAll({.table = "events"}), UnorderedElementsAre(Event("r", 1)));
}

// The whole request is checked before anything of it is written.
TEST_P(BatchContract, AWrongActionWritesNothing) {
  auto write = [&](std::vector<tables::BatchWriteRequest::Action> actions) {
    actions.insert(actions.begin(), BatchPut{User("first")});
    return tables().BatchWrite({.tables = {{"users", std::move(actions)}}});
  };
  const std::string duplicates = "Provided list of item keys contains duplicates";
  EXPECT_THAT(write({BatchPut{User("a")}, BatchPut{{{"id", "a"}, {"n", Num(1)}}}}),
              Fails(ErrorCode::kInvalid, duplicates));
  EXPECT_THAT(write({BatchPut{User("a")}, BatchDelete{User("a")}}),
              Fails(ErrorCode::kInvalid, duplicates));
  EXPECT_THAT(write({BatchPut{{{"x", "a"}}}}), FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(write({BatchDelete{{{"id", Num(1)}}}}),
              Fails(ErrorCode::kInvalid, "The provided key element does not match the schema"));
  EXPECT_THAT(write({BatchPut{{{"id", "a"}, {"data", Text(409'600)}}}}),
              Fails(ErrorCode::kInvalid, "Item size has exceeded the maximum allowed size"));
  EXPECT_THAT(tables().BatchWrite(
                  {.tables = {{"users", {BatchPut{User("a")}}}, {"zzz", {BatchPut{User("a")}}}}}),
              Fails(ErrorCode::kNotFound, "Requested resource not found"));
  EXPECT_THAT(ScanAll({.table = "users"}), IsEmpty());
}

TEST_P(BatchContract, WritesUpToTwentyFive) {
  tables::BatchWriteRequest request;
  for (int i = 0; i < 25; ++i) request.tables["users"].push_back(BatchPut{User(std::to_string(i))});
  EXPECT_THAT(tables().BatchWrite(request), Succeeds());
  EXPECT_EQ(ScanAll({.table = "users"}).size(), 25U);
  request.tables["events"].push_back(BatchPut{Event("r", 1)});
  EXPECT_THAT(tables().BatchWrite(request),
              Fails(ErrorCode::kInvalid, "Too many items requested for the BatchWriteItem call"));
  EXPECT_THAT(ScanAll({.table = "events"}), IsEmpty());
  EXPECT_THAT(tables().BatchWrite({}), FailsWith(ErrorCode::kInvalid));
}

}  // namespace
}  // namespace tidemark::contract
