#include "tables/embedded/store.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include "tables/embedded/store_folder.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

constexpr Family kRows = Family::kRows;

class StoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<Store> Open() {
    auto opened = Store::Open(folder_.options());
    CHECK(opened.has_value());
    return *std::move(opened);
  }

  // The error of opening.
  static Error OpenError(const Options& options) {
    const auto opened = Store::Open(options);
    return opened.has_value() ? Error{ErrorCode::kInternal, "it opened"} : opened.error();
  }
  Error OpenError() { return OpenError(folder_.options()); }

  static Status Put(Store* store, const std::string& key, const std::string& value) {
    Batch batch = store->NewBatch();
    batch.Put(kRows, key, value);
    return store->Write(&batch, Store::Sync::kYes);
  }

  static std::string Get(const Store& store, const std::string& key) {
    std::string value;
    const auto found = store.Get(kRows, key, &value);
    CHECK(found.has_value());
    return *found ? value : "absent";
  }

  void WriteFile(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_.path());
    std::ofstream(folder_.path() + "/" + name) << text;
  }

  static std::string ReadFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  // The write-ahead log that is not empty.
  std::string LogFile() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() + "/tables")) {
      if (entry.path().extension() == ".log" && entry.file_size() > 0) return entry.path().string();
    }
    return "";
  }

  DataFolder folder_;
};

// ---- Opening ----

// Two processes that write to one folder would destroy it.
TEST_F(StoreTest, RefusesASecondOpening) {
  const auto store = Open();
  const Error error = OpenError();
  EXPECT_EQ(error.code, ErrorCode::kInUse);
  EXPECT_NE(error.message.find("another process has it open"), std::string::npos) << error.message;
  Options reading = folder_.options();
  reading.access = Access::kReadOnly;
  EXPECT_EQ(OpenError(reading).code, ErrorCode::kInUse);
}

// An older version must not write into a folder that it does not understand.
TEST_F(StoreTest, RefusesANewerFormat) {
  { const auto store = Open(); }
  WriteFile("TIDEMARK", "tidemark data folder, format 2\n");
  const Error error = OpenError();
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_NE(error.message.find("format 2"), std::string::npos) << error.message;
}

// Review: D13
TEST_F(StoreTest, RefusesAFormatThatNoVersionWrites) {
  { const auto store = Open(); }
  WriteFile("TIDEMARK", "tidemark data folder, format 0\n");
  EXPECT_EQ(OpenError().code, ErrorCode::kCorrupt);
}

// Other users must not read messages and attempts, also in folders of earlier versions and in
// copies.
// Review: E9
TEST_F(StoreTest, LetsNoOtherUserIntoItsFolders) {
  const auto mode = [](const std::string& folder) {
    return std::filesystem::status(folder).permissions();
  };
  { const auto store = Open(); }
  EXPECT_EQ(mode(folder_.path()), std::filesystem::perms::owner_all);
  std::filesystem::permissions(folder_.path() + "/tables", std::filesystem::perms(0755));
  const auto store = Open();
  EXPECT_EQ(mode(folder_.path() + "/tables"), std::filesystem::perms::owner_all);
  const std::string copy = folder_.path() + "-copy";
  ASSERT_TRUE(store->Checkpoint(copy).has_value());
  EXPECT_EQ(mode(copy), std::filesystem::perms::owner_all);
  EXPECT_EQ(mode(copy + "/tables"), std::filesystem::perms::owner_all);
}

TEST_F(StoreTest, RefusesAMarkerThatSaysNoFormat) {
  { const auto store = Open(); }
  WriteFile("TIDEMARK", "something else");
  EXPECT_EQ(OpenError().code, ErrorCode::kCorrupt);
}

// A wrong --data must not fill somebody's home folder with database files.
TEST_F(StoreTest, RefusesAFolderOfSomethingElse) {
  WriteFile("letter.txt", "dear");
  const Error error = OpenError();
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_NE(error.message.find("letter.txt"), std::string::npos) << error.message;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/tables"));
}

