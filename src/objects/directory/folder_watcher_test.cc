#include "objects/directory/folder_watcher.h"

#include <errno.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"
#include "objects/directory/directory_objects.h"
#include "tests/support/temp_folder.h"

namespace tidemark::directory {

namespace {

using objects::News;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// The kernel queues an event before the call that causes it returns, so the tests need no waiting.
class FolderWatcherTest : public ::testing::Test {
 protected:
  FolderWatcherTest() {
    auto opened = DirectoryObjects::Open(bucket(), clock_, random_);
    CHECK(opened.has_value());
    objects_ = std::move(*opened);
  }

  std::string bucket() const { return folder_.path() + "/bucket"; }
  std::filesystem::path In(const std::string& name) const { return bucket() + "/" + name; }
  void Watch(const std::string& prefix = "archive/", size_t max_folders = 100) {
    WatchWith({.folder = bucket(), .prefix = prefix, .max_folders = max_folders});
  }
  void WatchWith(const FolderWatcherOptions& options) {
    auto opened = FolderWatcher::Open(options);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    watcher_ = std::move(*opened);
  }
  void MakeFolder(const std::string& name) const { std::filesystem::create_directories(In(name)); }
  void WriteFile(const std::string& name) const { std::ofstream(In(name)) << "{}"; }
  void Move(const std::string& from, const std::string& to) const {
    std::filesystem::rename(In(from), In(to));
  }
  News Get() {
    auto news = watcher_->Wait(std::chrono::milliseconds(0));
    EXPECT_TRUE(news.has_value()) << news.error().message;
    return news ? *news : News{};
  }

