// The catalog: which tables and streams there are. Tables are immutable values; a change
// makes a new one and publishes it once it is committed, so that whoever holds the old one
// goes on undisturbed.
//
// Find and List may be called from any thread; Publish is for the committer alone.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tables/embedded/row_key.h"
#include "tables/embedded/store.h"
#include "tables/schema.h"

namespace tidemark::embedded {

// How many items a keyspace has and their bytes as DynamoDB counts them. Kept by the
// committer, stored with every change, read by descriptions.
struct Counts {
  std::atomic<uint64_t> items = 0;
  std::atomic<uint64_t> bytes = 0;
};

// How far the rows of an index or expiry list that was added to a table with items have
// been made. Until it is complete, new writes already keep it, and nobody reads it.
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

// The rows that sort a table's items by the time they expire.
struct ExpiryList {
  std::string attribute;
  Keyspace keyspace = 0;
  Fill fill;
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
  // The number of its next record; for the committer alone.
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
  EpochSeconds created_at = 0;
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();

  // nullptr when there is none of that name.
  const Index* FindIndex(std::string_view index) const;
};

using TablePtr = std::shared_ptr<const Table>;
using StreamPtr = std::shared_ptr<const Stream>;

// What an ARN names within its region, "table/NAME/stream/LABEL"; empty for what is no ARN of ours.
std::string_view ResourceOfArn(std::string_view arn);

class Catalog {
 public:
  // The region is what ARNs show.
  explicit Catalog(std::string region) : region_(std::move(region)) {}
  // Reads it from the store.
  static Result<std::unique_ptr<Catalog>> Load(const Store& store, std::string region);

  // nullptr when there is none.
  TablePtr Find(const std::string& table) const;
  // kNotFound with DynamoDB's text when there is none.
  Result<TablePtr> Need(const std::string& table) const;
  std::vector<TablePtr> ListTables() const;  // By name.
  std::vector<StreamPtr> ListStreams() const;
  // Also by an ARN of another region: a follower's position keeps the one that it was given, and
  // the folder may be opened with another since.
  StreamPtr FindStream(std::string_view arn) const;
  StreamPtr FindStream(StreamId id) const;

  // "arn:aws:dynamodb:REGION:000000000000:table/NAME", and "…/stream/LABEL".
  std::string ArnOf(const Table& table) const;
  std::string ArnOf(const Stream& stream) const;
  tables::TableDescription Describe(const Table& table) const;

  // A number that no keyspace or stream has or had. It becomes lasting with the next Put.
  uint32_t NewNumber() { return next_number_++; }

  // Add the rows of a change to a batch. Publish makes it visible after the batch is written.
  void Put(const Table& table, Batch* batch) const;
  void Put(const Stream& stream, Batch* batch) const;
  static void Remove(const Table& table, Batch* batch);
  static void Remove(Keyspace keyspace, Batch* batch);
  static void Remove(const Stream& stream, Batch* batch);
  // The counts as stored, which are zero for a keyspace that never had any.
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