TEST_F(StoreTest, MakesAFolderOnlyWhenAsked) {
  Options options = folder_.options();
  options.create_if_missing = false;
  EXPECT_EQ(OpenError(options).code, ErrorCode::kNotFound);
  options.create_if_missing = true;
  options.access = Access::kReadOnly;
  EXPECT_EQ(OpenError(options).code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(folder_.path()));
  options.folder = "";
  EXPECT_EQ(OpenError(options).code, ErrorCode::kInvalid);
}

TEST_F(StoreTest, ReadsOnlyWhenOpenedSo) {
  { ASSERT_TRUE(Put(Open().get(), "a", "1").has_value()); }
  Options options = folder_.options();
  options.access = Access::kReadOnly;
  auto store = Store::Open(options);
  ASSERT_TRUE(store.has_value());
  EXPECT_EQ(Get(**store, "a"), "1");
  const Status written = Put(store->get(), "a", "2");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::kDenied);
  EXPECT_EQ(Get(**store, "a"), "1");
}

// ---- Damage ----

// A crash can tear only the end of the log. Damage before the end comes from the disk, and
// acknowledged writes follow it. They must not be dropped without an error.
TEST_F(StoreTest, RefusesToOpenALogThatIsDamagedInTheMiddle) {
  {
    const auto store = Open();
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(Put(store.get(), "key" + std::to_string(i), std::string(100, 'v')).has_value());
    }
  }
  const std::string log = LogFile();
  ASSERT_FALSE(log.empty());
  FlipBit(log, 8 * (std::filesystem::file_size(log) / 2));
  const Error error = OpenError();
  EXPECT_EQ(error.code, ErrorCode::kCorrupt) << error.message;
}

// RocksDB takes a length that points past the end of the log for a torn end.
TEST_F(StoreTest, RefusesToOpenALogWithADamagedLength) {
  {
    const auto store = Open();
    for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(Put(store.get(), key, "1").has_value());
  }
  const std::string log = LogFile();
  ASSERT_FALSE(log.empty());
  // A record begins with four bytes of checksum and two bytes of length, low byte first. This flips
  // the highest bit of the length.
  FlipBit(log, 8 * 5 + 7);
  const Error error = OpenError();
  EXPECT_EQ(error.code, ErrorCode::kCorrupt) << error.message;
}

// A write that a crash tore was not acknowledged.
TEST_F(StoreTest, OpensALogWithATornEnd) {
  {
    const auto store = Open();
    ASSERT_TRUE(Put(store.get(), "first", "1").has_value());
  }
  const std::string log = LogFile();
  ASSERT_FALSE(log.empty());
  std::ofstream(log, std::ios::app | std::ios::binary) << ReadFile(log).substr(0, 12);
  EXPECT_EQ(Get(*Open(), "first"), "1");
}

