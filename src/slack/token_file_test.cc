#include "slack/token_file.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"

namespace tidemark::slack {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct TokenFileTest : ::testing::Test {
  void Write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
  std::string Refusal() {
    const auto pair = ReadTokenPair(path);
    return pair ? "" : pair.error().message;
  }

  TempFolder folder;
  const std::string path = folder.path() + "/token";
  ManualClock clock;
};

TEST_F(TokenFileTest, ReadsATokenWithoutTheLineEnd) {
  Write("xoxb-1\r\n");
  EXPECT_EQ(ReadToken(path)->Reveal(), "xoxb-1");
}

// A token is put into a header, so it must not contain a line end.
TEST_F(TokenFileTest, RefusesATextThatIsNotAToken) {
  for (const char* text : {"", "\n", "xoxb 1", "xoxb\n1", "xoxb\t1", "xoxb-é"}) {
    Write(text);
    EXPECT_FALSE(ReadToken(path)) << text;
  }
  EXPECT_EQ(ReadToken(path + ".none").error().code, ErrorCode::kNotFound);
}

TEST_F(TokenFileTest, ReadsBackAWrittenPair) {
  ASSERT_TRUE(WriteTokenPair(
      path, {.access_token = Secret("a"), .refresh_token = Secret("r"), .expires_at = 7}));
  const TokenPair pair = ReadTokenPair(path).value();
  EXPECT_EQ(pair.access_token.Reveal(), "a");
  EXPECT_EQ(pair.refresh_token.Reveal(), "r");
  EXPECT_EQ(pair.expires_at, 7);
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
}

TEST_F(TokenFileTest, TreatsAPairWithoutExpiryAsExpired) {
  Write(R"({"access_token":"a","refresh_token":"r"})");
  EXPECT_EQ(ReadTokenPair(path)->expires_at, 0);
}

// The messages are logged, so they must not show the content of the file.
TEST_F(TokenFileTest, ErrorsDoNotShowTheContentOfTheFile) {
  Write("canary");
  EXPECT_THAT(Refusal(), HasSubstr("not JSON"));
  EXPECT_THAT(Refusal(), Not(HasSubstr("canary")));
  Write(R"({"access_token":"canary"})");
  EXPECT_THAT(Refusal(), HasSubstr("must have the strings"));
  EXPECT_THAT(Refusal(), Not(HasSubstr("canary")));
  Write(R"({"access_token":"a","refresh_token":"r"})", 0604);
  EXPECT_THAT(Refusal(), HasSubstr("chmod 600"));
}

TEST_F(TokenFileTest, KeepsTheOldPairWhenWritingFails) {
  ASSERT_TRUE(WriteTokenPair(path, {.access_token = Secret("a"), .refresh_token = Secret("r")}));
  std::filesystem::create_directories(path + ".new/in-the-way");
  const Status status =
      WriteTokenPair(path, {.access_token = Secret("b"), .refresh_token = Secret("s")});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(ReadTokenPair(path)->access_token.Reveal(), "a");
}

TEST_F(TokenFileTest, OnlyOneHolderGetsTheLock) {
  auto first = TokenFileLock::Take(path).value();
  ASSERT_TRUE(first);
  EXPECT_FALSE(TokenFileLock::Take(path).value());
  first.reset();
  EXPECT_TRUE(TokenFileLock::Take(path).value());
}

// A lock file that cannot be created is an error, and not the same as a lock that another process
// has.
TEST_F(TokenFileTest, ReportsALockFileThatCannotBeCreated) {
  const auto lock = TokenFileLock::Take(folder.path() + "/no/such");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(lock.error().message, HasSubstr("/no/such.lock"));
}

TEST_F(TokenFileTest, LooksForChangesAtMostOnceASecond) {
  FileWatch watch(path, &clock);
  EXPECT_FALSE(watch.HasChanged());  // There is none.
  Write("one");
  EXPECT_FALSE(watch.HasChanged());  // Too early to look.
  clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(watch.HasChanged());
  clock.Advance(std::chrono::seconds(1));
  EXPECT_FALSE(watch.HasChanged());
  Write("longer");
  clock.Advance(std::chrono::milliseconds(999));
  EXPECT_FALSE(watch.HasChanged());
  clock.Advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(watch.HasChanged());
}

// Even if the new file has the same size.
TEST_F(TokenFileTest, NoticesAReplacedFile) {
  Write("one");
  FileWatch watch(path, &clock);
  EXPECT_TRUE(watch.HasChanged());
  std::ofstream(path + ".two") << "two";
  std::filesystem::rename(path + ".two", path);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(watch.HasChanged());
}

}  // namespace
}  // namespace tidemark::slack
