// Tests that damage is reported and never served. One bit of one file of a closed folder is
// flipped. Then the folder must report the damage or give the right answers.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/crash/machine.h"
#include "tests/support/manual_time.h"

namespace tidemark::crash {
namespace {

namespace fs = std::filesystem;
using embedded::EmbeddedTables;

constexpr uint64_t kSeed = 99'001;
constexpr size_t kMaxWrong = 3;  // A longer list would not help.

// The answers to all kinds of reads.
struct Picture {
  Things things;
  Things index;
  Things single;  // Each item read by its key: filters may be damaged too.
  std::vector<tables::StreamRecord> stream;
  std::vector<std::string> tables;
  friend bool operator==(const Picture&, const Picture&) = default;
};

Result<Picture> TakePicture(EmbeddedTables& tables) {
  Picture picture;
  picture.things = TRY(ReadThings(tables));
  picture.index = TRY(ReadIndex(tables));
  picture.stream = TRY(ReadStream(tables, ""));
  picture.tables = TRY(tables.ListTables({})).tables;
  for (int i = 0; i < 24; ++i) {
    const std::string id = "w0-" + std::to_string(i);
    if (auto thing = TRY(tables.Get({.table = kTable, .key = {{"id", id}}}))) {
      picture.single.emplace(id, *thing);
    }
  }
  return picture;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.file_size() > 0) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class BitFlipTest : public ::testing::Test {
 protected:
  BitFlipTest() { KeepTemporaryFilesInMemory(); }

  embedded::Options OptionsFor(const std::string& folder) {
    return {.folder = folder,
            .background = false,
            .block_cache_bytes = 1 << 20,
            .disk_reserve_bytes = 0,
            .clock = &clock_,
            .random = &random_};
  }

  // A folder with files of several ages.
  void Fill() {
    Ledger ledger(kSeed, 1);
    for (int round = 0; round < 5; ++round) {
      auto tables = EmbeddedTables::Open(OptionsFor(original_));
      ASSERT_TRUE(tables) << tables.error().message;
      ASSERT_TRUE(EnsureTable(**tables));
      ASSERT_EQ(Work(**tables, &ledger, 0, 40), std::nullopt);
    }
  }

  std::string FreshCopy() {
    const std::string copy = folder_.path() + "/copy";
    fs::remove_all(copy);
    fs::copy(original_, copy, fs::copy_options::recursive);
    return copy;
  }

  // Flips one random bit of a file that `wanted` accepts. Returns the file's name and the position.
  std::string FlipOne(const std::string& copy, bool (*wanted)(const std::string&)) {
    std::vector<std::string> files = FilesIn(copy);
    std::erase_if(files, [&](const std::string& path) { return !wanted(path); });
    if (files.empty()) return "no such file";
    const std::string& file = files[random_.Below(files.size())];
    const uint64_t bit = random_.Below(fs::file_size(file) * 8);
    FlipBit(file, bit);
    return fs::path(file).filename().string() + " bit " + std::to_string(bit) + " of " +
           std::to_string(fs::file_size(file) * 8);
  }

  enum class Verdict { kHarmless, kReported, kWrong };
  Verdict Judge(const std::string& copy, const Picture& expected) {
    auto tables = EmbeddedTables::Open(OptionsFor(copy));
    if (!tables) {
      EXPECT_FALSE(tables.error().message.empty());
      return Verdict::kReported;
    }
    const Result<Picture> found = TakePicture(**tables);
    if (!found) return Verdict::kReported;
    return *found == expected ? Verdict::kHarmless : Verdict::kWrong;
  }

  // Flips this often, or until a few wrong answers were found. Returns these.
  std::vector<std::string> FlipMany(uint64_t flips, bool (*wanted)(const std::string&),
                                    const Picture& expected) {
    std::vector<std::string> wrong;
    uint64_t reported = 0;
    for (uint64_t i = 0; i < flips && wrong.size() < kMaxWrong; ++i) {
      const std::string copy = FreshCopy();
      const std::string where = FlipOne(copy, wanted);
      const Verdict verdict = Judge(copy, expected);
      if (verdict == Verdict::kWrong) wrong.push_back(where);
      reported += verdict == Verdict::kReported ? 1 : 0;
    }
    RecordProperty("reported", static_cast<int>(reported));
    EXPECT_GT(reported, 0u) << "no flip was noticed: are these the files that are read?";
    return wrong;
  }

  TempFolder folder_;
  const std::string original_ = folder_.path() + "/original";
  SeededRandom random_{kSeed};
  ManualClock clock_;
};

// Where in a RocksDB log each physical record begins: blocks of 32 KB, each record with a head
// of 4 bytes of checksum, 2 of length and 1 of type, and no head across the end of a block.
std::vector<uint64_t> RecordsOfLog(const std::string& path) {
  constexpr uint64_t kBlock = 32'768;
  constexpr uint64_t kHead = 7;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<uint64_t> records;
  for (uint64_t at = 0; at + kHead <= bytes.size();) {
    if (kBlock - at % kBlock < kHead) {
      at += kBlock - at % kBlock;
      continue;
    }
    records.push_back(at);
    const auto low = static_cast<uint8_t>(bytes[at + 4]);
    const auto high = static_cast<uint8_t>(bytes[at + 5]);
    at += kHead + low + (uint64_t{high} << 8);
  }
  return records;
}

bool AnyFile(const std::string&) { return true; }
bool IsLog(const std::string& path) { return path.ends_with(".log"); }

// Each flip is made in a new copy, so that each is tested alone.
TEST_F(BitFlipTest, InAnyFileOfAClosedFolderIsReportedOrHarmless) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  auto tables = EmbeddedTables::Open(OptionsFor(original_));
  ASSERT_TRUE(tables);
  const Result<Picture> expected = TakePicture(**tables);
  tables = Error{};
  ASSERT_TRUE(expected) << expected.error().message;
  const uint64_t flips = Repetitions("TIDEMARK_FLIPS", {.usual = 500, .release = 50'000});
  for (const std::string& place : FlipMany(flips, AnyFile, *expected)) {
    ADD_FAILURE() << "wrong answers, and no word about it, after a flip in " << place;
  }
}

// A folder whose process was killed: the newest writes are only in the log.
class KilledFolderTest : public BitFlipTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Fill());
    const std::string live = folder_.path() + "/live";
    fs::rename(original_, live);
    auto tables = EmbeddedTables::Open(OptionsFor(live));
    ASSERT_TRUE(tables) << tables.error().message;
    for (uint64_t i = 200; i < 260; ++i) ASSERT_TRUE(Perform(**tables, OperationOf(kSeed, 0, i)));
    Result<Picture> picture = TakePicture(**tables);
    ASSERT_TRUE(picture) << picture.error().message;
    expected_ = std::move(*picture);
    // All writes were acknowledged. A copy of the files now is what a kill would leave.
    CopyWhileInUse(live, original_);
  }

