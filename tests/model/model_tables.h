// ModelTables is the simplest implementation of Tables: maps and one mutex. An index is a filter
// over all items at the time of the query, a stream is a vector, and sweeping is a loop. It is slow
// on purpose: a reader should see at once that it is right, because the engine is compared with it.
//
// All methods may be called from any thread. Nothing outlives the object.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tables/tables.h"
#include "tests/model/prepare.h"

namespace tidemark::model {

class ModelTables final : public tables::Tables {
 public:
  // The clock must outlive this.
  explicit ModelTables(const Clock& clock) : clock_(clock) {}

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

  Result<tables::ListStreamsReply> ListStreams(const tables::ListStreamsRequest& request) override;
  Result<tables::StreamDescription> DescribeStream(const std::string& arn) override;
  Result<std::string> GetShardIterator(const tables::ShardIteratorRequest& request) override;
  Result<tables::RecordsReply> GetRecords(const tables::RecordsRequest& request) override;

  // Deletes expired items, completes indexes that are being added, and removes expired records and
  // tokens.
  void Maintain();

 private:
  struct KeyOrder {
    bool operator()(const item::Key& left, const item::Key& right) const;
  };
  struct Index {
    tables::IndexSpec spec;
    tables::IndexState state = tables::IndexState::kActive;
  };
  struct Table {
    std::string name;
    std::string id;
    item::KeySchema keys;
    std::vector<Index> indexes;
    std::optional<std::string> latest_stream;  // Its ARN.
    std::optional<std::string> ttl_attribute;
    std::optional<tables::Throughput> throughput;
    bool deletion_protected = false;
    tables::Tags tags;
    EpochSeconds created_at = 0;
    std::map<item::Key, item::Item, KeyOrder> items;
  };
  struct Stream {
    std::string table;
    std::string arn;
    std::string label;
    std::chrono::milliseconds label_time{0};
    item::KeySchema keys;
    tables::StreamView view = tables::StreamView::kNewAndOldImages;
    EpochSeconds created_at = 0;
    std::optional<EpochSeconds> closed_at;
    uint64_t first_sequence = 0;
    uint64_t last_sequence = 0;    // Set when the stream is closed.
    uint64_t trimmed_through = 0;  // Records up to this one are no longer kept.
    std::vector<tables::StreamRecord> records;
  };
  struct Token {
    std::string actions;
    EpochSeconds used_at = 0;
  };
  // A position among the rows of a table or an index. An index may have many rows with the same
  // index key, so the table's key is part of it.
  struct Place {
    std::optional<item::Key> index_key;
    item::Key key;
  };
  struct Row {
    Place place;
    item::Item item;       // As the index holds it.
    item::Item base_item;  // As the table stores it.
  };
  // What a query or a scan reads from.
  struct Source {
    const Table* table = nullptr;
    const Index* index = nullptr;  // nullptr: the table itself.
    bool fetches_base = false;     // The index returns the table's items.

    const item::KeySchema& keys() const { return index ? index->spec.keys : table->keys; }
  };
  // A write whose table and key are known.
  struct Located {
    const PreparedWrite* write = nullptr;
    Table* table = nullptr;
    item::Key key;
  };
  struct Effect {
    bool applied = true;
    std::optional<item::Item> previous;
    std::optional<item::Item> next;  // nullopt: there is no item afterwards.
  };

  static bool Before(const Place& left, const Place& right);

  // kNotFound with the text of the operations on items, and of those on tables.
  Result<Table*> Find(const std::string& name);
  Result<Table*> FindForChange(const std::string& name);

  static std::string ArnOf(const Table& table);
  tables::TableDescription Describe(const Table& table) const;
  static Status CheckUpdate(const Table& table, const tables::UpdateTableRequest& request);
  static Status CheckStreamUpdate(const Stream* latest, const tables::UpdateTableRequest& request);
  void SweepExpired(Table* table);

  static Result<Located> Locate(const PreparedWrite& write, Table* table);
  static Result<Effect> Evaluate(const Located& located);
  void Store(const Located& located, const Effect& effect);
  void Replace(Table* table, const item::Key& key, std::optional<item::Item> next, bool expired);
  Result<tables::WriteReply> WriteOne(const PreparedWrite& write);
  static const item::Item* FindItem(const Table& table, const item::Key& key);
  static Result<std::optional<item::Item>> Read(const Table& table, const item::Item& key,
                                                const Projection& projection);
  Result<std::vector<Table*>> FindAll(const std::vector<PreparedWrite>& writes);
  tables::TransactWriteReply EvaluateAndStore(const std::vector<Located>& actions);

  static Result<Source> SourceOf(const Table& table, const ReadOptions& options,
                                 const Projection& projection);
  // Of one partition, or all.
  static std::vector<Row> RowsOf(const Source& source, const item::Value* partition = nullptr);
  static item::Item KeyAttributes(const Source& source, const Place& place);
  static Result<Place> PlaceOf(const Source& source, const item::Item& start_after);
  static tables::Page TakePage(const Source& source, const std::vector<Row>& rows,
                               const ReadOptions& options, const PreparedRead& read);

  EpochSeconds Now() const { return clock_.NowSeconds(); }
  void OpenStream(Table* table, tables::StreamView view);
  void CloseStream(const Table& table);
  Stream* LatestStream(const Table& table);
  const Stream* LatestStream(const Table& table) const;
  Result<const Stream*> FindStream(const std::string& arn) const;
  void Record(Table* table, const item::Key& key, const std::optional<item::Item>& previous,
              const std::optional<item::Item>& next, bool expired);
  bool IsGone(const Stream& stream) const;
  bool IsTrimmed(const tables::StreamRecord& record) const;
  void Trim();

  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Table> tables_;
  std::map<std::string, Stream> streams_;  // By ARN.
  std::map<std::string, Token> tokens_;
  uint64_t next_id_ = 1;
  uint64_t next_sequence_ = 1;
};

}  // namespace tidemark::model
