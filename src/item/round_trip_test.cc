// Random items are written and read again, as JSON and as stored bytes.
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "item/encoding.h"
#include "item/json.h"
#include "item/size.h"
#include "item/validate.h"

namespace tidemark::item {
namespace {

class RoundTripTest : public ::testing::Test {
 protected:
  // A failure is replayed with --gtest_random_seed.
  RoundTripTest() {
    const int chosen = GTEST_FLAG_GET(random_seed);
    const unsigned seed =
        chosen != 0 ? static_cast<unsigned>(chosen) : std::random_device()() % 100'000;
    engine_.seed(seed);
    std::printf("seed %u\n", seed);
  }

  int Between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

  std::string AnyBytes() {
    std::string bytes;
    for (int i = Between(0, 12); i > 0; --i) bytes += static_cast<char>(Between(0, 255));
    return bytes;
  }
  String AnyText() {
    const std::vector<std::string> parts = {
        "a", "\"", "\\", std::string(1, '\0'), "\xc3\xa9", "\xf0\x9f\x8c\x8a", "\n"};
    String text;
    for (int i = Between(0, 6); i > 0; --i) text += parts[static_cast<size_t>(Between(0, 6))];
    return text;
  }
  Number AnyNumber() {
    const std::string sign = Between(0, 1) == 1 ? "-" : "";
    std::string digits;
    for (int i = Between(1, 38); i > 0; --i) digits += static_cast<char>('0' + Between(0, 9));
    return *Number::Parse(sign + digits + "e" + std::to_string(Between(-130, 80)));
  }
  Binary AnyBinary() { return Binary{AnyBytes()}; }

  template <typename Member>
  SetOf<Member> AnySet(Member (RoundTripTest::*any)()) {
    std::vector<Member> members;
    for (int i = Between(1, 5); i > 0; --i) members.push_back((this->*any)());
    return SetOf<Member>(std::move(members));
  }

  Value AnyValue(int depth) {
    switch (static_cast<Type>(Between(0, depth < 4 ? 9 : 7))) {
      case Type::kString:
        return AnyText();
      case Type::kNumber:
        return AnyNumber();
      case Type::kBinary:
        return AnyBinary();
      case Type::kBool:
        return Between(0, 1) == 1;
      case Type::kNull:
        return Null{};
      case Type::kStringSet:
        return AnySet<String>(&RoundTripTest::AnyText);
      case Type::kNumberSet:
        return AnySet<Number>(&RoundTripTest::AnyNumber);
      case Type::kBinarySet:
        return AnySet<Binary>(&RoundTripTest::AnyBinary);
      case Type::kList: {
        List list;
        for (int i = Between(0, 4); i > 0; --i) list.push_back(AnyValue(depth + 1));
        return list;
      }
      default:
        return AnyMap(depth + 1);
    }
  }
  Map AnyMap(int depth) {
    Map map;
    for (int i = Between(0, 6); i > 0; --i) map.Set("n" + AnyText(), AnyValue(depth));
    return map;
  }

  std::mt19937_64 engine_;
};

TEST_F(RoundTripTest, ItemsAreTheSameAfterJsonAndAfterBytes) {
  for (int i = 0; i < 5'000; ++i) {
    const Item item = AnyMap(0);
    const std::string json = ToJson(item);
    ASSERT_TRUE(ValidateItem(item).has_value()) << json;
    const Result<Item> parsed = ParseItemJson(json);
    ASSERT_TRUE(parsed.has_value()) << json << parsed.error().message;
    ASSERT_EQ(*parsed, item) << json;
    std::string bytes;
    EncodeItem(item, &bytes);
    const Result<Item> decoded = DecodeItem(bytes);
    ASSERT_TRUE(decoded.has_value()) << json;
    ASSERT_EQ(*decoded, item) << json;
  }
}

// Damaged bytes are refused, or they are the canonical bytes of another item. Nothing crashes.
TEST_F(RoundTripTest, DamagedBytesAreRefusedOrCanonical) {
  for (int i = 0; i < 5'000; ++i) {
    std::string bytes;
    EncodeItem(AnyMap(0), &bytes);
    bytes[static_cast<size_t>(Between(0, static_cast<int>(bytes.size()) - 1))] =
        static_cast<char>(Between(0, 255));
    const Result<Item> decoded = DecodeItem(bytes);
    if (!decoded) continue;
    std::string again;
    EncodeItem(*decoded, &again);
    ASSERT_EQ(again, bytes);
  }
}

}  // namespace
}  // namespace tidemark::item
