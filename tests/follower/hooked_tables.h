// HookedTables passes every call on to other tables. A test can replace single calls: to lose a
// reply, to refuse a write, or to return an expired iterator.
//
// Set the hooks while no call is running.
#pragma once

#include <functional>

#include "tests/support/forwarding_tables.h"

namespace tidemark::testing {

class HookedTables final : public ForwardingTables {
 public:
  using ForwardingTables::ForwardingTables;

  // Called instead of inner().Put and inner().GetRecords, when set.
  std::function<Result<tables::WriteReply>(const tables::PutRequest&)> on_put;
  std::function<Result<tables::RecordsReply>(const tables::RecordsRequest&)> on_records;

  Result<tables::WriteReply> Put(const tables::PutRequest& request) override {
    return on_put ? on_put(request) : inner().Put(request);
  }
  Result<tables::RecordsReply> GetRecords(const tables::RecordsRequest& request) override {
    return on_records ? on_records(request) : inner().GetRecords(request);
  }
};

}  // namespace tidemark::testing
