#include "base/join.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(JoinTest, KeepsTheOrderAndTheErrors) {
  auto [first, first_later] = MakeLater<std::string>();
  auto [second, second_later] = MakeLater<std::string>();
  std::vector<Later<std::string>> laters;
  laters.push_back(std::move(first_later));
  laters.push_back(Later<std::string>(Invalid("wrong")));
  laters.push_back(std::move(second_later));
  bool is_answered = false;
  Join(std::move(laters)).Then([&](Result<std::vector<Result<std::string>>> answers) {
    is_answered = true;
    ASSERT_TRUE(answers.has_value());
    ASSERT_EQ(answers->size(), 3u);
    EXPECT_EQ(*(*answers)[0], "a");
    EXPECT_EQ((*answers)[1].error(), Invalid("wrong"));
    EXPECT_EQ(*(*answers)[2], "b");
  });
  second.Fulfil(std::string("b"));
  EXPECT_FALSE(is_answered);
  first.Fulfil(std::string("a"));
  EXPECT_TRUE(is_answered);
}

TEST(JoinTest, NothingIsAnsweredAtOnce) {
  EXPECT_TRUE(Join(std::vector<Later<int>>()).Wait()->empty());
}

}  // namespace
}  // namespace tidemark
