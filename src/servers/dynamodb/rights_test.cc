#include "servers/dynamodb/rights.h"

#include <gtest/gtest.h>

namespace tidemark::dynamodb {
namespace {

const OwnTables kOwn = {"claims"};

bool May(const Rights& rights, const wire::Call& call, std::string_view operation = "PutItem") {
  return !FindDenial(rights, kOwn, operation, call).has_value();
}
wire::Call Read(std::string table) { return {.tables = {std::move(table)}}; }
wire::Call Change(const std::string& table) {
  return {.tables = {table}, .changed_tables = {table}};
}

TEST(RightsTest, OwnTablesAreReadOnly) {
  EXPECT_TRUE(May({}, Change("orders")));
  for (const char* table : {"claims", "tidemark-anything"}) {
    EXPECT_TRUE(May({}, Read(table))) << table;
    EXPECT_FALSE(May({}, Change(table))) << table;
    EXPECT_TRUE(May({.own_writes = {table}}, Change(table))) << table;
    EXPECT_FALSE(May({.own_writes = {"other"}}, Change(table))) << table;
  }
  // One of several tables is enough.
  EXPECT_FALSE(May({}, {.tables = {"orders", "claims"}, .changed_tables = {"orders", "claims"}}));
  EXPECT_TRUE(May({}, {.tables = {"orders", "claims"}, .changed_tables = {"orders"}}));
}

// Every operation that changes something is here: one that is added must be, too.
TEST(RightsTest, NobodyDefinesOwnTables) {
  const Rights writer{.own_writes = {"claims"}};
  for (const char* operation : {"BatchWriteItem", "DeleteItem", "ExecuteStatement", "PutItem",
                                "TransactWriteItems", "UpdateItem"}) {
    EXPECT_TRUE(May(writer, Change("claims"), operation)) << operation;
    EXPECT_FALSE(DefinesTables(operation, Change("claims"))) << operation;
  }
  for (const char* operation : {"CreateTable", "DeleteTable", "TagResource", "UntagResource",
                                "UpdateTable", "UpdateTimeToLive"}) {
    EXPECT_FALSE(May(writer, Change("claims"), operation)) << operation;
    EXPECT_TRUE(May(writer, Change("orders"), operation)) << operation;
    EXPECT_TRUE(DefinesTables(operation, Change("claims"))) << operation;
  }
}

TEST(RightsTest, NobodyUsesTheTableOfKeys) {
  const std::string keys(kKeysTable);
  EXPECT_FALSE(May({}, Read(keys)));
  EXPECT_FALSE(May({.own_writes = {keys}}, Read(keys)));
  EXPECT_FALSE(May({.tables = {keys}, .own_writes = {keys}}, Change(keys)));
}

TEST(RightsTest, AKeyMayBeForSomeTablesOnly) {
  const Rights rights{.tables = {"orders"}, .own_writes = {"claims"}};
  EXPECT_TRUE(May(rights, Change("orders")));
  EXPECT_TRUE(May(rights, Change("claims")));
  EXPECT_FALSE(May(rights, Read("people")));
  EXPECT_FALSE(May(rights, {}));  // ListTables.
  EXPECT_TRUE(May({}, {}));
}

TEST(RightsTest, AKeyMayBeForReadingOnly) {
  const Rights rights{.read_only = true, .own_writes = {"claims"}};
  EXPECT_TRUE(May(rights, Read("orders")));
  EXPECT_FALSE(May(rights, Change("orders")));
  EXPECT_FALSE(May(rights, Change("claims")));
  // A transaction that only checks writes nothing but its token.
  EXPECT_TRUE(May(rights, {.tables = {"orders"}}));
  EXPECT_FALSE(May(rights, {.tables = {"orders"}, .stores_token = true}));
  EXPECT_TRUE(May({}, {.tables = {"orders"}, .stores_token = true}));
}

}  // namespace
}  // namespace tidemark::dynamodb
