// A store that answers only a part of what it was asked for, as DynamoDB does when it throttles.
#include <gtest/gtest.h>

#include "apps/gate/cache_rows.h"
#include "tests/model/model_tables.h"
#include "tests/support/forwarding_tables.h"

namespace tidemark::gate {

using namespace tables;

// Reads nothing of a batch, and says so.
class PartialTables final : public testing::ForwardingTables {
 public:
  using ForwardingTables::ForwardingTables;

  Result<BatchGetReply> BatchGet(const BatchGetRequest& request) override {
    return BatchGetReply{.unprocessed = request.tables};
  }
};

// A generation that was not read may have been raised: it must not be taken for none.
TEST(PartialReadTest, WhatWasNotReadIsNotTakenForAbsent) {
  ManualClock clock;
  model::ModelTables model(clock);
  PartialTables tables(&model);
  CacheRows rows("cache", &tables, &clock);
  EXPECT_EQ(rows.Read({"generation#U1"}).error().code, ErrorCode::kUnavailable);
}

}  // namespace tidemark::gate
