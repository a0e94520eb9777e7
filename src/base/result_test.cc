#include "base/result.h"

#include <memory>
#include <set>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Invalid("odd");
  return number / 2;
}

Result<std::string> QuarterAsText(int number) {
  const int half = TRY(Half(number));
  const int quarter = TRY(Half(half).WithContext("the half"));
  return std::to_string(quarter);
}

TEST(ResultTest, HoldsAValueOrAnError) {
  const Result<int> good = Half(4);
  EXPECT_TRUE(good);
  EXPECT_EQ(*good, 2);
  const Result<int> bad = Half(3);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), (Error{ErrorCode::kInvalid, "odd"}));
}

// TRY must return at the first error.
TEST(ResultTest, TryReturnsEarlyWithTheError) {
  EXPECT_EQ(QuarterAsText(8).value(), "2");
  EXPECT_EQ(QuarterAsText(3).error().message, "odd");
  EXPECT_EQ(QuarterAsText(6).error().message, "the half: odd");
}

TEST(ResultTest, WithContextLeavesSuccessAlone) {
  EXPECT_EQ(Half(4).WithContext("unused").value(), 2);
}

TEST(ResultTest, CarriesValuesThatOnlyMove) {
  auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  auto use = [&]() -> Result<int> { return *TRY(make()); };
  EXPECT_EQ(use().value(), 7);
}

TEST(ResultTest, ConvertsWhatConvertsToItsValue) {
  const Result<std::optional<std::string>> text = "text";
  EXPECT_EQ(**text, "text");
  const Result<std::optional<std::string>> absent = std::nullopt;
  EXPECT_TRUE(absent.has_value());
  EXPECT_FALSE(absent->has_value());
}

// Reading the value of a failed Result is a bug, and must stop the program.
TEST(ResultDeathTest, StopsWhenAFailureIsAskedForItsValue) {
  EXPECT_DEATH(static_cast<void>(Half(3).value()), "broken invariant");
  EXPECT_DEATH(static_cast<void>(Half(4).error()), "broken invariant");
}

TEST(ErrorCodeTest, HasADifferentNameForEachCode) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    names.insert(ToString(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(ErrorCode::kInternal) + 1);
}

}  // namespace
}  // namespace tidemark
