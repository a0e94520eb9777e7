// EmbeddedTables keeps tables in a folder of this machine, on RocksDB, inside the process.
//
//   auto tables = TRY(EmbeddedTables::Open({.folder = "data"}));
//   TRY(tables->Put({.table = "users", .item = {{"id", "a"}}}));
//
// One process at a time may have a folder open. A success is answered once the write-ahead
// log is on disk, many requests to a sync; reads see only what is. A failure of the disk
// stops all writes with an error that says so, until the folder is opened again; damage
// that is found is reported, never served.
//
// Housekeeping (sweeping expired items, filling new indexes, trimming streams and tokens)
// runs on a thread of its own when Options::background is set, and otherwise whenever
// Maintain is called. No answer depends on when it runs, except that swept items are gone.
#pragma once

#include <functional>
#include <memory>
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
  kReadOnly,  // Looks at a folder that no process has open; every write is refused.
};

struct Options {
  std::string folder;
  Durability durability = Durability::kSynced;
  Access access = Access::kReadWrite;
  bool create_if_missing = true;
  bool background = true;
  // What ARNs show; it may change from one opening to the next.
  std::string region = "local";
  size_t block_cache_bytes = 64 << 20;
  // Writes are refused while the disk has less than this left: a full disk is found out
  // before it can tear a write.
  uint64_t disk_reserve_bytes = 64 << 20;
  // Null means the system's. What is given must outlive the tables.
  const Clock* clock = nullptr;
  Random* random = nullptr;
  // Null means none.
  Logger* logger = nullptr;
  Metrics* metrics = nullptr;
  std::shared_ptr<rocksdb::FileSystem> file_system = nullptr;
};

struct VerifyReport {
  uint64_t tables = 0;
  uint64_t items = 0;
  uint64_t index_rows = 0;
  uint64_t stream_records = 0;
  std::vector<std::string> problems;  // Empty: every row is where and what it must be.
};

class EmbeddedTables final : public tables::Tables {
 public:
  // kNotFound when the folder is missing and may not be made, kInUse when another process
  // has it open, kDenied when it may not be written, kCorrupt when it is damaged, kInvalid
  // when it was written by a newer version or holds something else.
  static Result<std::unique_ptr<EmbeddedTables>> Open(Options options);
  // Waits for what is under way, and leaves everything on disk.
  ~EmbeddedTables() override;

  Result<tables::TableDescription> CreateTable(const tables::CreateTableRequest& request) override;
  Result<tables::TableDescription> DescribeTable(const std::string& table) override;
  Result<tables::TableDescription> UpdateTable(const tables::UpdateTableRequest& request) override;
  Result<tables::TableDescription> DeleteTable(const std::string& table) override;
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
  void Submit(const WriteRequest& request,
              std::function<void(Result<tables::WriteReply>)> done) override;
  void Submit(const tables::TransactWriteRequest& request,
              std::function<void(Result<tables::TransactWriteReply>)> done) override;

  Result<tables::ListStreamsReply> ListStreams(const tables::ListStreamsRequest& request) override;
  Result<tables::StreamDescription> DescribeStream(const std::string& arn) override;
  Result<std::string> GetShardIterator(const tables::ShardIteratorRequest& request) override;
  Result<tables::RecordsReply> GetRecords(const tables::RecordsRequest& request) override;

  // Does all housekeeping that is due, to its end.
  Status Maintain();

  // Reads every row, and checks it against what it belongs to: items and their index rows,
  // counts, stream records and their order. Fails only when it cannot read.
  Result<VerifyReport> Verify();

  // Writes a copy as of now into `folder`, which must be missing or empty, while work goes on;
  // then opens the copy and verifies it. A backup is a data folder: opening it restores it.
  Status Backup(const std::string& folder);

 private:
  class Engine;
  explicit EmbeddedTables(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace tidemark::embedded
