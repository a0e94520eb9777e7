// FaultFileSystem is tested with plain RocksDB. Its power cuts must really lose data: otherwise the
// tests of our engine would pass without proving anything.
#include "tests/support/fault_file_system.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/utilities/checkpoint.h>

#include "tests/support/temp_folder.h"

namespace tidemark {
namespace {

using rocksdb::IOStatus;

constexpr uint64_t kSeed = 20'240'601;

class FaultFileSystemTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return data_ + "/" + name; }

  std::unique_ptr<rocksdb::FSWritableFile> Create(const std::string& name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(files_->NewWritableFile(Path(name), {}, &file, nullptr).ok());
    return file;
  }
  static IOStatus Append(rocksdb::FSWritableFile& file, const std::string& text) {
    return file.Append(text, {}, nullptr);
  }
  static IOStatus Sync(rocksdb::FSWritableFile& file) { return file.Sync({}, nullptr); }
  IOStatus SyncFolder() {
    std::unique_ptr<rocksdb::FSDirectory> folder;
    if (IOStatus status = files_->NewDirectory(data_, {}, &folder, nullptr); !status.ok()) {
      return status;
    }
    return folder->Fsync({}, nullptr);
  }
  // The bytes of the real file; nullopt when it does not exist.
  std::optional<std::string> Contents(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void WriteDurably(const std::string& name, const std::string& text) {
    auto file = Create(name);
    EXPECT_TRUE(Append(*file, text).ok() && Sync(*file).ok() && SyncFolder().ok());
  }

  rocksdb::Status OpenDatabase() {
    if (!env_) env_ = rocksdb::NewCompositeEnv(files_);
    rocksdb::Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.write_buffer_size = 64 << 10;
    rocksdb::DB* database = nullptr;
    rocksdb::Status status = rocksdb::DB::Open(options, data_, &database);
    database_.reset(database);
    return status;
  }
  // Writes up to `count` keys from `first` on. Stops at an error. Returns how many were written.
  int WriteKeys(int first, int count, bool sync) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    for (int i = 0; i < count; ++i) {
      const std::string key = std::to_string(1'000'000 + first + i);
      if (!database_->Put(options, key, std::string(100 + i % 50, 'v')).ok()) return i;
    }
    return count;
  }
  // Returns the number of keys. They must be the first ones, without a gap.
  int CountKeys() {
    std::unique_ptr<rocksdb::Iterator> it(database_->NewIterator({}));
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++count) {
      EXPECT_EQ(it->key().ToString(), std::to_string(1'000'000 + count)) << "a gap";
    }
    EXPECT_TRUE(it->status().ok());
    return count;
  }
  void CutAndReopen() {
    files_->PowerCut();
    Reopen();
  }
  void Reopen() {
    database_.reset();
    files_->Disarm();
    files_->Restart();
    const rocksdb::Status status = OpenDatabase();
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  TempFolder folder_;
  SeededRandom random_{kSeed};
  const std::string data_ = folder_.path() + "/data";
  const bool made_ = std::filesystem::create_directory(data_);
  std::shared_ptr<FaultFileSystem> files_ =
      std::make_shared<FaultFileSystem>(folder_.path(), &random_);
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> database_;
};

// ---- Contents ----

TEST_F(FaultFileSystemTest, KeepsWhatWasSyncedAndAPartOfTheRest) {
  std::set<size_t> lengths;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "file" + std::to_string(i);
    auto file = Create(name);
    ASSERT_TRUE(Append(*file, "synced").ok() && Sync(*file).ok() && SyncFolder().ok());
    ASSERT_TRUE(Append(*file, "and lost").ok());
    files_->PowerCut();
    EXPECT_FALSE(Append(*file, "after").ok());
    files_->Restart();
    EXPECT_FALSE(Append(*file, "a handle from before the cut").ok());
    const std::string contents = Contents(name).value_or("");
    EXPECT_TRUE(std::string("syncedand lost").starts_with(contents)) << contents;
    EXPECT_GE(contents.size(), 6u);
    lengths.insert(contents.size());
  }
  // Each of these happened: nothing was kept, all was kept, and a part was kept.
  EXPECT_TRUE(lengths.contains(6) && lengths.contains(14));
  EXPECT_GT(lengths.size(), 4u);
}

