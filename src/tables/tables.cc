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

void Tables::Submit(const WriteRequest& request, std::function<void(Result<WriteReply>)> done) {
  done(std::visit(Writer{*this}, request));
}

void Tables::Submit(const TransactWriteRequest& request,
                    std::function<void(Result<TransactWriteReply>)> done) {
  done(TransactWrite(request));
}

}  // namespace tidemark::tables
