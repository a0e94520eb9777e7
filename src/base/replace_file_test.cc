#include "base/replace_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

std::string ContentOf(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class ReplaceFileTest : public ::testing::Test {
 protected:
  TempFolder folder_;
  const std::string path_ = folder_.path() + "/file";
};

TEST_F(ReplaceFileTest, MakesAFileAndReplacesIt) {
  ASSERT_TRUE(ReplaceFile(path_, "first, and longer").has_value());
  EXPECT_EQ(ContentOf(path_), "first, and longer");
  ASSERT_TRUE(ReplaceFile(path_, "second").has_value());
  EXPECT_EQ(ContentOf(path_), "second");
  EXPECT_FALSE(fs::exists(path_ + ".new"));
}

// The file may contain tokens.
TEST_F(ReplaceFileTest, OnlyTheOwnerMayReadIt) {
  std::ofstream(path_ + ".new") << "left by a process that was killed";
  fs::permissions(path_ + ".new", fs::perms::all);
  ASSERT_TRUE(ReplaceFile(path_, "secret").has_value());
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(ContentOf(path_), "secret");
}

TEST_F(ReplaceFileTest, CreatesAFileOnlyOnce) {
  ASSERT_TRUE(CreateFile(path_, "first").has_value());
  const Status again = CreateFile(path_, "second");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kInUse);
  EXPECT_EQ(ContentOf(path_), "first");
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
  EXPECT_FALSE(CreateFile(folder_.path() + "/missing/file", "text"));
}

// A reader that has the file open continues with the old content.
TEST_F(ReplaceFileTest, AReaderKeepsTheWholeOldFile) {
  ASSERT_TRUE(ReplaceFile(path_, "old").has_value());
  std::ifstream reader(path_);
  ASSERT_TRUE(ReplaceFile(path_, "new").has_value());
  std::string text;
  reader >> text;
  EXPECT_EQ(text, "old");
}

TEST_F(ReplaceFileTest, ReportsWhyItFailedAndKeepsTheOldFile) {
  ASSERT_TRUE(ReplaceFile(path_, "old").has_value());
  fs::create_directories(path_ + ".new/in-the-way");
  const Status failed = ReplaceFile(path_, "new");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(failed.error().message.find(path_), std::string::npos);
  EXPECT_EQ(ContentOf(path_), "old");
  const Status nowhere = ReplaceFile(folder_.path() + "/no-such-folder/file", "new");
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_NE(nowhere.error().message.find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace tidemark
