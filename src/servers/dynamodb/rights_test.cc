#include "servers/dynamodb/rights.h"

#include <gtest/gtest.h>

namespace tidemark::dynamodb {
namespace {

const OwnTables kOwn = {"claims"};

bool May(const Rights& rights, const wire::Call& call) {
  return !FindDenial(rights, kOwn, call).has_value();
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
}

}  // namespace
}  // namespace tidemark::dynamodb