// Pages of the batch that is being written reach the disk in any order. It was not acknowledged,
// so the folder opens without it.
// Review: E2
TEST_F(StoreTest, OpensAfterEveryPowerCutDuringALargeWrite) {
  folder_.files().SetTearing(Tearing::kPages);
  for (int cut = 0; cut < 40; ++cut) {
    SCOPED_TRACE(cut);
    {
      const auto store = Open();
      ASSERT_TRUE(Put(store.get(), "acknowledged", std::to_string(cut)).has_value());
      folder_.files().Arm(
          {.matches = [](const FileCall& call) { return call.kind == FileCallKind::kSync; },
           .effect = FaultEffect::kPowerCut});
      ASSERT_FALSE(Put(store.get(), "large", std::string(100'000, 'v')).has_value());
    }
    folder_.files().Disarm();
    folder_.files().Restart();
    const auto opened = Store::Open(folder_.options());
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_EQ(Get(**opened, "acknowledged"), std::to_string(cut));
  }
}

// A log that was cut, even within its last batch, looks like one that a crash tore. The mark
// beside it says what was acknowledged.
// Review: D14
TEST_F(StoreTest, RefusesALogThatWasCut) {
  {
    const auto store = Open();
    ASSERT_TRUE(Put(store.get(), "first", "1").has_value());
    ASSERT_TRUE(Put(store.get(), "second", std::string(100, 'v')).has_value());
  }
  const std::string log = LogFile();
  const std::string whole = ReadFile(log);
  for (const size_t cut : {size_t{1}, size_t{60}, whole.size()}) {
    std::filesystem::resize_file(log, whole.size() - cut);
    const Error error = OpenError();
    EXPECT_EQ(error.code, ErrorCode::kCorrupt) << error.message;
    EXPECT_NE(error.message.find("acknowledged writes are missing"), std::string::npos);
  }
  // The refusal has changed nothing.
  std::ofstream(log, std::ios::binary) << whole;
  EXPECT_EQ(Get(*Open(), "second"), std::string(100, 'v'));
}

// Review: D14
TEST_F(StoreTest, RefusesAFolderWhoseNewestLogIsMissing) {
  {
    const auto store = Open();
    ASSERT_TRUE(Put(store.get(), "first", "1").has_value());
  }
  std::filesystem::remove(LogFile());
  Options reading = folder_.options();
  reading.access = Access::kReadOnly;
  EXPECT_EQ(OpenError(reading).code, ErrorCode::kCorrupt);
  EXPECT_EQ(OpenError().code, ErrorCode::kCorrupt);
  // An operator who accepts the loss deletes the mark.
  std::filesystem::remove(folder_.path() + "/tables/SYNCED");
  EXPECT_EQ(Get(*Open(), "first"), "absent");
}

// The mark is not part of the data: the folder opens without it and with a damaged one.
// Review: D14
TEST_F(StoreTest, OpensWithADamagedMark) {
  { ASSERT_TRUE(Put(Open().get(), "first", "1").has_value()); }
  FlipBit(folder_.path() + "/tables/SYNCED", 8 * 30);
  EXPECT_EQ(Get(*Open(), "first"), "1");
  std::filesystem::resize_file(folder_.path() + "/tables/SYNCED", 0);
  EXPECT_EQ(Get(*Open(), "first"), "1");
}

// ---- Writing ----

TEST_F(StoreTest, SyncedWritesSurviveAPowerCut) {
  {
    const auto store = Open();
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(Put(store.get(), "key" + std::to_string(i), "1").has_value());
    }
    folder_.files().PowerCut();
  }
  folder_.files().Restart();
  const auto store = Open();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Get(*store, "key" + std::to_string(i)), "1") << i;
}

// After a failed sync it is not known what is on disk, so no further write is accepted.
TEST_F(StoreTest, WritesNothingMoreAfterTheDiskFailed) {
  const auto store = Open();
  ASSERT_TRUE(Put(store.get(), "a", "1").has_value());
  folder_.files().Arm(
      {.matches = [](const FileCall& call) { return call.kind == FileCallKind::kSync; }});
  const Status failed = Put(store.get(), "a", "2");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::kUnknown);
  const Status after = Put(store.get(), "b", "1");
  ASSERT_FALSE(after.has_value());
  EXPECT_EQ(after.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(after.error().message.find("the disk failed"), std::string::npos);
  EXPECT_EQ(Get(*store, "b"), "absent");
}

// Writes are refused before the disk is full, and accepted again when there is space.
TEST_F(StoreTest, RefusesWritesWhenOnlyTheReserveIsLeft) {
  const auto store = Open();
  EXPECT_TRUE(store->HasSpace().has_value());
  folder_.files().SetFreeBytes(folder_.options().disk_reserve_bytes - 1);
  store->CheckFreeSpace();
  const Status refused = store->HasSpace();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("Free some space"), std::string::npos);
  folder_.files().SetFreeBytes(folder_.options().disk_reserve_bytes);
  store->CheckFreeSpace();
  EXPECT_TRUE(store->HasSpace().has_value());
}

// ---- Reading ----

