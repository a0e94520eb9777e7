// MovingTables are the tables that attempts are given while they move from an old store: what is
// read and written of the table of attempts goes to the store or stores that the phase names, and
// all else to the tables below. Attempts know nothing of it.
//
//   TwoStores stores(&redis_store, &table_store, ...);
//   MovingTables moving("authentication-attempts", &tables, &stores);
//   Attempts attempts(options, policy, &moving, ...);
//
// Of the rows of attempts it serves what attempts ask for: all rows of one subject, and their
// replacement on the condition of the head's version. Anything else would pass the old store by,
// and is kInvalid until the phase `new`, in which everything passes. What the table is (its
// creation, its settings, its stream) is the tables' own in all phases. May be called from any
// thread.
#pragma once

#include <functional>
#include <string>

#include "apps/attempts/moving/two_stores.h"
#include "tables/tables.h"

namespace tidemark::moving {

class MovingTables final : public tables::Tables {
 public:
  // What is given outlives this.
  MovingTables(std::string table, tables::Tables* inner, TwoStores* stores)
      : table_(std::move(table)), inner_(*inner), stores_(*stores) {}

  Result<tables::Page> Query(const tables::QueryRequest& request) override;
  Result<tables::WriteReply> Put(const tables::PutRequest& request) override;
  Result<tables::TransactWriteReply> TransactWrite(
      const tables::TransactWriteRequest& request) override;
  void Submit(const WriteRequest& request,
              std::function<void(Result<tables::WriteReply>)> done) override;
  void Submit(const tables::TransactWriteRequest& request,
              std::function<void(Result<tables::TransactWriteReply>)> done) override;

  // What attempts do not ask for: of their table only in the phase `new`.
  Result<std::optional<item::Item>> Get(const tables::GetRequest& request) override;
  Result<tables::WriteReply> Update(const tables::UpdateRequest& request) override;
  Result<tables::WriteReply> Delete(const tables::DeleteRequest& request) override;
  Result<tables::Page> Scan(const tables::ScanRequest& request) override;
  Result<tables::BatchGetReply> BatchGet(const tables::BatchGetRequest& request) override;
  Result<tables::BatchWriteReply> BatchWrite(const tables::BatchWriteRequest& request) override;
  Result<tables::TransactGetReply> TransactGet(const tables::TransactGetRequest& request) override;
  Result<tables::TableDescription> DeleteTable(const std::string& table) override;

  // The rest is the tables' own.
  Result<tables::TableDescription> CreateTable(const tables::CreateTableRequest& request) override {
    return inner_.CreateTable(request);
  }
  Result<tables::TableDescription> DescribeTable(const std::string& table) override {
    return inner_.DescribeTable(table);
  }
  Result<tables::TableDescription> UpdateTable(const tables::UpdateTableRequest& request) override {
    return inner_.UpdateTable(request);
  }
  Result<tables::ListTablesReply> ListTables(const tables::ListTablesRequest& request) override {
    return inner_.ListTables(request);
  }
  Status SetTimeToLive(const tables::SetTimeToLiveRequest& request) override {
    return inner_.SetTimeToLive(request);
  }
  Status Tag(const tables::TagRequest& request) override { return inner_.Tag(request); }
  Result<tables::Tags> ListTags(const std::string& table) override {
    return inner_.ListTags(table);
  }
  Result<tables::ListStreamsReply> ListStreams(const tables::ListStreamsRequest& request) override {
    return inner_.ListStreams(request);
  }
  Result<tables::StreamDescription> DescribeStream(const std::string& arn) override {
    return inner_.DescribeStream(arn);
  }
  Result<std::string> GetShardIterator(const tables::ShardIteratorRequest& request) override {
    return inner_.GetShardIterator(request);
  }
  Result<tables::RecordsReply> GetRecords(const tables::RecordsRequest& request) override {
    return inner_.GetRecords(request);
  }

 private:
  // Whether a request for the table goes straight to it.
  Result<bool> Passes(const std::string& table);
  Result<bool> Passes(const tables::TransactWriteRequest& request);
  // kInvalid unless it does.
  Status CheckPasses(const std::string& table, const std::string& what);

  const std::string table_;
  tables::Tables& inner_;
  TwoStores& stores_;
};

}  // namespace tidemark::moving
