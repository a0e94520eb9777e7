#include "item/value.h"

#include <gtest/gtest.h>

namespace tidemark::item {
namespace {

TEST(MapTest, SortsNamesWhateverTheOrderOfSet) {
  Map map;
  for (const char* name : {"m", "z", "a", "m"}) map.Set(name, name);
  std::string names;
  for (const Attribute& attribute : map) names += attribute.name;
  EXPECT_EQ(names, "amz");
  EXPECT_EQ(map, (Map{{"z", "z"}, {"a", "a"}, {"m", "m"}}));
}

TEST(MapTest, FindsReplacesAndErases) {
  Map map{{"a", "1"}, {"c", "3"}};
  EXPECT_EQ(map.Find("b"), nullptr);
  map.Set("a", true);
  EXPECT_EQ(*map.Find("a"), Value(true));
  EXPECT_TRUE(map.Erase("a"));
  EXPECT_FALSE(map.Erase("a"));
  EXPECT_EQ(map, (Map{{"c", "3"}}));
}

// Decoders rely on this to refuse what is not in canonical order.
TEST(MapTest, AppendsOnlyNamesThatSortAfterTheLast) {
  Map map;
  EXPECT_TRUE(map.Append("b", "1"));
  EXPECT_FALSE(map.Append("b", "2"));
  EXPECT_FALSE(map.Append("a", "2"));
  EXPECT_TRUE(map.Append("c", "2"));
  EXPECT_EQ(map, (Map{{"b", "1"}, {"c", "2"}}));
}

TEST(MapTest, KeepsTheLastOfSeveralAttributesWithOneName) {
  EXPECT_EQ(Map::FromAttributes({{"b", "1"}, {"a", "2"}, {"b", "3"}, {"c", "4"}, {"b", "5"}}),
            (Map{{"a", "2"}, {"b", "5"}, {"c", "4"}}));
  EXPECT_EQ(Map::FromAttributes({{"a", "1"}, {"a", "2"}}), (Map{{"a", "2"}}));
  EXPECT_EQ(Map::FromAttributes({}), Map());
}

TEST(SetTest, SortsItsMembersAndRemovesDuplicates) {
  EXPECT_EQ(StringSet({"b", "a", "b"}), StringSet({"a", "b"}));
  EXPECT_EQ(NumberSet({*Number::Parse("1e3"), *Number::Parse("1000")}).size(), 1U);
  EXPECT_TRUE(StringSet({"b", "a"}).Contains("a"));
  EXPECT_FALSE(StringSet({"b", "a"}).Contains("c"));
}

TEST(SetTest, AppendsOnlyMembersThatSortAfterTheLast) {
  NumberSet set;
  EXPECT_TRUE(set.Append(Number::FromInt(9)));
  EXPECT_FALSE(set.Append(Number::FromInt(9)));
  EXPECT_FALSE(set.Append(Number::FromInt(-10)));
  EXPECT_TRUE(set.Append(Number::FromInt(10)));
  EXPECT_EQ(set, NumberSet({Number::FromInt(9), Number::FromInt(10)}));
}

TEST(TypeTest, ParseTypeReadsWhatToStringWrites) {
  for (int i = 0; i < 10; ++i) {
    const Type type = static_cast<Type>(i);
    EXPECT_EQ(ParseType(ToString(type)), type);
  }
  EXPECT_EQ(ToString(Value().type()), "NULL");
  EXPECT_EQ(ToString(Value(BinarySet()).type()), "BS");
  EXPECT_EQ(ParseType("s"), std::nullopt);
  EXPECT_EQ(ParseType(""), std::nullopt);
}

}  // namespace
}  // namespace tidemark::item
