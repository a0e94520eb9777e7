#include "base/memory_limit.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace tidemark {
namespace {

class MemoryLimitTest : public ::testing::Test {
 protected:
  void BelongTo(const std::string& lines) const { std::ofstream(membership_) << lines; }
  void Set(const std::string& file, const std::string& limit) const {
    const std::filesystem::path path = folder_.path() + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << limit << '\n';
  }
  uint64_t Limit() const { return GroupMemoryLimit(folder_.path(), membership_); }

  TempFolder folder_;
  const std::string membership_ = folder_.path() + "/membership";
};

// A service may have a lower limit than its container, and the other way round.
TEST_F(MemoryLimitTest, IsTheLowestOfAllGroupsAbove) {
  BelongTo("0::/a/b\n");
  EXPECT_EQ(Limit(), UINT64_MAX);
  Set("/a/b/memory.max", "max");
  EXPECT_EQ(Limit(), UINT64_MAX);
  Set("/a/memory.max", "3000");
  EXPECT_EQ(Limit(), 3'000u);
  Set("/a/b/memory.max", "2000");
  EXPECT_EQ(Limit(), 2'000u);
  Set("/memory.max", "1000");
  EXPECT_EQ(Limit(), 1'000u);
  BelongTo("0::/\n");
  EXPECT_EQ(Limit(), 1'000u);
}

// Older systems have a tree of groups for each controller, and a limit that is nearly 2^63 in place
// of none.
TEST_F(MemoryLimitTest, ReadsTheFirstVersionOfGroupsToo) {
  BelongTo("12:cpuset:/x\n5:cpu,memory:/docker/f00\n1:name=systemd:/y\n0::/\n");
  Set("/memory/docker/f00/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_GT(Limit(), uint64_t{1} << 62);
  Set("/memory/docker/memory.limit_in_bytes", "3000");
  EXPECT_EQ(Limit(), 3'000u);
  // In a container the group itself is the root.
  Set("/memory/memory.limit_in_bytes", "2000");
  EXPECT_EQ(Limit(), 2'000u);
  // No other controller limits the memory.
  Set("/memory/x/memory.limit_in_bytes", "1000");
  EXPECT_EQ(Limit(), 2'000u);
}

TEST_F(MemoryLimitTest, NeedsNoGroups) {
  EXPECT_EQ(Limit(), UINT64_MAX);
  BelongTo("nonsense\n:\n\n");
  EXPECT_EQ(Limit(), UINT64_MAX);
}

TEST_F(MemoryLimitTest, IsKnown) { EXPECT_GT(MemoryBytes(), 64u << 20); }

}  // namespace
}  // namespace tidemark
