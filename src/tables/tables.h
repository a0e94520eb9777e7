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
// All methods may be called from any thread. All except Submit block until they are done. Every
// method fails with kInvalid when the request is wrong (nothing was written), kNotFound when the
// table or stream does not exist, kUnavailable when nothing was done and a retry may help, and
// kUnknown when a write may or may not have been applied.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/deadline.h"
#include "base/later.h"
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
  // Whether writes are accepted now: kUnavailable or kDenied with the reason if every one would be
  // refused, as on a full disk.
  virtual Status Writable() { return Done{}; }
  // In the order of their names.
  virtual Result<ListTablesReply> ListTables(const ListTablesRequest& request) = 0;
  virtual Status SetTimeToLive(const SetTimeToLiveRequest& request) = 0;
  virtual Status Tag(const TagRequest& request) = 0;
  virtual Result<Tags> ListTags(const std::string& table) = 0;

  // nullopt when there is no item with this key. If a projection matches nothing, the result is an
  // empty item. Expired items are returned until they are swept.
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

  // The same operations for a caller that does not block, such as one with many requests in
  // flight. A callback that is chained to the answer runs on a thread of the implementation and
  // must not block. Every submitted request is answered before the tables are destroyed. When the
  // deadline has passed or the caller has cancelled before a read begins, the answer is kCancelled
  // and nothing is read. A submitted write is always made.
  //
  // By default, the operation is done on the calling thread, and a caller that must not block
  // submits from a thread that may.
  virtual bool SubmitsWithoutBlocking() const { return false; }
  using WriteRequest = std::variant<PutRequest, UpdateRequest, DeleteRequest>;
  virtual Later<std::optional<item::Item>> Submit(GetRequest request,
                                                  std::optional<Deadline> deadline);
  virtual Later<Page> Submit(QueryRequest request, std::optional<Deadline> deadline);
  virtual Later<Page> Submit(ScanRequest request, std::optional<Deadline> deadline);
  virtual Later<BatchGetReply> Submit(BatchGetRequest request, std::optional<Deadline> deadline);
  virtual Later<TransactGetReply> Submit(TransactGetRequest request,
                                         std::optional<Deadline> deadline);
  virtual Later<RecordsReply> Submit(RecordsRequest request, std::optional<Deadline> deadline);
  virtual Later<WriteReply> Submit(WriteRequest request, std::optional<Deadline> deadline);
  virtual Later<BatchWriteReply> Submit(BatchWriteRequest request,
                                        std::optional<Deadline> deadline);
  virtual Later<TransactWriteReply> Submit(TransactWriteRequest request,
                                           std::optional<Deadline> deadline);

  virtual Result<ListStreamsReply> ListStreams(const ListStreamsRequest& request) = 0;
  virtual Result<StreamDescription> DescribeStream(const std::string& arn) = 0;
  virtual Result<std::string> GetShardIterator(const ShardIteratorRequest& request) = 0;
  // Records in the order of their commits, without gaps.
  virtual Result<RecordsReply> GetRecords(const RecordsRequest& request) = 0;
};

}  // namespace tidemark::tables
