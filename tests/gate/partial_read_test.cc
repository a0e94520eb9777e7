// A store that returns only some of the rows of a batch, as DynamoDB does when it throttles.
#include <gtest/gtest.h>

#include "apps/gate/cache_rows.h"
#include "tests/model/model_tables.h"
#include "tests/support/forwarding_tables.h"
#include "tests/support/manual_time.h"

namespace tidemark::gate {

using namespace tables;

// Returns no row of a batch, and reports all of them as unprocessed.
class PartialTables final : public testing::ForwardingTables {
 public:
  using ForwardingTables::ForwardingTables;

  Result<BatchGetReply> BatchGet(const BatchGetRequest& request) override {
    return BatchGetReply{.unprocessed = request.tables};
  }
};

// A generation that was not read may have been raised, so it must not be treated as absent.
TEST(PartialReadTest, AnUnreadRowIsNotTreatedAsAbsent) {
  ManualClock clock;
  model::ModelTables model(clock);
  PartialTables tables(&model);
  CacheRows rows("cache", &tables, &clock);
  EXPECT_EQ(rows.Read({"generation#U1"}).error().code, ErrorCode::kUnavailable);
}

}  // namespace tidemark::gate
