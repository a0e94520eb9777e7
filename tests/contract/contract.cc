#include "tests/contract/contract.h"

#include <algorithm>
#include <utility>

namespace tidemark::contract {

tables::CreateTableRequest Users() { return {.table = "users", .keys = {StringKey("id")}}; }

tables::CreateTableRequest Events() {
  return {.table = "events", .keys = {StringKey("room"), NumberKey("at")}};
}

Item User(const std::string& id) { return {{"id", id}}; }

Item Event(const std::string& room, int64_t at) { return {{"room", room}, {"at", Num(at)}}; }

std::vector<Item> Contract::QueryAll(tables::QueryRequest request) {
  std::vector<Item> items;
  do {
    tables::Page page = Must(tables().Query(request));
    items.insert(items.end(), page.items.begin(), page.items.end());
    request.start_after = page.last;
  } while (request.start_after);
  return items;
}

std::vector<Item> Contract::ScanAll(tables::ScanRequest request) {
  std::vector<Item> items;
  do {
    tables::Page page = Must(tables().Scan(request));
    items.insert(items.end(), page.items.begin(), page.items.end());
    request.start_after = page.last;
  } while (request.start_after);
  return items;
}

std::string Contract::LatestArn(const std::string& table) {
  return Must(tables().DescribeTable(table)).latest_stream.value().arn;
}

std::vector<tables::StreamRecord> Contract::ReadStream(const std::string& arn) {
  std::vector<tables::StreamRecord> records;
  for (const tables::Shard& shard : Must(tables().DescribeStream(arn)).shards) {
    std::optional<std::string> iterator =
        Must(tables().GetShardIterator({.arn = arn, .shard = shard.id}));
    while (iterator) {
      tables::RecordsReply reply = Must(tables().GetRecords({.iterator = *iterator}));
      EXPECT_EQ(reply.outcome, tables::RecordsOutcome::kOk);
      // An open shard has no end. An empty page means that all records were read.
      if (reply.records.empty()) break;
      records.insert(records.end(), reply.records.begin(), reply.records.end());
      iterator = reply.next;
    }
  }
  std::sort(records.begin(), records.end(),
            [](const auto& left, const auto& right) { return left.sequence < right.sequence; });
  return records;
}

std::string Contract::IteratorOf(const std::string& arn, tables::IteratorKind kind,
                                 std::optional<std::string> sequence) {
  const tables::StreamDescription stream = Must(tables().DescribeStream(arn));
  return Must(tables().GetShardIterator({.arn = arn,
                                         .shard = stream.shards.back().id,
                                         .kind = kind,
                                         .sequence = std::move(sequence)}));
}

std::vector<Value> Column(const std::vector<Item>& items, const std::string& attribute) {
  std::vector<Value> values;
  for (const Item& item : items) {
    const Value* value = item.Find(attribute);
    values.push_back(value ? *value : Value());
  }
  return values;
}

}  // namespace tidemark::contract
