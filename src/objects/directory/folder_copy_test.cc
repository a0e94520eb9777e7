#include "objects/directory/folder_copy.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"
#include "objects/directory/directory_objects.h"
#include "objects/observed_deletes.h"
#include "tests/support/temp_folder.h"

namespace tidemark::directory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FolderCopyTest : public ::testing::Test {
 protected:
  std::unique_ptr<DirectoryObjects> Open(const std::string& name) {
    return DirectoryObjects::Open(path(name), clock_, random_).value();
  }
  std::unique_ptr<FolderCopy> Copy() { return FolderCopy::Open(path("from"), path("to")).value(); }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  TempFolder folder_;
  SystemClock clock_;
  SystemRandom random_;
  std::unique_ptr<DirectoryObjects> objects_ = Open("from");
  const OnObject go_on_ = [](uint64_t) { return true; };
};

TEST_F(FolderCopyTest, ACopyHasTheSameETagsTypesAndMetadata) {
  ASSERT_TRUE(objects_->Put({.key = "a/b.txt",
                             .bytes = "text",
                             .content_type = "text/plain",
                             .metadata = {{"name", "value"}}}));
  ASSERT_TRUE(objects_->Put({.key = "empty"}));
  std::ofstream(path("from/strange.txt")) << "another program wrote this";
  std::ofstream(path("from/.hidden")) << "no object";
  const auto copy = Copy();
  uint64_t bytes = 0;
  ASSERT_TRUE(copy->CopyAll([&](uint64_t size) { return (bytes += size) > 0 || true; }));
  ASSERT_TRUE(copy->Sync());
  EXPECT_EQ(bytes, 30u);
  EXPECT_THAT(copy->problems(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(path("to/.hidden")));
  const auto copied = Open("to");
  for (const char* key : {"a/b.txt", "empty", "strange.txt"}) {
    EXPECT_EQ(copied->Head(key).value(), objects_->Head(key).value()) << key;
  }
  const auto report = VerifyFolder(path("to"), go_on_).value();
  EXPECT_EQ(report.objects, 3u);
  EXPECT_EQ(report.bytes, 30u);
  EXPECT_THAT(report.problems, IsEmpty());
}

TEST_F(FolderCopyTest, LeavesOutADamagedObjectAndSaysSo) {
  ASSERT_TRUE(objects_->Put({.key = "good.txt", .bytes = "good"}));
  ASSERT_TRUE(objects_->Put({.key = "bad.txt", .bytes = "fine"}));
  const auto time = std::filesystem::last_write_time(path("from/bad.txt"));
  std::ofstream(path("from/bad.txt"), std::ios::in | std::ios::out) << "harm";
  std::filesystem::last_write_time(path("from/bad.txt"), time);
  EXPECT_EQ(VerifyFolder(path("from"), go_on_).value().problems.size(), 1u);
  const auto copy = Copy();
  ASSERT_TRUE(copy->CopyAll(go_on_));
  EXPECT_THAT(copy->problems(), ElementsAre(HasSubstr("'bad.txt' is damaged")));
  EXPECT_TRUE(std::filesystem::exists(path("to/good.txt")));
  EXPECT_FALSE(std::filesystem::exists(path("to/bad.txt")));
}

TEST_F(FolderCopyTest, ADeleteIsToldBeforeItHappens) {
  ASSERT_TRUE(objects_->Put({.key = "a.txt", .bytes = "text"}));
  const auto copy = Copy();
  objects::ObservedDeletes observed(std::move(objects_));
  observed.Observe([&](const std::string& key) { EXPECT_TRUE(copy->Copy(key)); });
  ASSERT_TRUE(observed.Delete({.key = "a.txt"}));
  ASSERT_TRUE(observed.Delete({.key = "none.txt"}));
  observed.Observe(nullptr);
  EXPECT_FALSE(observed.Head("a.txt").value());
  ASSERT_TRUE(copy->CopyAll(go_on_));
  EXPECT_TRUE(std::filesystem::exists(path("to/a.txt")));
}

// A backup on the disk of the server must not stop its writes.
TEST_F(FolderCopyTest, LeavesSpaceOnTheDisk) {
  ASSERT_TRUE(objects_->Put({.key = "a.txt", .bytes = "text"}));
  const auto copy = FolderCopy::Open(path("from"), path("to"), uint64_t{1} << 60).value();
  const Status copied = copy->CopyAll(go_on_);
  EXPECT_EQ(copied.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(copied.error().message, HasSubstr("must stay free"));
  EXPECT_FALSE(std::filesystem::exists(path("to/a.txt")));
}

TEST_F(FolderCopyTest, StopsWhenToldTo) {
  ASSERT_TRUE(objects_->Put({.key = "a.txt", .bytes = "text"}));
  const auto stop = [](uint64_t) { return false; };
  EXPECT_EQ(Copy()->CopyAll(stop).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(VerifyFolder(path("from"), stop).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(VerifyFolder(path("nowhere"), stop).value().objects, 0u);
  EXPECT_EQ(FolderCopy::Open(path("nowhere"), path("x")).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tidemark::directory
