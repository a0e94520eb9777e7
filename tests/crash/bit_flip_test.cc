// The promise under test: damage is reported, never served. One bit of one file of a closed
// folder is turned round, and then the folder either says so or answers as if nothing were.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/crash/machine.h"

namespace tidemark::crash {
namespace {

namespace fs = std::filesystem;
using embedded::EmbeddedTables;

constexpr uint64_t kSeed = 99'001;

// Everything that can be asked.
struct Picture {
  Things things;
  Things index;
  Things single;  // Each looked up alone: filters can be damaged too.
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

  // Flips one random bit of a file that `wanted` likes; the file's name and the place.
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

  // Flips as often as asked; what was served wrongly.
  std::vector<std::string> FlipMany(uint64_t flips, bool (*wanted)(const std::string&),
                                    const Picture& expected) {
    std::vector<std::string> wrong;
    uint64_t reported = 0;
    for (uint64_t i = 0; i < flips; ++i) {
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

bool AnyFile(const std::string&) { return true; }
bool IsLog(const std::string& path) { return path.ends_with(".log"); }

// Spec: 500 flips in any file, detected or harmless, 0 silently wrong answers.
TEST_F(BitFlipTest, InAnyFileOfAClosedFolderIsReportedOrHarmless) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  auto tables = EmbeddedTables::Open(OptionsFor(original_));
  ASSERT_TRUE(tables);
  const Result<Picture> expected = TakePicture(**tables);
  tables = Error{};
  ASSERT_TRUE(expected) << expected.error().message;
  const uint64_t flips = Repetitions("TIDEMARK_FLIPS", 500, 50'000);
  for (const std::string& place : FlipMany(flips, AnyFile, *expected)) {
    ADD_FAILURE() << "wrong answers, and no word about it, after a flip in " << place;
  }
}

// A folder whose process died holds its newest writes in the log alone. Damage before the last
// record is told from a torn end; damage within the last record cannot be.
TEST_F(BitFlipTest, InTheLogOfAKilledProcessIsReportedOrHarmless) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  const std::string live = folder_.path() + "/live";
  fs::copy(original_, live, fs::copy_options::recursive);
  fs::remove_all(original_);
  auto tables = EmbeddedTables::Open(OptionsFor(live));
  ASSERT_TRUE(tables);
  for (uint64_t i = 200; i < 260; ++i) ASSERT_TRUE(Perform(**tables, OperationOf(kSeed, 0, i)));
  const Result<Picture> expected = TakePicture(**tables);
  ASSERT_TRUE(expected) << expected.error().message;
  // Everything was acknowledged, so that the files as they are now are those of a kill.
  fs::copy(live, original_, fs::copy_options::recursive);
  tables = Error{};
  const uint64_t flips = Repetitions("TIDEMARK_FLIPS", 200, 5'000);
  for (const std::string& place : FlipMany(flips, IsLog, *expected)) {
    ADD_FAILURE() << "wrong answers, and no word about it, after a flip in " << place;
  }
}

}  // namespace
}  // namespace tidemark::crash
