#include "tables/embedded/log_tail.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "tests/support/temp_folder.h"

namespace tidemark::embedded {
namespace {

// The log that RocksDB writes for batches of these sizes, as after a kill of the process.
std::string LogOf(const std::vector<size_t>& sizes) {
  TempFolder folder;
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  EXPECT_TRUE(rocksdb::DB::Open(options, folder.path(), &opened).ok());
  const std::unique_ptr<rocksdb::DB> database(opened);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string value(sizes[i], static_cast<char>('a' + i % 26));
    EXPECT_TRUE(database->Put({}, std::to_string(i), value).ok());
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() != ".log") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  return "";
}

LogEnd EndOf(std::string_view log) {
  LogTail tail;
  for (size_t at = 0; at < log.size(); at += LogTail::kBlockBytes) {
    tail.Add(log.substr(at, LogTail::kBlockBytes));
  }
  return tail.end();
}

const std::vector<size_t> kSizes = {10, 3'000, 40'000, 5, 20'000, 90'000, 700, 1, 2'000};

TEST(LogTailTest, AcceptsAWholeLog) {
  EXPECT_EQ(EndOf(""), LogEnd::kWhole);
  EXPECT_EQ(EndOf(LogOf(kSizes)), LogEnd::kWhole);
}

// The log is cut at every position. That is always a torn end.
TEST(LogTailTest, RecognisesATornEndAtEveryPosition) {
  const std::string log = LogOf(kSizes);
  for (size_t length = 0; length < log.size(); length += 61) {
    ASSERT_NE(EndOf(std::string_view(log).substr(0, length)), LogEnd::kDamaged) << length;
  }
}

// Pages of the last batch may reach the disk in any order, so it may have a hole.
TEST(LogTailTest, TreatsAHoleInTheLastBatchAsATornEnd) {
  std::string log = LogOf({10, 20, 100'000});
  std::fill_n(log.begin() + 8'192, 4'096, '\0');
  EXPECT_EQ(EndOf(log), LogEnd::kTorn);
}

// One flipped bit, anywhere in front of the last batch.
TEST(LogTailTest, FindsDamageInFrontOfTheLastBatch) {
  const std::string log = LogOf(kSizes);
  const size_t last_batch = log.size() - 2'100;
  for (size_t at = 0; at < last_batch; at += 97) {
    for (const int bit : {0, 7}) {
      std::string damaged = log;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      ASSERT_NE(EndOf(damaged), LogEnd::kTorn) << at;
    }
  }
}

// A batch is in two blocks, and another batch follows. Reading the first part is not enough: the
// damage is in the second part.
TEST(LogTailTest, FindsDamageInTheLastPartOfABatch) {
  const std::string log = LogOf({10, 40'000, 20});
  const size_t second_part = LogTail::kBlockBytes;
  for (size_t at = second_part; at < log.size() - 100; at += at < second_part + 7 ? 1 : 97) {
    std::string damaged = log;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    ASSERT_EQ(EndOf(damaged), LogEnd::kDamaged) << at;
  }
}

TEST(LogTailTest, FindsDamageInEveryLength) {
  const std::string log = LogOf({100, 200, 300, 400, 500});
  for (size_t at = 4; at < log.size() - 600; ++at) {
    std::string damaged = log;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    ASSERT_EQ(EndOf(damaged), LogEnd::kDamaged) << at;
  }
}

}  // namespace
}  // namespace tidemark::embedded
