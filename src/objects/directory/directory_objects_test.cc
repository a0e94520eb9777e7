#include "objects/directory/directory_objects.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hashing.h"
#include "objects/directory/record.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"

namespace tidemark::directory {

namespace {

using objects::ObjectInfo;
using ::testing::HasSubstr;

class DirectoryObjectsTest : public ::testing::Test {
 protected:
  DirectoryObjectsTest() { Reopen(); }

  std::string Path(const std::string& name) const { return folder_.path() + "/bucket/" + name; }
  void Reopen() {
    objects_.reset();
    auto opened = DirectoryObjects::Open(folder_.path() + "/bucket", clock_, random_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    objects_ = std::move(*opened);
  }
  void WriteFile(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << bytes;
  }
  std::string Put(const objects::PutRequest& request) {
    auto reply = objects_->Put(request);
    EXPECT_TRUE(reply.has_value() && reply->applied);
    return reply ? reply->etag : "";
  }
  ObjectInfo Head(const std::string& key) {
    auto info = objects_->Head(key);
    EXPECT_TRUE(info.has_value() && info->has_value()) << key;
    return info && *info ? **info : ObjectInfo{};
  }
  Result<std::string> ReadWhole(const std::string& key) {
    auto object = TRY(objects_->Open(key));
    return object->Read(0, 1 << 20);
  }

  TempFolder folder_;
  ManualClock clock_;
  SeededRandom random_{1};
  std::unique_ptr<DirectoryObjects> objects_;
};

}  // namespace

// People can open the files with any program.
TEST_F(DirectoryObjectsTest, StoresPlainFiles) {
  Put({.key = "slack/T1/plan.txt", .bytes = "the plan"});
  std::ifstream file(Path("slack/T1/plan.txt"));
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "the plan");
}

// Two processes cannot see each other's locks.
TEST_F(DirectoryObjectsTest, RefusesASecondProcess) {
  auto second = DirectoryObjects::Open(folder_.path() + "/bucket", clock_, random_);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kInUse);
  EXPECT_THAT(second.error().message, HasSubstr("stop it"));
}

// An object and its metadata outlive the process.
TEST_F(DirectoryObjectsTest, RemembersObjects) {
  Put({.key = "k", .bytes = "b", .content_type = "text/plain", .metadata = {{"team", "T1"}}});
  const ObjectInfo before = Head("k");
  Reopen();
  EXPECT_EQ(Head("k"), before);
}

// A crash during a put leaves a temporary file, which is not needed any more.
TEST_F(DirectoryObjectsTest, RemovesTemporaryFilesWhenOpened) {
  WriteFile(".tidemark/tmp/0123", "half");
  Reopen();
  EXPECT_TRUE(std::filesystem::is_empty(Path(".tidemark/tmp")));
}

// Otherwise empty folders would be listed and backed up for ever.
TEST_F(DirectoryObjectsTest, RemovesEmptyFolders) {
  Put({.key = "a/b/c.txt", .bytes = "1"});
  Put({.key = "a/d.txt", .bytes = "2"});
  ASSERT_TRUE(objects_->Delete({.key = "a/b/c.txt"}).has_value());
  EXPECT_FALSE(std::filesystem::exists(Path("a/b")));
  EXPECT_TRUE(std::filesystem::exists(Path("a/d.txt")));
  ASSERT_TRUE(objects_->Delete({.key = "a/d.txt"}).has_value());
  EXPECT_FALSE(std::filesystem::exists(Path("a")));
}

// Other programs write files without records.
TEST_F(DirectoryObjectsTest, AcceptsFilesOfOtherPrograms) {
  WriteFile("documents/one.json", "{}");
  const ObjectInfo info = Head("documents/one.json");
  EXPECT_EQ(info.etag, ToHex(Sha256("{}")));
  EXPECT_EQ(info.content_type, "application/octet-stream");
  EXPECT_EQ(info.size, 2U);
  auto page = objects_->List({.prefix = "documents/"});
  ASSERT_TRUE(page.has_value());
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0], info);
  auto replaced =
      objects_->Put({.key = "documents/one.json", .bytes = "[]", .if_match = info.etag});
  EXPECT_TRUE(replaced.has_value() && replaced->applied);
}

