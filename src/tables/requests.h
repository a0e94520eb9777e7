// The requests of Tables and their replies, as plain structs.
//
// Expressions are given as text with the names and values they refer to; see
// expression/ for the grammar. An expected outcome (condition not met, transaction cancelled) is a
// field of the reply. Only a mistake of the caller or a failure of the store is an Error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "item/value.h"
#include "tables/schema.h"

namespace tidemark::tables {

// ---- Tables ----

struct CreateTableRequest {
  std::string table;
  item::KeySchema keys;
  std::vector<IndexSpec> indexes = {};
  std::optional<StreamView> stream = std::nullopt;
  std::optional<Throughput> throughput = std::nullopt;
  bool deletion_protected = false;
  TableClass table_class = TableClass::kStandard;
  Encryption encryption = {};
  Tags tags = {};
};

struct UpdateStream {
  bool enabled = true;
  StreamView view = StreamView::kNewAndOldImages;  // For enabling only.
};

// Settings that are not given stay as they are. At most one index is added or dropped at a time.
struct UpdateTableRequest {
  std::string table;
  std::optional<IndexSpec> add_index = std::nullopt;
  std::optional<std::string> drop_index = std::nullopt;
  std::optional<UpdateStream> stream = std::nullopt;
  std::optional<Throughput> throughput = std::nullopt;
  bool provisioned = false;  // The throughput may be given to a table that is on demand.
  bool on_demand = false;    // Ends the provisioned throughput, of the indexes too.
  std::map<std::string, Throughput> index_throughput = {};  // Of global indexes, by name.
  std::optional<bool> deletion_protected = std::nullopt;
  std::optional<TableClass> table_class = std::nullopt;
  std::optional<Encryption> encryption = std::nullopt;
};

struct ListTablesRequest {
  std::optional<std::string> after = std::nullopt;  // Only names that sort after this one.
  size_t limit = 100;
};
struct ListTablesReply {
  std::vector<std::string> tables;
  std::optional<std::string> last;  // Set when there are more; the next page is after it.
};

struct SetTimeToLiveRequest {
  std::string table;
  std::string attribute;
  bool enabled = true;
};

struct TagRequest {
  std::string table;
  Tags set = {};
  std::vector<std::string> remove = {};
};

// ---- Capacity ----

// Whether a reply says what the request would cost on DynamoDB: nothing, the sum, or also what each
// index costs.
enum class Measure { kNone, kTotal, kIndexes };

// What a request costs at one table, in DynamoDB's units: 4 KB for a read, half of it if the read
// need not be consistent, and 1 KB for a write. Nothing is throttled by it.
struct Capacity {
  std::string table;
  Measure measure = Measure::kTotal;
  double table_units = 0;
  std::map<std::string, double> global_indexes =
      {};  // By name; those that cost nothing are absent.
  std::map<std::string, double> local_indexes = {};
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

// ---- Item collections ----

// Whether the reply to a write says how large the item's collection is: all items with its
// partition key. Only tables with a local index have collections.
enum class Collections { kNone, kSize };
struct Collection {
  item::Item key;  // The partition key.
  double most_gigabytes = 0;
  friend bool operator==(const Collection&, const Collection&) = default;
};
using CollectionsByTable = std::map<std::string, std::vector<Collection>>;

// ---- Items ----

using Names = std::map<std::string, std::string, std::less<>>;   // "#n" → attribute name
using Values = std::map<std::string, item::Value, std::less<>>;  // ":v" → value

struct GetRequest {
  std::string table;
  item::Item key;
  std::optional<std::string> projection = std::nullopt;
  Names names = {};
};

enum class ReturnValues { kNone, kAllOld, kUpdatedOld, kAllNew, kUpdatedNew };
// Whether a failed condition shows the item it failed on.
enum class OnConditionFailure { kNone, kAllOld };

struct PutRequest {
  std::string table;
  item::Item item;
  std::optional<std::string> condition = std::nullopt;
  Names names = {};
  Values values = {};
  ReturnValues return_values = ReturnValues::kNone;  // kNone or kAllOld.
  OnConditionFailure on_failure = OnConditionFailure::kNone;
  Measure measure = Measure::kNone;
  Collections collections = Collections::kNone;
};

struct UpdateRequest {
  std::string table;
  item::Item key;
  std::optional<std::string> update = std::nullopt;  // nullopt: only creates the item.
  std::optional<std::string> condition = std::nullopt;
  Names names = {};
  Values values = {};
  ReturnValues return_values = ReturnValues::kNone;
  OnConditionFailure on_failure = OnConditionFailure::kNone;
  Measure measure = Measure::kNone;
  Collections collections = Collections::kNone;
};

struct DeleteRequest {
  std::string table;
  item::Item key;
  std::optional<std::string> condition = std::nullopt;
  Names names = {};
  Values values = {};
  ReturnValues return_values = ReturnValues::kNone;  // kNone or kAllOld.
  OnConditionFailure on_failure = OnConditionFailure::kNone;
  Measure measure = Measure::kNone;
  Collections collections = Collections::kNone;
};

struct WriteReply {
  bool applied = true;  // False: the condition did not hold, and nothing was written.
  std::optional<item::Item> attributes =
      std::nullopt;                                    // As return_values asks, when there are any.
  std::optional<item::Item> failed_on = std::nullopt;  // As on_failure asks.
  std::optional<Capacity> capacity = std::nullopt;     // When it was measured and applied.
  std::optional<Collection> collection = std::nullopt;  // When it was asked for, and there is one.
};

// ---- Reading many ----

enum class Select { kAllAttributes, kAllProjectedAttributes, kSpecificAttributes, kCount };

struct QueryRequest {
  std::string table;
  std::optional<std::string> index = std::nullopt;
  std::string key_condition = {};
  // In place of key_condition: all items under this value of the partition key, without an
  // expression to parse. A filter and a projection may still be given.
  std::optional<item::Attribute> partition = std::nullopt;
  std::optional<std::string> filter = std::nullopt;
  std::optional<std::string> projection = std::nullopt;
  Names names = {};
  Values values = {};
  std::optional<Select> select = std::nullopt;
  bool forward = true;
  bool consistent = false;
  std::optional<uint32_t> limit = std::nullopt;          // Counts items before the filter.
  std::optional<item::Item> start_after = std::nullopt;  // A reply's `last`.
  Measure measure = Measure::kNone;
};

struct ScanRequest {
  std::string table;
  std::optional<std::string> index = std::nullopt;
  std::optional<std::string> filter = std::nullopt;
  std::optional<std::string> projection = std::nullopt;
  Names names = {};
  Values values = {};
  std::optional<Select> select = std::nullopt;
  bool consistent = false;
  std::optional<uint32_t> limit = std::nullopt;
  std::optional<item::Item> start_after = std::nullopt;
  std::optional<uint32_t> segment =
      std::nullopt;  // Given with total_segments, for a parallel scan.
  std::optional<uint32_t> total_segments = std::nullopt;
  Measure measure = Measure::kNone;
};

struct Page {
  std::vector<item::Item> items;                  // Empty when only the count was asked for.
  uint64_t count = 0;                             // Items that passed the filter.
  uint64_t scanned = 0;                           // Items read, before the filter.
  std::optional<item::Item> last = std::nullopt;  // Set when there may be more.
  std::optional<Capacity> capacity = std::nullopt;
};

struct BatchGetRequest {
  struct Part {
    std::vector<item::Item> keys;
    std::optional<std::string> projection = std::nullopt;
    Names names = {};
    // Every read of an item is consistent. This is only about what it costs.
    bool consistent = false;
  };
  std::map<std::string, Part> tables;
  Measure measure = Measure::kNone;
};
struct BatchGetReply {
  std::map<std::string, std::vector<item::Item>> items;      // Absent items are left out.
  std::map<std::string, BatchGetRequest::Part> unprocessed;  // What did not fit.
  std::vector<Capacity> capacity = {};                       // One a table, when it was measured.
};

// ---- Writing many ----

struct BatchWriteRequest {
  struct Put {
    item::Item item;
  };
  struct Delete {
    item::Item key;
  };
  using Action = std::variant<Put, Delete>;
  std::map<std::string, std::vector<Action>> tables;
  Measure measure = Measure::kNone;
  Collections collections = Collections::kNone;
};
// Each action is atomic on its own; the batch is not. On an Error of code kUnknown some
// may have been applied.
struct BatchWriteReply {
  std::map<std::string, std::vector<BatchWriteRequest::Action>> unprocessed;
  std::vector<Capacity> capacity = {};  // One a table, when it was measured.
  CollectionsByTable collections = {};
};

struct ConditionCheck {
  std::string table;
  item::Item key;
  std::string condition;
  Names names = {};
  Values values = {};
  OnConditionFailure on_failure = OnConditionFailure::kNone;
};

using TransactAction = std::variant<ConditionCheck, PutRequest, UpdateRequest, DeleteRequest>;

struct TransactWriteRequest {
  std::vector<TransactAction> actions;
  // The same token with the same actions, within ten minutes, is applied once.
  std::optional<std::string> token = std::nullopt;
  Measure measure = Measure::kNone;
  Collections collections = Collections::kNone;
};

enum class CancellationCode {
  kNone,
  kConditionalCheckFailed,
  kTransactionConflict,
  kValidationError
};

struct CancellationReason {
  CancellationCode code = CancellationCode::kNone;
  std::string message = {};
  std::optional<item::Item> item = std::nullopt;  // As the action's on_failure asks.
};

enum class TransactOutcome {
  kApplied,
  kCancelled,      // Nothing was written; `reasons` has one entry an action.
  kTokenMismatch,  // The token was used for other actions; nothing was written.
};

struct TransactWriteReply {
  TransactOutcome outcome = TransactOutcome::kApplied;
  std::vector<CancellationReason> reasons = {};
  bool replayed = false;  // The token had been applied before; nothing was written now.
  std::vector<Capacity> capacity = {};  // One a table, when it was measured and applied.
  CollectionsByTable collections = {};
};

struct TransactGetRequest {
  std::vector<GetRequest> gets;
  Measure measure = Measure::kNone;
};
struct TransactGetReply {
  bool cancelled = false;
  std::vector<std::optional<item::Item>> items = {};  // All as of one moment.
  std::vector<CancellationReason> reasons = {};
  std::vector<Capacity> capacity = {};  // One a table, when it was measured.
};

// ---- Streams ----

enum class ChangeKind { kInsert, kModify, kRemove };

struct StreamRecord {
  std::string sequence;  // 21 digits: text order is number order.
  ChangeKind kind = ChangeKind::kInsert;
  StreamView view = StreamView::kNewAndOldImages;
  EpochSeconds created_at = 0;
  bool expired = false;  // Removed by the time-to-live sweeper, not by a caller.
  item::Item keys;
  std::optional<item::Item> old_image = std::nullopt;
  std::optional<item::Item> new_image = std::nullopt;
  friend bool operator==(const StreamRecord&, const StreamRecord&) = default;
};

struct ListStreamsRequest {
  std::optional<std::string> table = std::nullopt;
  std::optional<std::string> after_arn = std::nullopt;
  size_t limit = 100;
};
struct ListStreamsReply {
  struct Stream {
    std::string table;
    std::string arn;
    std::string label;
  };
  std::vector<Stream> streams;
  std::optional<std::string> last_arn;
};

struct Shard {
  std::string id;
  std::string first_sequence;
  std::optional<std::string> last_sequence;  // Set when the shard is closed.
};
struct StreamDescription {
  std::string arn;
  std::string label;
  std::string table;
  item::KeySchema keys;
  StreamView view = StreamView::kNewAndOldImages;
  bool enabled = true;
  EpochSeconds created_at = 0;
  std::vector<Shard> shards;
};

enum class IteratorKind { kTrimHorizon, kLatest, kAtSequence, kAfterSequence };
struct ShardIteratorRequest {
  std::string arn;
  std::string shard;
  IteratorKind kind = IteratorKind::kTrimHorizon;
  std::optional<std::string> sequence = std::nullopt;  // For kAtSequence and kAfterSequence.
};

// kExpired: ask for a new iterator. kTrimmed: its record was trimmed; continue from the horizon.
enum class RecordsOutcome { kOk, kExpired, kTrimmed };

struct RecordsRequest {
  std::string iterator;
  size_t limit = 1'000;
};
struct RecordsReply {
  RecordsOutcome outcome = RecordsOutcome::kOk;
  std::vector<StreamRecord> records = {};
  std::optional<std::string> next = std::nullopt;  // nullopt: closed, and all was read.
  std::string stream = {};  // The ARN of the stream; empty when the store does not say.
};

}  // namespace tidemark::tables