TEST_F(StoreTest, ASnapshotStaysAsItWas) {
  const auto store = Open();
  ASSERT_TRUE(Put(store.get(), "a", "1").has_value());
  const Snapshot snapshot = store->TakeSnapshot();
  ASSERT_TRUE(Put(store.get(), "a", "2").has_value());
  std::string value;
  ASSERT_TRUE(*store->Get(kRows, "a", &value, snapshot));
  EXPECT_EQ(value, "1");
  Cursor cursor = store->Iterate(kRows, {"a", "b"}, snapshot);
  cursor.SeekToFirst();
  ASSERT_TRUE(cursor.valid());
  EXPECT_EQ(cursor.value(), "1");
}

TEST_F(StoreTest, ACursorStaysInItsRange) {
  const auto store = Open();
  for (const char* key : {"a", "b", "c", "d"}) ASSERT_TRUE(Put(store.get(), key, key).has_value());
  Cursor cursor = store->Iterate(kRows, {"b", "d"});
  std::string forward;
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) forward += cursor.key();
  EXPECT_EQ(forward, "bc");
  std::string backward;
  for (cursor.SeekToLast(); cursor.valid(); cursor.Prev()) backward += cursor.key();
  EXPECT_EQ(backward, "cb");
  cursor.Seek("bb");
  EXPECT_EQ(cursor.key(), "c");
  cursor.SeekForPrev("bb");
  EXPECT_EQ(cursor.key(), "b");
}

TEST_F(StoreTest, ABatchIsOneChange) {
  const auto store = Open();
  ASSERT_TRUE(Put(store.get(), "a1", "1").has_value());
  Batch batch = store->NewBatch();
  EXPECT_TRUE(batch.empty());
  batch.DeleteRange(kRows, PrefixRange("a"));
  batch.Put(kRows, "b", "1");
  batch.Put(Family::kStreams, "b", "2");
  EXPECT_FALSE(batch.empty());
  EXPECT_EQ(Get(*store, "a1"), "1");
  ASSERT_TRUE(store->Write(&batch, Store::Sync::kYes).has_value());
  EXPECT_EQ(Get(*store, "a1"), "absent");
  EXPECT_EQ(Get(*store, "b"), "1");
  std::string value;
  ASSERT_TRUE(*store->Get(Family::kStreams, "b", &value));
  EXPECT_EQ(value, "2");
}

TEST(PrefixRangeTest, EndsAfterAllKeysWithThePrefix) {
  EXPECT_EQ(PrefixRange("ab").high, "ac");
  EXPECT_EQ(PrefixRange("a\xff").high, "b");
}

// ---- Several logs ----

// Three logs, as RocksDB has them before it has written their memtables into files.
class LogsTest : public StoreTest {
 protected:
  LogsTest() {
    CHECK(Put(Open().get(), "before", "x").has_value());
    const auto store = Open();
    Write(store.get(), "first");
    whole_ = std::filesystem::file_size(LogFile());
    Write(store.get(), "lost");
    for (int i = 0; i < 20; ++i) Write(store.get(), "large" + std::to_string(i), 1 << 20);
    Write(store.get(), "last");
    copy_.folder = folder_.path() + "-copy";
    copy_.durability = Durability::kEverySecond;
    std::filesystem::copy(folder_.path(), copy_.folder, kRecursive);
    std::filesystem::copy(folder_.path(), pristine_, kRecursive);
  }
  void CopyAgain() const {
    std::filesystem::remove_all(copy_.folder);
    std::filesystem::copy(pristine_, copy_.folder, kRecursive);
  }
  // In the batch of "lost", behind that of "first".
  void MakeAHoleInTheFirstLog(char filling) const { MakeAHole(whole_, filling); }
  void MakeAHole(uint64_t at, char filling) const {
    std::fstream log(FilesOfCopy(".log").at(0), std::ios::binary | std::ios::in | std::ios::out);
    log.seekp(static_cast<std::streamoff>(at));
    log << std::string(10, filling);
  }

