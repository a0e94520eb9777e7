#include "servers/dynamodb/access_keys.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tables/embedded/embedded_tables.h"
#include "tests/support/forwarding_tables.h"
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
    EXPECT_TRUE(EnsureKeysTable(*tables_));
  }
  std::string key_file() const { return folder_.path() + "/key"; }
  // As another process has them.
  AccessKeys Keys() {
    return AccessKeys(tables_.get(), CreateSealKey(key_file(), runtime_.random).value(),
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
  EXPECT_EQ(RevokeKey(*tables_, "other").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ListKeys(*tables_)->size(), 1U);
  EXPECT_TRUE(RevokeKey(*tables_, "ci"));
  EXPECT_TRUE(ListKeys(*tables_)->empty());
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

TEST_F(AccessKeysTest, ADamagedRowDoesNotHideTheOthers) {
  ASSERT_TRUE(Keys().Create("ci", {}));
  ASSERT_TRUE(tables_->Put({.table = std::string(kKeysTable), .item = {{"id", "TMBROKEN"}}}));
  const auto listed = ListKeys(*tables_);
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ(listed->front().id, "TMBROKEN");
  EXPECT_TRUE(listed->front().is_damaged);
  EXPECT_EQ(listed->back().name, "ci");
  EXPECT_FALSE(listed->back().is_damaged);
  EXPECT_TRUE(Keys().Create("other", {}));
  EXPECT_TRUE(RevokeKey(*tables_, "TMBROKEN"));
  EXPECT_TRUE(RevokeKey(*tables_, "ci"));
  EXPECT_EQ(ListKeys(*tables_)->size(), 1U);
}

TEST_F(AccessKeysTest, TheKeyFileIsForItsOwnerOnly) {
  namespace fs = std::filesystem;
  Keys();
  EXPECT_EQ(fs::status(key_file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(key_file(), fs::perms::group_read, fs::perm_options::add);
  const auto refused = ReadSealKey(key_file());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("chmod 600"));
  fs::permissions(key_file(), fs::perms::group_read, fs::perm_options::remove);
  std::ofstream(key_file()) << "short\n";
  EXPECT_EQ(ReadSealKey(key_file()).error().code, ErrorCode::kCorrupt);
}

TEST_F(AccessKeysTest, AMissingKeyFileIsMadeOnlyWhileThereAreNoKeys) {
  const auto open = [&] { return AccessKeys::Open(tables_.get(), key_file(), runtime_.runtime()); };
  const auto keys = open();
  ASSERT_TRUE(keys) << keys.error().message;
  // A process that comes second takes the file that is there.
  EXPECT_EQ(CreateSealKey(key_file(), runtime_.random)->Reveal(),
            ReadSealKey(key_file())->Reveal());
  ASSERT_TRUE((*keys)->Create("ci", {}));
  std::filesystem::remove(key_file());
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the file " + key_file() + " is missing"));
  EXPECT_FALSE(std::filesystem::exists(key_file()));
  EXPECT_TRUE(RevokeKey(*tables_, "ci"));
  EXPECT_TRUE(open());
}

TEST_F(AccessKeysTest, AKeyThatCannotBeHandedOverIsNotMade) {
  const auto fail = [](const NewAccessKey&) -> Status {
    return Error{ErrorCode::kUnavailable, "no space"};
  };
  EXPECT_EQ(Keys().Create("ci", {}, fail).error().message, "no space");
  EXPECT_TRUE(ListKeys(*tables_)->empty());
}

// Answers the reads of items when the test says so.
class HeldTables final : public tidemark::testing::ForwardingTables {
 public:
  using ForwardingTables::ForwardingTables;
  using Tables::Submit;
  Later<std::optional<item::Item>> Submit(tables::GetRequest request,
                                          std::optional<Deadline> /*deadline*/) override {
    request_ = std::move(request);
    auto [promise, later] = MakeLater<std::optional<item::Item>>();
    held_.push_back(std::move(promise));
    return std::move(later);
  }
  size_t held() const { return held_.size(); }
  void AnswerAll() {
    for (auto& promise : std::exchange(held_, {})) promise.Fulfil(inner().Get(request_));
  }
  // As if the row had been read earlier.
  void AnswerAllWith(const std::optional<item::Item>& row) {
    for (auto& promise : std::exchange(held_, {})) promise.Fulfil(row);
  }
  void FailAll() {
    for (auto& promise : std::exchange(held_, {})) {
      promise.Fulfil(Error{ErrorCode::kUnavailable, "for the test"});
    }
  }

 private:
  tables::GetRequest request_;
  std::vector<Promise<std::optional<item::Item>>> held_;
};

TEST_F(AccessKeysTest, OneReadIsForAllThatAskAtTheSameTime) {
  HeldTables held(tables_.get());
  const auto keys = AccessKeys::Open(&held, key_file(), runtime_.runtime()).value();
  const NewAccessKey made = keys->Create("ci", {}).value();
  auto first = keys->Find(made.id);
  auto second = keys->Find(made.id);
  EXPECT_EQ(held.held(), 1U);
  held.AnswerAll();
  EXPECT_EQ(first.Wait().value()->entry().name, "ci");
  EXPECT_EQ(second.Wait().value()->entry().name, "ci");
}

TEST_F(AccessKeysTest, AKeyThatIsRevokedHereEndsAtOnce) {
  HeldTables held(tables_.get());
  const auto keys = AccessKeys::Open(&held, key_file(), runtime_.runtime()).value();
  const NewAccessKey made = keys->Create("ci", {}).value();
  const auto row =
      tables_->Get({.table = std::string(kKeysTable), .key = {{"id", made.id}}}).value();
  auto before = keys->Find(made.id);
  held.AnswerAllWith(row);
  ASSERT_TRUE(before.Wait().value());
  // It is kept for a second. A read that begins now is answered with the row as it was.
  runtime_.clock.Advance(std::chrono::seconds(1));
  auto during = keys->Find(made.id);
  EXPECT_EQ(keys->Revoke("other").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(keys->Revoke("ci"));
  held.AnswerAllWith(row);
  EXPECT_EQ(during.Wait().value(), nullptr);
  auto after = keys->Find(made.id);
  EXPECT_EQ(held.held(), 1U);
  held.AnswerAll();
  EXPECT_EQ(after.Wait().value(), nullptr);
}

TEST_F(AccessKeysTest, AKeyIsGoodForAMinuteWhileTheTablesCannotAnswer) {
  HeldTables held(tables_.get());
  const auto keys = AccessKeys::Open(&held, key_file(), runtime_.runtime()).value();
  const NewAccessKey made = keys->Create("ci", {}).value();
  auto found = keys->Find(made.id);
  held.AnswerAll();
  ASSERT_TRUE(found.Wait());
  const auto find_in_vain = [&] {
    auto asked = keys->Find(made.id);
    EXPECT_EQ(held.held(), 1U);
    held.FailAll();
    return asked.Wait();
  };
  runtime_.clock.Advance(std::chrono::seconds(59));
  EXPECT_EQ(find_in_vain().value()->entry().name, "ci");
  runtime_.clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(find_in_vain().error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace tidemark::dynamodb
