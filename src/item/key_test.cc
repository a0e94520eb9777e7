#include "item/key.h"

#include <string>

#include <gtest/gtest.h>

#include "item/limits.h"

namespace tidemark::item {
namespace {

const KeySchema kSimple{.partition = {"id", Type::kString}, .sort = std::nullopt};
const KeySchema kComposite{.partition = {"id", Type::kString},
                           .sort = KeyAttribute{"at", Type::kNumber}};
const KeySchema kBinaries{.partition = {"id", Type::kBinary},
                          .sort = KeyAttribute{"at", Type::kBinary}};

template <typename T>
std::string ErrorOf(const Result<T>& result) {
  return result.has_value() ? "no error" : result.error().message;
}

std::string Long(size_t size) { return std::string(size, 'x'); }

TEST(KeyTest, ReturnsTheKeyOfAnItem) {
  const Item item{{"id", "a"}, {"at", Number::FromInt(3)}, {"other", true}};
  EXPECT_EQ(*KeyOfItem(item, kSimple), (Key{.partition = "a", .sort = std::nullopt}));
  EXPECT_EQ(*KeyOfItem(item, kComposite), (Key{.partition = "a", .sort = Number::FromInt(3)}));
}

TEST(KeyTest, RefusesAnItemWithoutItsKey) {
  EXPECT_EQ(ErrorOf(KeyOfItem(Item{{"at", Number()}}, kComposite)),
            "One or more parameter values were invalid: Missing the key id in the item");
  EXPECT_EQ(ErrorOf(KeyOfItem(Item{{"id", "a"}}, kComposite)),
            "One or more parameter values were invalid: Missing the key at in the item");
}

TEST(KeyTest, NamesBothTypesWhenAKeyAttributeHasTheWrongType) {
  EXPECT_EQ(
      ErrorOf(KeyOfItem(Item{{"id", Number()}}, kSimple)),
      "One or more parameter values were invalid: Type mismatch for key id expected: S actual: N");
  EXPECT_EQ(
      ErrorOf(KeyOfItem(Item{{"id", "a"}, {"at", Map{}}}, kComposite)),
      "One or more parameter values were invalid: Type mismatch for key at expected: N actual: M");
}

// Attributes that are not in a key may be empty, so only the check of the key refuses empty values.
TEST(KeyTest, RefusesEmptyKeyValues) {
  const std::string text =
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
      "contain an "
      "empty string value. Key: id";
  EXPECT_EQ(ErrorOf(KeyOfItem(Item{{"id", ""}}, kSimple)), text);
  EXPECT_EQ(ErrorOf(KeyOfAttributes(Item{{"id", ""}}, kSimple)), text);
  EXPECT_EQ(ErrorOf(KeyOfItem(Item{{"id", Binary{"a"}}, {"at", Binary{}}}, kBinaries)),
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain "
            "an empty binary value. Key: at");
}

TEST(KeyTest, AcceptsKeysUpToTheirLimits) {
  const auto key = [](size_t partition, size_t sort) {
    return Item{{"id", Binary{Long(partition)}}, {"at", Binary{Long(sort)}}};
  };
  EXPECT_TRUE(KeyOfItem(key(kMaxPartitionKeyBytes, kMaxSortKeyBytes), kBinaries).has_value());
  EXPECT_EQ(ErrorOf(KeyOfItem(key(2'049, 1), kBinaries)),
            "One or more parameter values were invalid: Size of hashkey has exceeded the maximum "
            "size limit "
            "of2048 bytes");
  EXPECT_EQ(ErrorOf(KeyOfAttributes(key(1, 1'025), kBinaries)),
            "One or more parameter values were invalid: Aggregated size of all range keys has "
            "exceeded the size "
            "limit of 1024 bytes");
}

// GetItem has one text for a missing, an additional and a wrongly typed attribute.
TEST(KeyTest, RefusesAKeyThatDoesNotMatchTheSchema) {
  const std::string text = "The provided key element does not match the schema";
  EXPECT_EQ(ErrorOf(KeyOfAttributes(Item{}, kSimple)), text);
  EXPECT_EQ(ErrorOf(KeyOfAttributes(Item{{"id", "a"}}, kComposite)), text);
  EXPECT_EQ(ErrorOf(KeyOfAttributes(Item{{"id", "a"}, {"x", "b"}}, kSimple)), text);
  EXPECT_EQ(ErrorOf(KeyOfAttributes(Item{{"id", "a"}, {"x", Number()}}, kComposite)), text);
  EXPECT_EQ(ErrorOf(KeyOfAttributes(Item{{"id", Number()}}, kSimple)), text);
}

TEST(KeyTest, AttributesOfKeyIsTheInverseOfKeyOfAttributes) {
  const Item attributes{{"id", "a"}, {"at", Number::FromInt(3)}};
  EXPECT_EQ(AttributesOfKey(*KeyOfAttributes(attributes, kComposite), kComposite), attributes);
  EXPECT_EQ(AttributesOfKey(Key{.partition = "a"}, kSimple), (Item{{"id", "a"}}));
}

TEST(KeyTest, LeavesAnItemOutOfAnIndexWhenAnAttributeIsAbsent) {
  EXPECT_EQ(*IndexKeyOfItem(Item{{"id", "a"}}, kComposite, "i"), std::nullopt);
  EXPECT_EQ(*IndexKeyOfItem(Item{{"at", Number()}}, kComposite, "i"), std::nullopt);
  EXPECT_EQ(*IndexKeyOfItem(Item{}, kSimple, "i"), std::nullopt);
  EXPECT_EQ(*IndexKeyOfItem(Item{{"id", "a"}, {"at", Number()}}, kComposite, "i"),
            (Key{.partition = "a", .sort = Number()}));
}

// A wrong value is refused even when the item would not be in the index.
TEST(KeyTest, RefusesIndexKeysOfTheWrongTypeAndNamesTheIndex) {
  EXPECT_EQ(ErrorOf(IndexKeyOfItem(Item{{"id", Number()}}, kComposite, "by-id")),
            "One or more parameter values were invalid: Type mismatch for Index Key id Expected: S "
            "Actual: N "
            "IndexName: by-id");
  EXPECT_EQ(ErrorOf(IndexKeyOfItem(Item{{"at", "x"}}, kComposite, "by-id")),
            "One or more parameter values were invalid: Type mismatch for Index Key at Expected: N "
            "Actual: S "
            "IndexName: by-id");
}

TEST(KeyTest, RefusesEmptyAndLongIndexKeys) {
  EXPECT_EQ(ErrorOf(IndexKeyOfItem(Item{{"id", ""}}, kSimple, "i")),
            "One or more parameter values are not valid. A value specified for a secondary index "
            "key is not "
            "supported. The AttributeValue for a key attribute cannot contain an empty string "
            "value. IndexName: i, "
            "IndexKey: id");
  EXPECT_EQ(ErrorOf(IndexKeyOfItem(Item{{"id", Long(2'049)}}, kSimple, "i")),
            "One or more parameter values were invalid: Size of hashkey has exceeded the maximum "
            "size limit "
            "of2048 bytes IndexName: i");
}

}  // namespace
}  // namespace tidemark::item