  static void Write(Store* store, const std::string& key, size_t bytes = 1) {
    Batch batch = store->NewBatch();
    batch.Put(kRows, key, std::string(bytes, 'x'));
    CHECK(store->Write(&batch, Store::Sync::kNo).has_value());
  }
  std::vector<std::string> FilesOfCopy(const std::string& ending) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(copy_.folder + "/tables")) {
      if (entry.path().string().ends_with(ending)) found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  // The first log ends with a whole batch, but not with its last one. The later logs are whole.
  void LoseTheEndOfTheFirstLog() const {
    const std::vector<std::string> logs = FilesOfCopy(".log");
    ASSERT_EQ(logs.size(), 3u);
    std::filesystem::resize_file(logs[0], whole_);
  }

  static constexpr auto kRecursive = std::filesystem::copy_options::recursive;
  const std::string pristine_ = folder_.path() + "-pristine";
  uint64_t whole_ = 0;
  Options copy_;
};

// In the every-second mode a power cut may take back the end of a log and leave the next one. What
// is left must be the state at one moment, without the later changes.
// Review: E7
TEST_F(LogsTest, EndWhereChangesAreMissing) {
  LoseTheEndOfTheFirstLog();
  {
    const auto store = Store::Open(copy_);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    EXPECT_EQ(Get(**store, "first"), "x");
    EXPECT_EQ(Get(**store, "lost"), "absent");
    EXPECT_EQ(Get(**store, "large19"), "absent");
    EXPECT_EQ(Get(**store, "last"), "absent");
    ASSERT_TRUE(Put(store->get(), "new", "1").has_value());
  }
  EXPECT_EQ(FilesOfCopy(".log.unread").size(), 2u);
  const auto again = Store::Open(copy_);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(Get(**again, "first"), "x");
  EXPECT_EQ(Get(**again, "new"), "1");
}

// The same for a hole inside of a log: pages reach the disk in any order. What follows the hole is
// whole, and must not be taken without what is missing.
TEST_F(LogsTest, AreCutAtAHole) {
  for (const bool is_zeros : {true, false}) {
    SCOPED_TRACE(is_zeros);
    MakeAHoleInTheFirstLog(is_zeros ? '\0' : 'x');
    {
      const auto store = Store::Open(copy_);
      ASSERT_TRUE(store.has_value()) << store.error().message;
      EXPECT_EQ(Get(**store, "before"), "x");
      EXPECT_EQ(Get(**store, "first"), "x");
      EXPECT_EQ(Get(**store, "lost"), "absent");
      EXPECT_EQ(Get(**store, "large0"), "absent");
      EXPECT_EQ(Get(**store, "last"), "absent");
      ASSERT_TRUE(Put(store->get(), "new", "1").has_value());
    }
    // Nothing is thrown away: the log with the hole is kept whole, and so are the later ones.
    const std::vector<std::string> unread = FilesOfCopy(".log.unread");
    ASSERT_EQ(unread.size(), 3u);
    EXPECT_GT(std::filesystem::file_size(unread[0]), uint64_t{1} << 20);
    EXPECT_EQ(Get(**Store::Open(copy_), "new"), "1");
    CopyAgain();
  }
}

// Then the log does not show how far the folder reaches. What was promised is in table files.
TEST_F(LogsTest, AreCutAtAHoleAtTheirFront) {
  MakeAHole(0, '\0');
  {
    const auto store = Store::Open(copy_);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    EXPECT_EQ(Get(**store, "before"), "x");
    EXPECT_EQ(Get(**store, "first"), "absent");
    EXPECT_EQ(Get(**store, "last"), "absent");
  }
  CopyAgain();
  MakeAHole(0, '\0');
  std::filesystem::remove(copy_.folder + "/tables/FLUSHED");
  EXPECT_EQ(OpenError(copy_).code, ErrorCode::kCorrupt);
}

