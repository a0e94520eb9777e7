// RemoteTables are tables at the other end of DynamoDB's protocol.
//
//   RemoteTables tables([&](std::string_view operation, std::string body) {
//     return Post("/api/v1/tables/" + operation, body);
//   });
//
// It encodes each request, lets `send` carry it, and decodes the reply. It does not retry. What the
// protocol cannot carry is lost: whether a token was applied before, and the types of keys in the
// description of a stream. A description of a table takes two requests, and a change of tags too.
//
// Any thread may call it if `send` allows that. Each call blocks until the reply is there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "tables/tables.h"
#include "wire/message.h"

namespace tidemark::remote {

// Sends the body of an operation, such as "PutItem", and returns the reply. An error means that
// there is no reply of the protocol: kUnavailable when nothing was done, kUnknown when that is not
// known.
using Send = std::function<Result<wire::Message>(std::string_view operation, std::string body)>;

class RemoteTables final : public tables::Tables {
 public:
  explicit RemoteTables(Send send) : send_(std::move(send)) {}

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

 private:
  template <typename Operation>
  Result<typename Operation::Reply> Call(const Operation& operation,
                                         const typename Operation::Request& request);
  // Descriptions of tables do not have the time to live.
  Result<tables::TableDescription> WithTimeToLive(Result<tables::TableDescription> described);

  const Send send_;
};

}  // namespace tidemark::remote
