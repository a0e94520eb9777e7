#include "tables/tables.h"

namespace tidemark::tables {

namespace {

struct Writer {
  Tables& tables;
  Result<WriteReply> operator()(const PutRequest& put) const { return tables.Put(put); }
  Result<WriteReply> operator()(const UpdateRequest& update) const { return tables.Update(update); }
  Result<WriteReply> operator()(const DeleteRequest& gone) const { return tables.Delete(gone); }
};

}  // namespace

Later<std::optional<item::Item>> Tables::Submit(GetRequest request,
                                                std::optional<Deadline> /*deadline*/) {
  return Get(request);
}

Later<Page> Tables::Submit(QueryRequest request, std::optional<Deadline> /*deadline*/) {
  return Query(request);
}

Later<Page> Tables::Submit(ScanRequest request, std::optional<Deadline> /*deadline*/) {
  return Scan(request);
}

Later<BatchGetReply> Tables::Submit(BatchGetRequest request, std::optional<Deadline> /*deadline*/) {
  return BatchGet(request);
}

Later<TransactGetReply> Tables::Submit(TransactGetRequest request,
                                       std::optional<Deadline> /*deadline*/) {
  return TransactGet(request);
}

Later<RecordsReply> Tables::Submit(RecordsRequest request, std::optional<Deadline> /*deadline*/) {
  return GetRecords(request);
}

Later<WriteReply> Tables::Submit(WriteRequest request, std::optional<Deadline> /*deadline*/) {
  return std::visit(Writer{*this}, request);
}

Later<BatchWriteReply> Tables::Submit(BatchWriteRequest request,
                                      std::optional<Deadline> /*deadline*/) {
  return BatchWrite(request);
}

Later<TransactWriteReply> Tables::Submit(TransactWriteRequest request,
                                         std::optional<Deadline> /*deadline*/) {
  return TransactWrite(request);
}

}  // namespace tidemark::tables
