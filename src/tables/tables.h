// Tables is an account of tables with DynamoDB's semantics: items under a partition key
// and an optional sort key, indexes over them, and a stream of their changes.
//
//   tables.Put({.table = "users", .item = {{"id", "a"}},
//               .condition = "attribute_not_exists(id)"});
//
// Single-item operations are linearizable, transactions are serializable, conditions are
// checked against the item as stored. A success is durable before it is returned, unless
// the implementation was opened in a mode that says otherwise.
//
// All methods may be called from any thread and, but for Submit, block until they are done. Every
// method fails with kInvalid when the request is wrong (nothing was written then), kNotFound when
// the table or stream does not exist, kUnavailable when nothing was done and trying
// later may help, and kUnknown when a write may or may not have been applied.
#pragma once

#include <functional>
#include <utility>
#include <variant>

#include "base/result.h"
#include "tables/requests.h"
#include "tables/schema.h"

namespace tidemark::tables {

class Tables {
 public:
  virtual ~Tables() = default;

  // kInUse when there is a table of that name.
  virtual Result<TableDescription> CreateTable(const CreateTableRequest& request) = 0;
  virtual Result<TableDescription> DescribeTable(const std::string& table) = 0;
  // kInUse while an index is being added or dropped.
  virtual Result<TableDescription> UpdateTable(const UpdateTableRequest& request) = 0;
  // The description of what was deleted. Its streams stay readable until they are trimmed.
  virtual Result<TableDescription> DeleteTable(const std::string& table) = 0;
  // In the order of their names.
  virtual Result<ListTablesReply> ListTables(const ListTablesRequest& request) = 0;
  virtual Status SetTimeToLive(const SetTimeToLiveRequest& request) = 0;
  virtual Status Tag(const TagRequest& request) = 0;
  virtual Result<Tags> ListTags(const std::string& table) = 0;

  // nullopt when there is no item under the key. A projection that matches nothing of an
  // item gives an empty item. Expired items are there until they are swept.
  virtual Result<std::optional<item::Item>> Get(const GetRequest& request) = 0;
  virtual Result<WriteReply> Put(const PutRequest& request) = 0;
  virtual Result<WriteReply> Update(const UpdateRequest& request) = 0;
  virtual Result<WriteReply> Delete(const DeleteRequest& request) = 0;

  // In the order of the sort key.
  virtual Result<Page> Query(const QueryRequest& request) = 0;
  virtual Result<Page> Scan(const ScanRequest& request) = 0;
  virtual Result<BatchGetReply> BatchGet(const BatchGetRequest& request) = 0;
  virtual Result<BatchWriteReply> BatchWrite(const BatchWriteRequest& request) = 0;
  virtual Result<TransactGetReply> TransactGet(const TransactGetRequest& request) = 0;
  virtual Result<TransactWriteReply> TransactWrite(const TransactWriteRequest& request) = 0;

  // A write for a caller that does not wait for it, such as one with many requests in flight:
  // `done` gets the reply, on this thread or another, and must not block. Everything submitted is
  // answered before the tables are gone. Without a way of its own to do this, an implementation
  // does the write here and now.
  using WriteRequest = std::variant<PutRequest, UpdateRequest, DeleteRequest>;
  virtual void Submit(const WriteRequest& request, std::function<void(Result<WriteReply>)> done);
  virtual void Submit(const TransactWriteRequest& request,
                      std::function<void(Result<TransactWriteReply>)> done);

  virtual Result<ListStreamsReply> ListStreams(const ListStreamsRequest& request) = 0;
  virtual Result<StreamDescription> DescribeStream(const std::string& arn) = 0;
  virtual Result<std::string> GetShardIterator(const ShardIteratorRequest& request) = 0;
  // Records in the order of their commits, without gaps.
  virtual Result<RecordsReply> GetRecords(const RecordsRequest& request) = 0;
};

}  // namespace tidemark::tables