// What was promised is in the hole, or nobody knows what was promised.
TEST_F(LogsTest, AreRefusedWhenSyncedWritesAreInTheHole) {
  const auto expect_refusal = [&] {
    const Error error = OpenError(copy_);
    EXPECT_EQ(error.code, ErrorCode::kCorrupt);
    EXPECT_NE(error.message.find("is damaged in front of"), std::string::npos) << error.message;
    EXPECT_TRUE(FilesOfCopy(".log.unread").empty());
  };
  MakeAHoleInTheFirstLog('\0');
  const std::string mark = copy_.folder + "/tables/SYNCED";
  std::ofstream(mark) << "00000000000000000003 00000000000000000003\n";
  expect_refusal();
  std::filesystem::remove(mark);
  expect_refusal();
  CopyAgain();
  MakeAHoleInTheFirstLog('\0');
  copy_.durability = Durability::kSynced;
  expect_refusal();
}

// A reader must not change the folder, and must not read past the hole either.
TEST_F(LogsTest, WithAHoleAreNotOpenedForReading) {
  MakeAHoleInTheFirstLog('\0');
  copy_.access = Access::kReadOnly;
  const Error error = OpenError(copy_);
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_NE(error.message.find("Open the folder for writing once"), std::string::npos)
      << error.message;
  EXPECT_TRUE(FilesOfCopy(".log.unread").empty());
}

// With synced writes, somebody was told that the missing changes are on disk.
// Review: E7
TEST_F(LogsTest, AreRefusedWithAGapWhenWritesAreSynced) {
  LoseTheEndOfTheFirstLog();
  copy_.durability = Durability::kSynced;
  const Error error = OpenError(copy_);
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_NE(error.message.find("are missing in front of the log"), std::string::npos)
      << error.message;
  EXPECT_TRUE(FilesOfCopy(".log.unread").empty());
}

// A crash may leave a log that is not needed any more, without the ones after it.
TEST_F(LogsTest, MayHaveAGapBehindOneThatIsNotNeeded) {
  const std::string old = FilesOfCopy(".log")[0];
  const std::string kept = ReadFile(old);
  copy_.durability = Durability::kSynced;
  ASSERT_TRUE(Put(Store::Open(copy_)->get(), "new", "1").has_value());
  ASSERT_FALSE(std::filesystem::exists(old));
  std::ofstream(old, std::ios::binary) << kept.substr(0, whole_);
  const auto store = Store::Open(copy_);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_EQ(Get(**store, "last"), "x");
  EXPECT_EQ(Get(**store, "new"), "1");
}

// ---- Copying ----

TEST_F(StoreTest, ACopyIsAFolderOfItsOwn) {
  const std::string copy = folder_.path() + "-copy";
  const auto store = Open();
  ASSERT_TRUE(Put(store.get(), "a", "1").has_value());
  ASSERT_TRUE(store->Checkpoint(copy).has_value());
  ASSERT_TRUE(Put(store.get(), "a", "2").has_value());
  Options options = folder_.options();
  options.folder = copy;
  const auto copied = Store::Open(options);
  ASSERT_TRUE(copied.has_value());
  EXPECT_EQ(Get(**copied, "a"), "1");
  EXPECT_FALSE(store->Checkpoint(copy).has_value());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/backup.making"));
}

// A process that is killed during a backup leaves links, which keep old files on the disk.
TEST_F(StoreTest, RemovesTheLinksOfAKilledBackup) {
  { const auto store = Open(); }
  for (const char* name : {"backup.making", "backup.making.tmp"}) {
    std::filesystem::create_directories(folder_.path() + "/" + name);
    WriteFile(std::string(name) + "/000012.sst", "old");
  }
  { const auto store = Open(); }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/backup.making"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/backup.making.tmp"));
}

// The disk of the copies: nothing can be moved to it from the disk of the store.
class OtherDisk final : public rocksdb::FileSystemWrapper {
 public:
  OtherDisk(std::shared_ptr<rocksdb::FileSystem> target, std::string folder)
      : FileSystemWrapper(std::move(target)), folder_(std::move(folder)) {}
  const char* Name() const override { return "OtherDisk"; }

