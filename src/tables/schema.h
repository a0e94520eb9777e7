// The definition of a table: its key, indexes, stream and settings, as in requests and
// descriptions. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "item/key.h"

namespace tidemark::tables {

enum class ProjectionKind { kAll, kKeysOnly, kInclude };

// Which attributes an index holds in addition to its own keys and the table's.
struct IndexProjection {
  ProjectionKind kind = ProjectionKind::kAll;
  std::vector<std::string> included;  // For kInclude only.
  friend bool operator==(const IndexProjection&, const IndexProjection&) = default;
};

enum class IndexKind { kGlobal, kLocal };

// Provisioned capacity. It is kept and shown; the embedded tables do not throttle.
struct Throughput {
  int64_t read_units = 0;
  int64_t write_units = 0;
  friend bool operator==(const Throughput&, const Throughput&) = default;
};

struct IndexSpec {
  std::string name;
  IndexKind kind = IndexKind::kGlobal;
  item::KeySchema keys;
  IndexProjection projection;
  std::optional<Throughput> throughput = std::nullopt;  // nullopt: on demand.
  friend bool operator==(const IndexSpec&, const IndexSpec&) = default;
};

// Which images the records of a stream contain.
enum class StreamView { kKeysOnly, kNewImage, kOldImage, kNewAndOldImages };

using Tags = std::map<std::string, std::string>;

// How a table is stored at AWS. Both are kept and shown; here they change nothing.
enum class TableClass { kStandard, kInfrequentAccess };
struct Encryption {
  bool enabled = false;
  std::string key = {};  // The id or the ARN of a key; empty: AWS's own.
  friend bool operator==(const Encryption&, const Encryption&) = default;
};

enum class TableState { kCreating, kActive, kUpdating, kDeleting };
enum class IndexState { kCreating, kActive, kDeleting };

struct IndexDescription {
  IndexSpec spec;
  std::string arn = {};
  IndexState state = IndexState::kActive;
  bool backfilling = false;
  uint64_t item_count = 0;
  uint64_t size_bytes = 0;
};

struct StreamSummary {
  std::string arn;
  std::string label;  // The time it was enabled, as ISO 8601.
  StreamView view = StreamView::kNewAndOldImages;
  bool enabled = true;  // A disabled stream stays readable until its records are trimmed.
};

struct TableDescription {
  std::string name;
  std::string arn;
  std::string id;  // A new table with the same name has another id.
  TableState state = TableState::kActive;
  item::KeySchema keys;
  std::vector<IndexDescription> indexes;
  std::optional<StreamSummary> latest_stream;
  std::optional<std::string> ttl_attribute;  // nullopt: time to live is off.
  std::optional<Throughput> throughput;
  bool deletion_protected = false;
  TableClass table_class = TableClass::kStandard;
  Encryption encryption;
  EpochSeconds created_at = 0;
  uint64_t item_count = 0;
  uint64_t size_bytes = 0;
};

}  // namespace tidemark::tables