  TempFolder folder_;
  SystemClock clock_;
  SeededRandom random_{1};
  std::unique_ptr<DirectoryObjects> objects_;
  std::unique_ptr<FolderWatcher> watcher_;
};

// Review: D13
// No program opens and closes the file, so the kernel reports only that it was modified.
TEST_F(FolderWatcherTest, NamesAFileThatIsTruncatedByItsPath) {
  MakeFolder("archive");
  WriteFile("archive/a.json");
  WatchWith({.folder = bucket(), .prefix = "archive/", .quiet = std::chrono::milliseconds(0)});
  std::filesystem::resize_file(In("archive/a.json"), 1);
  EXPECT_THAT(Get().keys, ElementsAre("archive/a.json"));
  EXPECT_THAT(Get().keys, IsEmpty());
}

TEST_F(FolderWatcherTest, NamesAFileThatIsBeingWrittenWhenItIsClosed) {
  MakeFolder("archive");
  WatchWith({.folder = bucket(), .prefix = "archive/", .quiet = std::chrono::hours(1)});
  std::ofstream file(In("archive/a.json"));
  file << "{" << std::flush;
  EXPECT_THAT(Get().keys, IsEmpty());
  file << "}";
  file.close();
  EXPECT_THAT(Get().keys, ElementsAre("archive/a.json"));
  EXPECT_THAT(Get().keys, IsEmpty());
}

TEST_F(FolderWatcherTest, NamesFilesThatAreWrittenMovedLinkedAndRemoved) {
  MakeFolder("archive");
  WriteFile("archive/before.json");
  Watch();
  EXPECT_THAT(Get().keys, IsEmpty());
  WriteFile("archive/a.json");
  EXPECT_THAT(Get().keys, ElementsAre("archive/a.json"));
  Move("archive/a.json", "archive/b.json");
  EXPECT_THAT(Get().keys, ElementsAre("archive/a.json", "archive/b.json"));
  std::filesystem::create_hard_link(In("archive/b.json"), In("archive/c.json"));
  EXPECT_THAT(Get().keys, ElementsAre("archive/c.json"));
  std::filesystem::remove(In("archive/before.json"));
  const News news = Get();
  EXPECT_THAT(news.keys, ElementsAre("archive/before.json"));
  EXPECT_FALSE(news.all);
}

// A file is reported only when its writer has closed it, because before it may be incomplete.
TEST_F(FolderWatcherTest, NamesAFileOnlyAfterItIsClosed) {
  MakeFolder("archive");
  Watch();
  std::ofstream file(In("archive/a.json"));
  file << "{" << std::flush;
  EXPECT_THAT(Get().keys, IsEmpty());
  file << "}";
  file.close();
  EXPECT_THAT(Get().keys, ElementsAre("archive/a.json"));
}

// rsync and others write a hidden file first and then rename it.
TEST_F(FolderWatcherTest, NamesARenamedFileAndNotItsTemporaryName) {
  MakeFolder("archive");
  Watch();
  WriteFile("archive/.a.json.Xy12Z3");
  EXPECT_THAT(Get().keys, IsEmpty());
  Move("archive/.a.json.Xy12Z3", "archive/a.json");
  EXPECT_THAT(Get().keys, ElementsAre("archive/a.json"));
}

// Names on disk differ from keys: the key 'notes' is the file 'notes%'. A file whose name belongs
// to no key is not an object.
TEST_F(FolderWatcherTest, NamesKeysAndNotPaths) {
  MakeFolder("archive/v1.2%");
  Watch();
  WriteFile("archive/notes%");
  WriteFile("archive/v1.2%/50%25.json");
  WriteFile("archive/notes");
  std::filesystem::create_symlink("notes%", In("archive/link.json"));
  EXPECT_THAT(Get().keys, ElementsAre("archive/notes", "archive/v1.2/50%.json"));
}

// Reading our own puts again would double the load.
TEST_F(FolderWatcherTest, DoesNotNamePutsOfThisProcess) {
  MakeFolder("archive");
  Watch();
  ASSERT_TRUE(objects_->Put({.key = "archive/ours.json", .bytes = "{}"}));
  ASSERT_TRUE(objects_->Put({.key = "elsewhere/ours.json", .bytes = "{}"}));
  EXPECT_THAT(Get().keys, IsEmpty());
  WriteFile("archive/ours.json");
  EXPECT_THAT(Get().keys, ElementsAre("archive/ours.json"));
}

TEST_F(FolderWatcherTest, NamesOnlyKeysWithThePrefix) {
  MakeFolder("archive");
  MakeFolder("archived");
  MakeFolder("drafts/archive");
  Watch();
  WriteFile("a.json");
  WriteFile("archived/a.json");
  WriteFile("drafts/a.json");
  WriteFile("drafts/archive/a.json");
  Move("drafts", "old-drafts");
  const News news = Get();
  EXPECT_THAT(news.keys, IsEmpty());
  EXPECT_FALSE(news.all);
}

TEST_F(FolderWatcherTest, WatchesEverythingWithoutAPrefix) {
  Watch("");
  WriteFile("a.json");
  MakeFolder("b/c");
  WriteFile("b/c/d.json");
  EXPECT_THAT(Get().keys, UnorderedElementsAre("a.json", "b/c/d.json"));
}

// When a new folder is noticed, it may contain files already.
TEST_F(FolderWatcherTest, NamesFilesThatAreAlreadyInANewFolder) {
  Watch();
  MakeFolder("archive/2025/10");
  WriteFile("archive/2025/10/a.json");
  EXPECT_THAT(Get().keys, ElementsAre("archive/2025/10/a.json"));
  WriteFile("archive/2025/10/b.json");
  EXPECT_THAT(Get().keys, ElementsAre("archive/2025/10/b.json"));
}

TEST_F(FolderWatcherTest, NamesTheFilesOfAFolderThatIsMovedIn) {
  MakeFolder("archive");
  MakeFolder("drafts/2025");
  WriteFile("drafts/2025/a.json");
  Watch();
  Move("drafts/2025", "archive/2025");
  EXPECT_THAT(Get().keys, ElementsAre("archive/2025/a.json"));
  WriteFile("archive/2025/b.json");
  EXPECT_THAT(Get().keys, ElementsAre("archive/2025/b.json"));
}

// The kernel does not report the files of a folder that is moved away, so everything is checked.
TEST_F(FolderWatcherTest, AsksToCheckEverythingWhenAFolderIsMovedAway) {
  MakeFolder("archive/2025/10");
  Watch();
  Move("archive/2025", "gone");
  EXPECT_TRUE(Get().all);
  WriteFile("gone/10/a.json");
  const News after = Get();
  EXPECT_THAT(after.keys, IsEmpty());
  EXPECT_FALSE(after.all);
}

TEST_F(FolderWatcherTest, FollowsARenamedFolder) {
  MakeFolder("archive/2025/10");
  Watch();
  Move("archive/2025", "archive/2026");
  EXPECT_TRUE(Get().all);
  WriteFile("archive/2026/10/a.json");
  EXPECT_THAT(Get().keys, ElementsAre("archive/2026/10/a.json"));
}

TEST_F(FolderWatcherTest, WatchesAFolderThatIsCreatedAgain) {
  MakeFolder("archive");
  WriteFile("archive/a.json");
  Watch();
  std::filesystem::remove_all(In("archive"));
  EXPECT_THAT(Get().keys, ElementsAre("archive/a.json"));
  MakeFolder("archive");
  WriteFile("archive/b.json");
  EXPECT_THAT(Get().keys, Contains("archive/b.json"));
}

// The kernel drops events that do not fit into its queue, and reports only the overflow. Folders
// that were created in the meantime are watched from then on.
TEST_F(FolderWatcherTest, AsksToCheckEverythingWhenTheQueueOverflows) {
  int queue = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> queue;
  if (queue > 200'000) GTEST_SKIP() << "this kernel's queue is too long to fill";
  MakeFolder("archive");
  WriteFile("archive/a.json");
  Watch();
  for (int i = 0; i <= queue / 4 + 1; ++i) {
    Move("archive/a.json", "archive/b.json");
    Move("archive/b.json", "archive/a.json");
  }
  MakeFolder("archive/2025");
  EXPECT_TRUE(Get().all);
  WriteFile("archive/2025/c.json");
  const News after = Get();
  EXPECT_THAT(after.keys, ElementsAre("archive/2025/c.json"));
  EXPECT_FALSE(after.all);
}

// If a limit is reached, the existing files are named, and a problem says that later changes are
// not noticed.
TEST_F(FolderWatcherTest, ReportsWhatItCannotWatch) {
  MakeFolder("archive");
  Watch("archive/", 2);
  MakeFolder("archive/2025");
  WriteFile("archive/2025/a.json");
  const News news = Get();
  EXPECT_THAT(news.keys, ElementsAre("archive/2025/a.json"));
  EXPECT_THAT(news.problems, ElementsAre(HasSubstr("archive/2025")));
  EXPECT_THAT(Get().problems, IsEmpty());
}

TEST_F(FolderWatcherTest, DoesNotOpenWhenItCannotWatchEverything) {
  MakeFolder("archive/2025");
  const auto opened =
      FolderWatcher::Open({.folder = bucket(), .prefix = "archive/", .max_folders = 2});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(opened.error().message, HasSubstr("fs.inotify.max_user_watches"));
}

TEST_F(FolderWatcherTest, NamesTheLimitToRaise) {
  EXPECT_THAT(WatchError("f", ENOSPC).message, HasSubstr("fs.inotify.max_user_watches"));
  EXPECT_THAT(WatchError("f", EMFILE).message, HasSubstr("fs.inotify.max_user_instances"));
  const std::string other = WatchError("f", EACCES).message;
  EXPECT_THAT(other, HasSubstr("documents fsck"));
  EXPECT_THAT(other, Not(HasSubstr("inotify")));
}

TEST_F(FolderWatcherTest, EndsAWaitOnStop) {
  Watch();
  std::jthread stopper([this] { watcher_->Stop(); });
  for (int i = 0; i < 2; ++i) {
    const auto news = watcher_->Wait(std::chrono::hours(1));
    ASSERT_TRUE(news.has_value());
    EXPECT_THAT(news->keys, IsEmpty());
  }
}

}  // namespace
}  // namespace tidemark::directory
