// The catalog lists the tables and streams. Tables are immutable: a change makes a new Table and
// publishes it after the commit. A reader that has the old Table can finish its work with it.
//
// Find and List may be called from any thread; only the committer calls Publish.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tables/embedded/row_key.h"
#include "tables/embedded/store.h"
#include "tables/schema.h"

namespace tidemark::embedded {

// How many items a keyspace has, and their bytes as DynamoDB counts them. The committer updates
// the counts and stores them with every change. Descriptions show them.
struct Counts {
  std::atomic<uint64_t> items = 0;
  std::atomic<uint64_t> bytes = 0;
};

// The progress of filling a new index or expiry list with the items that the table already has.
// Writes add their rows from the beginning; readers use it only after it is complete.
struct Fill {
  bool complete = true;
  std::string done_to;  // The key of the last item row that was filled in.
};

struct Index {
  tables::IndexSpec spec;
  Keyspace keyspace = 0;
  Fill fill;
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();
};

// Where the next sweep of an expiry list begins. No earlier row is left there, except deleted ones,
// which RocksDB would step over one by one. It is not stored: the first sweep after a start begins
// with the oldest rows.
//
// The sweeper takes it before it reads, and a writer lowers it after its commit. So the sweeper
// either sees a row that is earlier than the others, or finds it in the next sweep.
class SweepStart {
 public:
  EpochSeconds Take(EpochSeconds next) { return start_.exchange(next); }
  void Lower(EpochSeconds ttl) {
    EpochSeconds start = start_;
    while (ttl < start && !start_.compare_exchange_weak(start, ttl)) continue;
  }

 private:
  std::atomic<EpochSeconds> start_ = 0;
};

// The rows that list the items of a table by the time when they expire.
struct ExpiryList {
  std::string attribute;
  Keyspace keyspace = 0;
  Fill fill;
  std::shared_ptr<SweepStart> sweep_start = std::make_shared<SweepStart>();
};

using StreamId = uint32_t;

struct Stream {
  StreamId id = 0;
  std::string table;
  std::string label;
  item::KeySchema keys;
  tables::StreamView view = tables::StreamView::kNewAndOldImages;
  EpochSeconds created_at = 0;
  std::optional<EpochSeconds> closed_at;  // Set when it was disabled, or its table deleted.
  uint64_t trimmed_through = 0;           // The last sequence number that is gone.
  // The number of its next record. Only the committer uses it.
  std::shared_ptr<uint64_t> next_sequence = std::make_shared<uint64_t>(1);

  std::string ShardId() const;
};

struct Table {
  std::string name;
  std::string id;
  Keyspace keyspace = 0;
  item::KeySchema keys;
  std::vector<Index> indexes;
  std::optional<ExpiryList> expiry;
  std::shared_ptr<const Stream> stream;         // Null when none is enabled.
  std::shared_ptr<const Stream> latest_stream;  // Also when it is disabled.
  tables::Tags tags;
  std::optional<tables::Throughput> throughput;
  bool deletion_protected = false;
  tables::TableClass table_class = tables::TableClass::kStandard;
  tables::Encryption encryption;
  EpochSeconds created_at = 0;
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();

  // nullptr when there is no index of this name.
  const Index* FindIndex(std::string_view index) const;
};

using TablePtr = std::shared_ptr<const Table>;
using StreamPtr = std::shared_ptr<const Stream>;

// The part of an ARN after region and account, such as "table/NAME/stream/LABEL". Empty if the text
// is not an ARN of our tables.
std::string_view ResourceOfArn(std::string_view arn);

class Catalog {
 public:
  // The region is part of the ARNs.
  explicit Catalog(std::string region) : region_(std::move(region)) {}
  // Reads the catalog from the store.
  static Result<std::unique_ptr<Catalog>> Load(const Store& store, std::string region);
  // Reads it again. A write whose outcome is unknown may or may not be there.
  Status Reload(const Store& store);

  // nullptr when there is no such table.
  TablePtr Find(const std::string& table) const;
  // kNotFound with DynamoDB's text when there is no such table.
  Result<TablePtr> Need(const std::string& table) const;
  std::vector<TablePtr> ListTables() const;  // By name.
  std::vector<StreamPtr> ListStreams() const;
  // Also finds the stream by an ARN with another region: a follower stores the ARN that it got, and
  // the folder may have been opened with another region since.
  StreamPtr FindStream(std::string_view arn) const;
  StreamPtr FindStream(StreamId id) const;

  // "arn:aws:dynamodb:REGION:000000000000:table/NAME", and "…/stream/LABEL".
  std::string ArnOf(const Table& table) const;
  std::string ArnOf(const Stream& stream) const;
  tables::TableDescription Describe(const Table& table) const;

  // A number that was never used for a keyspace or stream. It is stored with the next Put.
  uint32_t NewNumber() { return next_number_++; }

  // Add the rows of a change to a batch. Publish makes it visible after the batch is written.
  void Put(const Table& table, Batch* batch) const;
  void Put(const Stream& stream, Batch* batch) const;
  static void Remove(const Table& table, Batch* batch);
  static void Remove(Keyspace keyspace, Batch* batch);
  static void Remove(const Stream& stream, Batch* batch);
  // Reads the stored counts. They are zero if none were stored.
  static Status ReadCounts(const Store& store, const Snapshot& snapshot, Keyspace keyspace,
                           Counts* counts);
  static void PutCounts(Keyspace keyspace, const Counts& counts, Batch* batch);

  void Publish(TablePtr table);
  void Publish(StreamPtr stream);
  void Unpublish(const Table& table);
  void Unpublish(const Stream& stream);

 private:
  Status LoadStreams(const Store& store);
  Status LoadTables(const Store& store);
  tables::StreamSummary Summarize(const Stream& stream) const;

  const std::string region_;
  mutable std::mutex mutex_;
  std::map<std::string, TablePtr, std::less<>> tables_;
  std::map<StreamId, StreamPtr> streams_;
  uint32_t next_number_ = 1;
};

}  // namespace tidemark::embedded
