#include "servers/dynamodb/access_keys.h"

#include <filesystem>
#include <fstream>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tables/embedded/embedded_tables.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_runtime.h"

namespace tidemark::dynamodb {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class AccessKeysTest : public ::testing::Test {
 protected:
  AccessKeysTest() {
    tables_ = embedded::EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                              .durability = embedded::Durability::kEverySecond,
                                              .background = false,
                                              .clock = &runtime_.clock,
                                              .random = &runtime_.random})
                  .value();
    EXPECT_TRUE(Keys().CreateTable());
  }
  std::string key_file() const { return folder_.path() + "/key"; }
  AccessKeys Keys() {
    return AccessKeys(tables_.get(), ReadSealKey(key_file(), runtime_.random).value(),
                      runtime_.runtime());
  }

  TempFolder folder_;
  tidemark::testing::TestRuntime runtime_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
};

TEST_F(AccessKeysTest, AreSharedByProcesses) {
  const Rights rights{.read_only = true, .tables = {"a", "b"}, .own_writes = {"c"}};
  const NewAccessKey made = Keys().Create("ci", rights).value();
  EXPECT_EQ(made.id.size(), 20U);
  EXPECT_EQ(made.secret.Reveal().size(), 40U);
  const auto found = Keys().Find(made.id).Wait();
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->entry().name, "ci");
  EXPECT_EQ((*found)->entry().rights, rights);
  const aws::Scope scope{.date = "20231114", .region = "r", .service = "dynamodb"};
  EXPECT_TRUE((*found)->SigningKeyFor(scope) == aws::SigningKey(made.secret, scope));
  EXPECT_FALSE(*Keys().Find("TMOTHER").Wait());
  EXPECT_FALSE(*Keys().Find("\xff").Wait());
}

TEST_F(AccessKeysTest, HaveOneNameEach) {
  ASSERT_TRUE(Keys().Create("ci", {}));
  EXPECT_EQ(Keys().Create("ci", {}).error().code, ErrorCode::kInUse);
  EXPECT_EQ(Keys().Create("a b", {}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Keys().Revoke("other").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Keys().List()->size(), 1U);
  EXPECT_TRUE(Keys().Revoke("ci"));
  EXPECT_TRUE(Keys().List()->empty());
}

// Whoever has the tables, or a backup of them, does not have the secrets.
TEST_F(AccessKeysTest, SecretsAreEncryptedAtRest) {
  const NewAccessKey made = Keys().Create("ci", {}).value();
  const auto row =
      tables_->Get({.table = std::string(kKeysTable), .key = {{"id", made.id}}}).value().value();
  const auto* sealed = row.Find("secret")->As<item::Binary>();
  ASSERT_NE(sealed, nullptr);
  EXPECT_THAT(sealed->bytes, Not(HasSubstr(std::string(made.secret.Reveal()))));
  // With another key file, and in the row of another key, it does not open.
  std::filesystem::remove(key_file());
  EXPECT_EQ(Keys().Find(made.id).Wait().error().code, ErrorCode::kCorrupt);
}

TEST_F(AccessKeysTest, ADamagedRowIsNoKeyForEverything) {
  const NewAccessKey made = Keys().Create("ci", {.tables = {"a"}}).value();
  ASSERT_TRUE(tables_->Update({.table = std::string(kKeysTable),
                               .key = {{"id", made.id}},
                               .update = "SET #t = :t",
                               .names = {{"#t", "tables"}},
                               .values = {{":t", "a"}}}));
  EXPECT_EQ(Keys().Find(made.id).Wait().error().code, ErrorCode::kCorrupt);
}

TEST_F(AccessKeysTest, TheKeyFileIsForItsOwnerOnly) {
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(key_file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(key_file(), fs::perms::group_read, fs::perm_options::add);
  const auto refused = ReadSealKey(key_file(), runtime_.random);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("chmod 600"));
  fs::permissions(key_file(), fs::perms::group_read, fs::perm_options::remove);
  std::ofstream(key_file()) << "short\n";
  EXPECT_EQ(ReadSealKey(key_file(), runtime_.random).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace tidemark::dynamodb