// A record is ignored if the file has changed since.
TEST_F(DirectoryObjectsTest, NoticesThatAnotherProgramWroteAnObject) {
  const std::string etag = Put(
      {.key = "k.txt", .bytes = "ours", .content_type = "text/plain", .metadata = {{"a", "b"}}});
  WriteFile("k.txt", "them");
  const ObjectInfo info = Head("k.txt");
  EXPECT_EQ(info.etag, ToHex(Sha256("them")));
  EXPECT_EQ(info.content_type, "application/octet-stream");
  EXPECT_TRUE(info.metadata.empty());
  auto stale = objects_->Put({.key = "k.txt", .bytes = "new", .if_match = etag});
  EXPECT_TRUE(stale.has_value() && !stale->applied);
}

// `touch` and a copy do not change the object.
TEST_F(DirectoryObjectsTest, KeepsTheRecordOfATouchedFile) {
  Put({.key = "k.txt", .bytes = "ours", .content_type = "text/plain"});
  ObjectInfo expected = Head("k.txt");
  expected.modified = std::chrono::seconds(1'800'000'000);
  const timespec time{.tv_sec = 1'800'000'000, .tv_nsec = 0};
  const timespec times[] = {time, time};
  ASSERT_EQ(utimensat(AT_FDCWD, Path("k.txt").c_str(), times, 0), 0);
  EXPECT_EQ(Head("k.txt"), expected);
}

// A file whose path belongs to no key is not an object.
TEST_F(DirectoryObjectsTest, ListsOnlyObjects) {
  WriteFile("README", "no dot, no mark");
  WriteFile(".git/config.txt", "hidden");
  WriteFile("v1.2/plan.pdf", "a dot, no mark");
  std::filesystem::create_symlink("/etc/hostname", Path("link.txt"));
  Put({.key = "k.txt", .bytes = "b"});
  auto page = objects_->List({});
  ASSERT_TRUE(page.has_value());
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].key, "k.txt");
  auto link = objects_->Open("link.txt");
  EXPECT_TRUE(link.has_value() && *link == nullptr);
}

// A flipped bit is noticed when the whole object is read.
TEST_F(DirectoryObjectsTest, ReportsDamagedBytes) {
  Put({.key = "k.txt", .bytes = "abcdef"});
  struct stat status {};
  ASSERT_EQ(stat(Path("k.txt").c_str(), &status), 0);
  WriteFile("k.txt", "abcdeF");
  // A failing disk changes the bytes and not the modification time.
  const timespec times[] = {status.st_mtim, status.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, Path("k.txt").c_str(), times, 0), 0);
  auto whole = ReadWhole("k.txt");
  ASSERT_FALSE(whole.has_value());
  EXPECT_EQ(whole.error().code, ErrorCode::kCorrupt);
  auto object = objects_->Open("k.txt");
  ASSERT_TRUE(object.has_value() && *object != nullptr);
  EXPECT_TRUE((*object)->Read(0, 3).has_value());
  EXPECT_FALSE((*object)->Read(3, 3).has_value());
  EXPECT_TRUE((*object)->Read(1, 3).has_value());
}

// A damaged content type is not served, but the object can be deleted or replaced.
TEST_F(DirectoryObjectsTest, ReportsADamagedRecord) {
  Put({.key = "k.txt", .bytes = "abcdef"});
  ASSERT_EQ(setxattr(Path("k.txt").c_str(), kRecordAttribute, "x", 1, 0), 0);
  auto head = objects_->Head("k.txt");
  ASSERT_FALSE(head.has_value());
  EXPECT_EQ(head.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(head.error().message, HasSubstr("'k.txt'"));
  Put({.key = "k.txt", .bytes = "anew"});
  EXPECT_EQ(Head("k.txt").size, 4U);
}

// If the file becomes shorter while it is read, this is an error and not the end.
TEST_F(DirectoryObjectsTest, ReportsAFileThatShrank) {
  Put({.key = "k.txt", .bytes = "abcdef"});
  auto object = objects_->Open("k.txt");
  ASSERT_TRUE(object.has_value());
  std::filesystem::resize_file(Path("k.txt"), 3);
  auto read = (*object)->Read(0, 6);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
}

// If the source file does not exist, nothing is stored.
TEST_F(DirectoryObjectsTest, RefusesAMissingSourceFile) {
  auto reply = objects_->Put({.key = "k", .file = folder_.path() + "/missing"});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(std::filesystem::is_empty(Path(".tidemark/tmp")));
}

}  // namespace tidemark::directory
