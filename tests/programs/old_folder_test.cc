// The commands of the current program on a data folder that an earlier one wrote
// (tests/data/folder-v1): what the apps stored there is read as before.
#include <filesystem>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/run_program.h"
#include "tests/support/temp_folder.h"

namespace tidemark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OldFolderCommandsTest : public ::testing::Test {
 protected:
  OldFolderCommandsTest() {
    std::filesystem::copy(TIDEMARK_OLD_FOLDER "/data", folder_.path() + "/data",
                          std::filesystem::copy_options::recursive);
  }
  std::string Do(std::vector<std::string> arguments) {
    const Outcome outcome = RunProgram({.arguments = std::move(arguments),
                                        .folder = folder_.path(),
                                        .environment = "TIDEMARK_DATA=data"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }

  TempFolder folder_;
};

TEST_F(OldFolderCommandsTest, TheTablesAreSound) {
  EXPECT_THAT(Do({"tables", "verify"}), HasSubstr(R"("sound":true)"));
}

TEST_F(OldFolderCommandsTest, TheArchiveShowsItsChannelsMessagesAndThreads) {
  EXPECT_THAT(Do({"archive", "channels", "--team", "T0EXPORT01", "--json"}),
              HasSubstr(R"("channel_id":"C0EXPORT01")"));
  EXPECT_THAT(Do({"archive", "messages", "C0EXPORT01", "--team", "T0EXPORT01", "--json"}),
              AllOf(HasSubstr("The first message"), HasSubstr("A reply"), HasSubstr("Corrected")));
  EXPECT_THAT(Do({"archive", "thread", "C0EXPORT01", "1760000001.000100", "--team", "T0EXPORT01",
                  "--json"}),
              AllOf(HasSubstr("The first message"), HasSubstr("A reply")));
}

TEST_F(OldFolderCommandsTest, AttemptsShowStatesAndPermanentLocks) {
  EXPECT_THAT(Do({"attempts", "show", "ann", "--json"}), HasSubstr("SUSPENDED"));
  EXPECT_THAT(Do({"attempts", "show", "bob", "--json"}), HasSubstr("PERMANENT"));
}

TEST_F(OldFolderCommandsTest, DocumentsAreReadFromTheirObjects) {
  EXPECT_THAT(Do({"documents", "get", "CHG-2025-001"}),
              AllOf(HasSubstr("CHG-2025-001"), HasSubstr("A change")));
}

}  // namespace
}  // namespace tidemark::testing
