// EmbeddedTables keeps tables in a folder of this machine, on RocksDB, inside the process.
//
//   auto tables = TRY(EmbeddedTables::Open({.folder = "data"}));
//   TRY(tables->Put({.table = "users", .item = {{"id", "a"}}}));
//
// Only one process at a time may have a folder open. A success is returned after the write-ahead
// log is on disk; many requests share one sync. Reads see only committed data. When the disk fails,
// all writes fail with an error that says so, until the folder is opened again. Damaged data is
// reported and never returned.
//
// Housekeeping (sweeping expired items, filling new indexes, trimming streams and tokens)
// runs on a thread of its own when Options::background is set, and otherwise when Maintain is
// called. The only answers that depend on when it runs are those that show swept items.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "tables/tables.h"

namespace rocksdb {
class FileSystem;
}

namespace tidemark {
class Logger;
class Metrics;
}  // namespace tidemark

namespace tidemark::embedded {

enum class Durability {
  kSynced,       // A success is on disk.
  kEverySecond,  // A crash of the machine may take back the last second of successes.
};

enum class Access {
  kReadWrite,
  kReadOnly,  // For a folder that no process has open; every write is refused.
};

struct Options {
  std::string folder;
  Durability durability = Durability::kSynced;
  Access access = Access::kReadWrite;
  bool create_if_missing = true;
  bool background = true;
  // Part of the ARNs; it may be another one at the next opening.
  std::string region = "local";
  // Memory for blocks of files; nullopt means a quarter of the memory that the process may use.
  std::optional<size_t> block_cache_bytes = std::nullopt;
  // Memory for items that are written often, and for small partitions that are read often.
  size_t working_set_bytes = 64 << 20;
  size_t partition_cache_bytes = 64 << 20;
  // Writes are refused while the disk has less free space than this, so that a full disk cannot
  // tear a write.
  uint64_t disk_reserve_bytes = 64 << 20;
  // The number of threads for submitted reads, which start with the first such read, and how many
  // of these reads may wait. Further reads are refused with kUnavailable.
  size_t reading_threads = 8;
  // The same for submitted scans, batches, transactions and pages of streams. They have threads of
  // their own, so that a small read does not wait for a large one. There are few, because they
  // bound the memory: a reply is in memory as items and as JSON while it is made, and may take
  // 100 MB and more when its values are tiny.
  size_t long_reading_threads = 4;
  size_t max_waiting_reads = 4'096;
  // Parts of a Runtime. Null means the system's clock and randomness, no log, and metrics that are
  // not published. Everything that is given must outlive the tables.
  const Clock* clock = nullptr;
  Random* random = nullptr;
  const Logger* logger = nullptr;
  Metrics* metrics = nullptr;
  std::shared_ptr<rocksdb::FileSystem> file_system = nullptr;
};

// A flag that another thread sets to interrupt long work. The work checks it again and again, and
// then fails with kCancelled. May be null.
using StopFlag = const std::atomic<bool>*;

struct VerifyReport {
  uint64_t tables = 0;
  uint64_t items = 0;
  uint64_t index_rows = 0;
  uint64_t stream_records = 0;
  std::vector<std::string> problems;  // Empty: every row has the right key and content.
};

// How RocksDB has arranged the rows in files. A read looks into each sorted run.
struct FileShape {
  uint64_t sorted_runs = 0;
  bool settled = true;  // Nothing is being written into files or compacted.
};

class EmbeddedTables final : public tables::Tables {
 public:
  // kNotFound when the folder is missing and may not be created, kInUse when another process has it
  // open, kDenied when it may not be written, kCorrupt when it is damaged, kInvalid when it was
  // written by a newer version or holds something else.
  static Result<std::unique_ptr<EmbeddedTables>> Open(Options options);
  // Waits for running operations. Afterwards everything is on disk.
  ~EmbeddedTables() override;