  // RocksDB deletes files that it no longer needs on a thread of its own, so that a file may be
  // gone between its listing and its copying. Such a file belongs to no state after the kill.
  static void CopyWhileInUse(const fs::path& from, const fs::path& to) {
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
      const fs::path target = to / fs::relative(entry.path(), from);
      std::error_code failed;
      if (entry.is_directory(failed)) {
        fs::create_directories(target);
      } else if (fs::create_directories(target.parent_path());
                 !fs::copy_file(entry.path(), target, failed)) {
        ASSERT_EQ(failed, std::errc::no_such_file_or_directory) << entry.path();
      }
    }
  }

  // The log that holds the newest writes.
  std::string NewestLog(const std::string& folder) {
    std::vector<std::string> files = FilesIn(folder);
    std::erase_if(files, [](const std::string& path) { return !IsLog(path); });
    return files.empty() ? "" : files.back();
  }

  Picture expected_;
};

TEST_F(KilledFolderTest, FlipInTheLogIsReportedOrHarmless) {
  const uint64_t flips = Repetitions("TIDEMARK_FLIPS", {.usual = 200, .release = 5'000});
  for (const std::string& place : FlipMany(flips, IsLog, expected_)) {
    ADD_FAILURE() << "wrong answers, and no word about it, after a flip in " << place;
  }
}

// The head of a record says how long it is. One that claims to reach beyond the end of the file
// looks like a torn end, though acknowledged records follow it.
TEST_F(KilledFolderTest, FlipInALengthBeforeTheLastRecordIsReportedOrHarmless) {
  const std::vector<uint64_t> records = RecordsOfLog(NewestLog(original_));
  ASSERT_GT(records.size(), 20u);
  uint64_t wrong = 0;
  const size_t last = records.size() - 1;
  for (size_t i = last - 12; i < last; ++i) {
    for (const uint64_t bit : {0, 5, 9, 12, 15}) {
      const std::string copy = FreshCopy();
      FlipBit(NewestLog(copy), (records[i] + 4) * 8 + bit);
      wrong += Judge(copy, expected_) == Verdict::kWrong ? 1 : 0;
    }
  }
  EXPECT_EQ(wrong, 0u) << "of 60 damaged lengths were taken for a torn end";
}

}  // namespace
}  // namespace tidemark::crash
