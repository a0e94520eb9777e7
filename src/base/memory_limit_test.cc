#include "base/memory_limit.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace tidemark {
namespace {

// A service may have a lower limit than its container, and the other way round.
TEST(MemoryLimitTest, IsTheLowestOfAllGroupsAbove) {
  TempFolder folder;
  const auto set = [&](const std::string& group, const std::string& limit) {
    std::filesystem::create_directories(folder.path() + group);
    std::ofstream(folder.path() + group + "/memory.max") << limit << '\n';
  };
  EXPECT_EQ(GroupMemoryLimit(folder.path(), "/a/b"), UINT64_MAX);
  set("/a/b", "max");
  EXPECT_EQ(GroupMemoryLimit(folder.path(), "/a/b"), UINT64_MAX);
  set("/a", "3000");
  EXPECT_EQ(GroupMemoryLimit(folder.path(), "/a/b"), 3'000u);
  set("/a/b", "2000");
  EXPECT_EQ(GroupMemoryLimit(folder.path(), "/a/b"), 2'000u);
  set("", "1000");
  EXPECT_EQ(GroupMemoryLimit(folder.path(), "/a/b"), 1'000u);
  EXPECT_EQ(GroupMemoryLimit(folder.path(), "/"), 1'000u);
}

TEST(MemoryLimitTest, IsKnown) { EXPECT_GT(MemoryBytes(), 64u << 20); }

}  // namespace
}  // namespace tidemark