  Result<tables::TableDescription> CreateTable(const tables::CreateTableRequest& request) override;
  Result<tables::TableDescription> DescribeTable(const std::string& table) override;
  Result<tables::TableDescription> UpdateTable(const tables::UpdateTableRequest& request) override;
  Result<tables::TableDescription> DeleteTable(const std::string& table) override;
  Status Writable() override;
  Result<tables::ListTablesReply> ListTables(const tables::ListTablesRequest& request) override;
  Status SetTimeToLive(const tables::SetTimeToLiveRequest& request) override;
  Status Tag(const tables::TagRequest& request) override;
  Result<tables::Tags> ListTags(const std::string& table) override;

  Result<std::optional<item::Item>> Get(const tables::GetRequest& request) override;
  Result<tables::WriteReply> Put(const tables::PutRequest& request) override;
  Result<tables::WriteReply> Update(const tables::UpdateRequest& request) override;
  Result<tables::WriteReply> Delete(const tables::DeleteRequest& request) override;
  Result<tables::Page> Query(const tables::QueryRequest& request) override;
  Result<tables::Page> Scan(const tables::ScanRequest& request) override;
  Result<tables::BatchGetReply> BatchGet(const tables::BatchGetRequest& request) override;
  Result<tables::BatchWriteReply> BatchWrite(const tables::BatchWriteRequest& request) override;
  Result<tables::TransactGetReply> TransactGet(const tables::TransactGetRequest& request) override;
  Result<tables::TransactWriteReply> TransactWrite(
      const tables::TransactWriteRequest& request) override;
  bool SubmitsWithoutBlocking() const override { return true; }
  Later<std::optional<item::Item>> Submit(tables::GetRequest request,
                                          std::optional<Deadline> deadline) override;
  Later<tables::Page> Submit(tables::QueryRequest request,
                             std::optional<Deadline> deadline) override;
  Later<tables::Page> Submit(tables::ScanRequest request,
                             std::optional<Deadline> deadline) override;
  Later<tables::BatchGetReply> Submit(tables::BatchGetRequest request,
                                      std::optional<Deadline> deadline) override;
  Later<tables::TransactGetReply> Submit(tables::TransactGetRequest request,
                                         std::optional<Deadline> deadline) override;
  Later<tables::RecordsReply> Submit(tables::RecordsRequest request,
                                     std::optional<Deadline> deadline) override;
  Later<tables::WriteReply> Submit(WriteRequest request, std::optional<Deadline> deadline) override;
  Later<tables::BatchWriteReply> Submit(tables::BatchWriteRequest request,
                                        std::optional<Deadline> deadline) override;
  Later<tables::TransactWriteReply> Submit(tables::TransactWriteRequest request,
                                           std::optional<Deadline> deadline) override;

  Result<tables::ListStreamsReply> ListStreams(const tables::ListStreamsRequest& request) override;
  Result<tables::StreamDescription> DescribeStream(const std::string& arn) override;
  Result<std::string> GetShardIterator(const tables::ShardIteratorRequest& request) override;
  Result<tables::RecordsReply> GetRecords(const tables::RecordsRequest& request) override;

  // Does all housekeeping that is due, and returns when it is complete.
  Status Maintain();
  FileShape Shape() const;

  // Reads every row and checks that they agree: items and their index rows, counts, stream records
  // and their order. Fails only when a row cannot be read, when `stop` is set, or when a full disk
  // has stopped all writes: the store cannot be opened again while it is being read.
  Result<VerifyReport> Verify(StopFlag stop = nullptr);

  // Writes a copy as of now into `folder`, which must be missing or empty. Other calls may continue
  // in the meantime. Then it opens the copy and verifies it. A backup is a data folder: opening it
  // restores it. On the same disk the copy shares its files with this folder, and takes no space.
  // On another disk it fails with kUnavailable before it copies if there is too little space.
  Status Backup(const std::string& folder, StopFlag stop = nullptr);

 private:
  class Engine;
  explicit EmbeddedTables(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace tidemark::embedded
