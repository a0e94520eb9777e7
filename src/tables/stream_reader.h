// StreamReader reads all records of a table's streams, in order, from any position. It reads one
// shard after the other. A table has several streams when its stream was disabled and enabled
// again, or when the table was deleted and created again; these are read one after the other too.
//
//   StreamReader reader(tables, "users");
//   StreamPosition position;                     // before everything
//   StreamPage page = TRY(reader.Read(position, 100));
//   for (const StreamRecord& record : page.records) position = page.PositionAfter(record);
//
// The shards of a stream are read in the order of its description, each to its end: records
// of one item come in the order of their commits, and only the last shard may be open.
//
// A reader belongs to one thread. It never writes. Between calls it keeps only an iterator, which
// saves a request.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::tables {

// A position between two records. The default position is before all records.
struct StreamPosition {
  std::string stream = {};  // The ARN of the stream.
  std::string label = {};   // Of the stream; streams are read in the order of their labels.
  std::string shard = {};
  std::string sequence = {};  // Of the record before; empty: where the shard begins.
  bool drained = false;       // The stream is closed, and all its records were read.
  friend bool operator==(const StreamPosition&, const StreamPosition&) = default;
};

struct StreamPage {
  StreamPosition start = {};  // Where the records were read: `from`, or a later shard.
  std::vector<StreamRecord> records = {};
  bool at_end = false;  // Nothing was left to read.
  bool gap = false;     // Records between `from` and `start` may be lost: they were trimmed.

  StreamPosition PositionAfter(const StreamRecord& record) const;
};

class StreamReader {
 public:
  // The tables must outlive the reader.
  StreamReader(Tables& tables, std::string table) : tables_(&tables), table_(std::move(table)) {}

  // The next records after `from`, at most `limit` of them; none only at the end.
  // kNotFound when `from` is before everything and the table has no stream at all.
  Result<StreamPage> Read(const StreamPosition& from, size_t limit);

 private:
  Result<bool> MoveToNextStream(StreamPosition* position);
  Result<bool> MoveToNextShard(StreamPosition* position);
  Result<RecordsReply> ReadShard(StreamPage* page, size_t limit);
  Result<RecordsReply> TryReadShard(const StreamPosition& position, size_t limit);

  Tables* tables_;
  std::string table_;
  std::optional<std::string> iterator_ = std::nullopt;
  StreamPosition iterator_position_ = {};  // Where the iterator stands.
};

}  // namespace tidemark::tables
