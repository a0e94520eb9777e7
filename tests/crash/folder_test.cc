// The errors when a folder cannot be opened. The attempt must not change or lose anything in it.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/machine.h"

namespace tidemark::crash {
namespace {

using embedded::EmbeddedTables;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kSeed = 66'001;

class FolderTest : public ::testing::Test {
 protected:
  // Makes a folder with some data.
  void Fill() {
    auto tables = machine_.Open();
    ASSERT_TRUE(tables) << tables.error().message;
    ASSERT_TRUE(EnsureTable(**tables));
    ASSERT_EQ(Work(**tables, &ledger_, 0, 30), std::nullopt);
  }
  void ExpectUntouched() {
    machine_.Repair();
    auto tables = machine_.Open();
    ASSERT_TRUE(tables) << tables.error().message;
    EXPECT_THAT(ledger_.Check(**tables), IsEmpty());
  }
  Error ErrorOf(const embedded::Options& options) {
    auto tables = EmbeddedTables::Open(options);
    return tables ? Error{ErrorCode::kInternal, "it opened"} : tables.error();
  }
  void Replace(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }

  Machine machine_{kSeed};
  Ledger ledger_{kSeed, 1};
};

TEST_F(FolderTest, IsOpenOnlyOnce) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  auto tables = machine_.Open();
  ASSERT_TRUE(tables);
  EXPECT_EQ(ErrorOf(machine_.options()).code, ErrorCode::kInUse);
  EXPECT_EQ(Work(**tables, &ledger_, 0, 10), std::nullopt) << "the first one goes on";
  EXPECT_THAT(ledger_.Check(**tables), IsEmpty());
}

TEST_F(FolderTest, OfANewerFormatIsRefusedAndLeftAlone) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  const std::string marker = machine_.folder() + "/TIDEMARK";
  std::string text;
  {
    std::ifstream file(marker);
    std::getline(file, text);
  }
  Replace(marker, "tidemark data folder, format 999\n");
  const Error error = ErrorOf(machine_.options());
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.message, HasSubstr("999"));
  Replace(marker, text + "\n");
  ExpectUntouched();
}

TEST_F(FolderTest, OfSomethingElseIsRefused) {
  std::filesystem::create_directory(machine_.folder());
  Replace(machine_.folder() + "/letter.txt", "dear");
  const Error error = ErrorOf(machine_.options());
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.message, HasSubstr("letter.txt"));
}

// Permission bits do not stop the root user, who may run the tests. A file in place of the folder
// stops every user.
TEST_F(FolderTest, ThatIsAFileIsRefused) {
  Replace(machine_.folder(), "a file");
  const Error error = ErrorOf(machine_.options());
  EXPECT_NE(error.code, ErrorCode::kInternal) << error.message;
  EXPECT_THAT(error.message, HasSubstr(machine_.folder()));
}

TEST_F(FolderTest, ThatIsMissingIsNotMadeAgainstTheWill) {
  embedded::Options options = machine_.options();
  options.create_if_missing = false;
  EXPECT_EQ(ErrorOf(options).code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(machine_.folder()));
}

TEST_F(FolderTest, ReadsWithoutWriting) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  // Every write of the disk fails, so the test shows that nothing is written.
  machine_.files().Arm({.persistent = true});
  embedded::Options options = machine_.options();
  options.access = embedded::Access::kReadOnly;
  auto tables = EmbeddedTables::Open(options);
  ASSERT_TRUE(tables) << tables.error().message;
  const auto things = ReadThings(**tables);
  ASSERT_TRUE(things) << things.error().message;
  EXPECT_FALSE(things->empty());
  const auto refused = Perform(**tables, OperationOf(kSeed, 0, ledger_.next(0)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
  EXPECT_FALSE(machine_.files().fired());
  tables = Error{};
  ExpectUntouched();
}

TEST_F(FolderTest, OnAFullDiskIsAnErrorOrReadableAndLosesNothing) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  for (uint64_t bytes = 0; bytes < 20'000; bytes += 1 + bytes / 2) {
    SCOPED_TRACE("free bytes " + std::to_string(bytes));
    machine_.files().SetFreeBytes(bytes);
    auto tables = machine_.Open();
    EXPECT_TRUE(tables || tables.error().code == ErrorCode::kUnavailable) << tables.error().message;
    tables = Error{};
    ExpectUntouched();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tidemark::crash