// A real disk writes pages in any order, so a later page can be there while an earlier one is not.
TEST_F(FaultFileSystemTest, MayLeaveZeroPagesInWhatWasNotSynced) {
  files_->SetTearing(Tearing::kPages);
  bool torn = false;
  for (int i = 0; i < 20; ++i) {
    auto file = Create("file");
    ASSERT_TRUE(SyncFolder().ok() && Append(*file, "synced").ok() && Sync(*file).ok());
    ASSERT_TRUE(Append(*file, std::string(20'000, 'x')).ok());
    files_->PowerCut();
    files_->Restart();
    const std::string contents = Contents("file").value_or("");
    EXPECT_TRUE(contents.starts_with("synced"));
    torn = torn || contents.find(std::string(1, '\0') + "x") != std::string::npos;
  }
  EXPECT_TRUE(torn);
}

TEST_F(FaultFileSystemTest, SyncsWhatWasWrittenBeforeTheFileWasOpenedAgain) {
  for (int i = 0; i < 20; ++i) {
    {
      auto file = Create("file");
      ASSERT_TRUE(Append(*file, "text").ok() && SyncFolder().ok());
    }
    std::unique_ptr<rocksdb::FSWritableFile> again;
    ASSERT_TRUE(files_->ReopenWritableFile(Path("file"), {}, &again, nullptr).ok());
    ASSERT_TRUE(Sync(*again).ok());
    files_->PowerCut();
    files_->Restart();
    EXPECT_EQ(Contents("file"), "text");
  }
}

// A file system may drop the pages whose write-back failed, and then report success.
TEST_F(FaultFileSystemTest, LosesDataWhoseSyncFailed) {
  bool lost = false;
  for (int i = 0; i < 20; ++i) {
    auto file = Create("file");
    ASSERT_TRUE(SyncFolder().ok() && Append(*file, "bytes").ok());
    files_->Arm({.matches = [](const FileCall& call) { return call.kind == FileCallKind::kSync; }});
    EXPECT_FALSE(Sync(*file).ok());
    EXPECT_TRUE(Sync(*file).ok());
    files_->PowerCut();
    files_->Restart();
    files_->Disarm();
    lost = lost || Contents("file") != "bytes";
  }
  EXPECT_TRUE(lost);
}

// ---- Names ----

TEST_F(FaultFileSystemTest, MayUndoNamesThatTheirFolderHasNotSynced) {
  WriteDurably("current", "old");
  WriteDurably("deleted", "text");
  std::set<std::optional<std::string>> currents, deleteds, createds;
  for (int i = 0; i < 60; ++i) {
    WriteDurably("temporary", "new");
    { auto file = Create("created"); }
    ASSERT_TRUE(files_->RenameFile(Path("temporary"), Path("current"), {}, nullptr).ok());
    ASSERT_TRUE(files_->DeleteFile(Path("deleted"), {}, nullptr).ok());
    files_->PowerCut();
    files_->Restart();
    currents.insert(Contents("current"));
    deleteds.insert(Contents("deleted"));
    createds.insert(Contents("created"));
    WriteDurably("current", "old");
    WriteDurably("deleted", "text");
    std::filesystem::remove(Path("created"));
  }
  EXPECT_EQ(currents, (std::set<std::optional<std::string>>{"old", "new"}));
  EXPECT_EQ(deleteds, (std::set<std::optional<std::string>>{std::nullopt, "text"}));
  EXPECT_EQ(createds, (std::set<std::optional<std::string>>{std::nullopt, ""}));
}

TEST_F(FaultFileSystemTest, KeepsNamesThatTheirFolderHasSynced) {
  for (int i = 0; i < 20; ++i) {
    WriteDurably("current", "old");
    WriteDurably("deleted", "text");
    WriteDurably("temporary", "new");
    ASSERT_TRUE(files_->RenameFile(Path("temporary"), Path("current"), {}, nullptr).ok());
    ASSERT_TRUE(files_->DeleteFile(Path("deleted"), {}, nullptr).ok());
    ASSERT_TRUE(SyncFolder().ok());
    files_->PowerCut();
    files_->Restart();
    EXPECT_EQ(Contents("current"), "new");
    EXPECT_EQ(Contents("deleted"), std::nullopt);
    EXPECT_EQ(Contents("temporary"), std::nullopt);
  }
}

// RocksDB makes a checkpoint in a temporary folder and renames it. Its files are still tracked.
TEST_F(FaultFileSystemTest, FollowsFilesIntoARenamedFolder) {
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(files_->CreateDir(Path("copy.tmp"), {}, nullptr).ok());
    WriteDurably("copy.tmp/file", "text");
    ASSERT_TRUE(files_->RenameFile(Path("copy.tmp"), Path("copy"), {}, nullptr).ok());
    files_->PowerCut();
    files_->Restart();
    EXPECT_FALSE(std::filesystem::exists(Path("copy")) &&
                 std::filesystem::exists(Path("copy.tmp")));
    const auto contents = Contents("copy/file");
    EXPECT_TRUE(!contents || contents == "text");
    std::filesystem::remove_all(Path("copy"));
    std::filesystem::remove_all(Path("copy.tmp"));
  }
}

// ---- Errors ----

TEST_F(FaultFileSystemTest, FailsTheNthMatchingCallOnce) {
  auto file = Create("file");
  files_->Arm({.matches = [](const FileCall& call) { return call.kind == FileCallKind::kWrite; },
               .nth = 3});
  EXPECT_TRUE(Append(*file, "a").ok());
  EXPECT_TRUE(Sync(*file).ok());
  EXPECT_TRUE(Append(*file, "b").ok());
  EXPECT_FALSE(files_->fired());
  EXPECT_TRUE(Append(*file, "c").IsIOError());
  EXPECT_TRUE(files_->fired());
  EXPECT_TRUE(Append(*file, "d").ok());
  EXPECT_EQ(files_->Count(FileCallKind::kWrite), 4u);
}

TEST_F(FaultFileSystemTest, FailsEveryCallFromTheNthOnWhenPersistent) {
  auto file = Create("file");
  files_->Arm({.nth = 2, .persistent = true});
  EXPECT_TRUE(Append(*file, "a").ok());
  EXPECT_FALSE(Append(*file, "b").ok());
  EXPECT_FALSE(Sync(*file).ok());
  EXPECT_FALSE(files_->DeleteFile(Path("file"), {}, nullptr).ok());
  files_->Disarm();
  EXPECT_TRUE(Append(*file, "c").ok());
}

TEST_F(FaultFileSystemTest, RunsOutOfSpaceInTheMiddleOfAWrite) {
  auto file = Create("file");
  files_->SetFreeBytes(6);
  EXPECT_TRUE(Append(*file, "four").ok());
  EXPECT_TRUE(Append(*file, "four").IsNoSpace());
  EXPECT_EQ(Contents("file"), "fourfo");
  uint64_t free_bytes = 1;
  EXPECT_TRUE(files_->GetFreeSpace(data_, {}, &free_bytes, nullptr).ok());
  EXPECT_EQ(free_bytes, 0u);
  files_->SetFreeBytes(std::nullopt);
  EXPECT_TRUE(Append(*file, "ur").ok());
}

TEST_F(FaultFileSystemTest, FlipsOneBitOfAFile) {
  WriteDurably("file", "abc");
  FlipBit(Path("file"), 8);
  EXPECT_EQ(Contents("file"), "acc");
}

// ---- RocksDB on it ----

// This shows that the tests can fail: without sync, a power cut loses acknowledged writes. So a
// store that forgets to sync is noticed.
TEST_F(FaultFileSystemTest, RocksDbWithoutSyncLosesDataInAPowerCut) {
  ASSERT_TRUE(OpenDatabase().ok());
  int lost = 0;
  for (int round = 0; round < 20; ++round) {
    const int before = CountKeys();
    const int acknowledged = before + WriteKeys(before, 20, /*sync=*/false);
    CutAndReopen();
    const int after = CountKeys();
    EXPECT_LE(after, acknowledged);
    lost += acknowledged - after;
  }
  EXPECT_GT(lost, 0);
}

TEST_F(FaultFileSystemTest, RocksDbWithSyncLosesNothingAtAnyBoundary) {
  ASSERT_TRUE(OpenDatabase().ok());
  // Enough data for power cuts during several flushes and a compaction.
  for (int round = 0; round < 60; ++round) {
    const int before = CountKeys();
    files_->Arm({.nth = 1 + random_.Below(500), .effect = FaultEffect::kPowerCut});
    const int acknowledged = before + WriteKeys(before, 500, /*sync=*/true);
    if (files_->powered()) files_->PowerCut();
    Reopen();
    const int after = CountKeys();
    EXPECT_GE(after, acknowledged);
    EXPECT_LE(after, acknowledged + 1) << "more than the write in flight";
  }
}

TEST_F(FaultFileSystemTest, RocksDbSurvivesAPowerCutAtEveryBoundaryOfItsOpening) {
  ASSERT_TRUE(OpenDatabase().ok());
  const int written = WriteKeys(0, 300, /*sync=*/true);
  database_.reset();
  bool opened = false;
  for (uint64_t nth = 1; !opened; ++nth) {
    files_->Arm({.nth = nth, .effect = FaultEffect::kPowerCut});
    opened = OpenDatabase().ok();
    if (opened) files_->PowerCut();
    Reopen();
    ASSERT_EQ(CountKeys(), written) << "cut at change " << nth;
    database_.reset();
    ASSERT_LT(nth, 1'000u);
  }
}

// A backup makes hard links and renames a folder. The copy must be complete.
TEST_F(FaultFileSystemTest, RocksDbMakesACheckpointOnIt) {
  ASSERT_TRUE(OpenDatabase().ok());
  WriteKeys(0, 100, /*sync=*/true);
  rocksdb::Checkpoint* made = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(database_.get(), &made).ok());
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  const rocksdb::Status status = checkpoint->CreateCheckpoint(folder_.path() + "/copy");
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/copy/CURRENT"));
}

}  // namespace
}  // namespace tidemark