  std::function<void()> on_copy = [] {};
  uint64_t free_bytes = uint64_t{1} << 40;

  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (IsOn(to) && !IsOn(from)) return rocksdb::IOStatus::IOError("Invalid cross-device link");
    return FileSystemWrapper::RenameFile(from, to, options, debug);
  }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    if (path.starts_with(folder_ + "/tables/")) std::exchange(on_copy, [] {})();
    return FileSystemWrapper::NewWritableFile(path, options, result, debug);
  }
  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options,
                                 uint64_t* bytes, rocksdb::IODebugContext* debug) override {
    if (!IsOn(path)) return FileSystemWrapper::GetFreeSpace(path, options, bytes, debug);
    *bytes = free_bytes;
    return rocksdb::IOStatus::OK();
  }

 private:
  bool IsOn(const std::string& path) const { return path.starts_with(folder_); }

  const std::string folder_;
};

class OtherDiskTest : public StoreTest {
 protected:
  OtherDiskTest() {
    Options options = folder_.options();
    disk_ = std::make_shared<OtherDisk>(options.file_system, copy_);
    options.file_system = disk_;
    store_ = std::move(Store::Open(options)).value();
    CHECK(Put(store_.get(), "a", "1").has_value());
  }
  bool HasLinks() const { return std::filesystem::exists(folder_.path() + "/backup.making"); }

  const std::string copy_ = folder_.path() + "-copy";
  std::shared_ptr<OtherDisk> disk_;
  std::unique_ptr<Store> store_;
};

// Copying takes long. A store that stopped because of a full disk must not wait for it.
TEST_F(OtherDiskTest, TheStoreCanBeOpenedAgainWhileItIsCopied) {
  std::optional<Status> opened;
  disk_->on_copy = [&] {
    opened = store_->Reopen([] {});
    store_->EndReopening(*opened);
  };
  const Status copied = store_->Checkpoint(copy_);
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  ASSERT_TRUE(opened.has_value());
  EXPECT_TRUE(opened->has_value()) << opened->error().message;
  EXPECT_TRUE(Put(store_.get(), "a", "2").has_value());
  EXPECT_FALSE(HasLinks());
  Options options = folder_.options();
  options.folder = copy_;
  EXPECT_EQ(Get(**Store::Open(options), "a"), "1");
}

TEST_F(OtherDiskTest, ACopyThatDoesNotFitIsNotBegun) {
  bool is_begun = false;
  disk_->on_copy = [&] { is_begun = true; };
  disk_->free_bytes = kFreeBytesAfterCopy;
  const Status copied = store_->Checkpoint(copy_);
  ASSERT_FALSE(copied.has_value());
  EXPECT_EQ(copied.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(copied.error().message.find("free some space"), std::string::npos)
      << copied.error().message;
  EXPECT_FALSE(is_begun);
  EXPECT_FALSE(HasLinks());
}

TEST_F(OtherDiskTest, ACopyEndsWhenItIsToldToStop) {
  std::atomic<bool> stop = false;
  disk_->on_copy = [&] { stop = true; };
  const Status copied = store_->Checkpoint(copy_, &stop);
  ASSERT_FALSE(copied.has_value());
  EXPECT_EQ(copied.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(HasLinks());
  EXPECT_FALSE(std::filesystem::exists(copy_ + "/TIDEMARK"));
}

// ---- Opening again ----

// What was kept in memory may be of another state than the one that is opened.
TEST_F(StoreTest, ClearsCachesBeforeReadersAreLetInAgain) {
  const auto store = Open();
  ASSERT_TRUE(Put(store.get(), "a", "1").has_value());
  bool could_read = true;
  const Status opened = store->Reopen([&] {
    std::string value;
    could_read = store->Get(kRows, "a", &value).has_value();
  });
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  store->EndReopening(opened);
  EXPECT_FALSE(could_read);
  EXPECT_EQ(Get(*store, "a"), "1");
}

}  // namespace
}  // namespace tidemark::embedded
