// What the processors report when they cannot do their work.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tables/limits.h"
#include "tests/archive/views_world.h"

namespace tidemark::archive {
namespace {

using ::testing::HasSubstr;

class LagTest : public ::testing::Test {
 protected:
  // With a state whose table is missing, so that every record fails.
  Processors Open(State* state) {
    return Processors({}, {.tables = &world_.archive.tables(),
                           .state = state,
                           .index = &world_.index,
                           .ledger = &world_.ledger,
                           .runtime = {.clock = world_.archive.clock(),
                                       .random = world_.beside.random,
                                       .sleeper = world_.beside.sleeper,
                                       .logger = logger_,
                                       .metrics = metrics_}});
  }

  ViewsWorld world_;
  State no_state_{"missing", &world_.archive.tables()};
  std::ostringstream log_;
  Logger logger_{{}, world_.archive.clock(), &log_};
  Metrics metrics_;
};

// The alarm uses this gauge: it must rise when the work fails, not only when it is slow.
TEST_F(LagTest, RisesWhileAChangeCannotBeHandled) {
  Processors processors = Open(&no_state_);
  world_.archive.Post(Posted("1700000000.000100", "hello"));
  world_.archive.clock().Advance(std::chrono::seconds(400));
  EXPECT_FALSE(processors.StepRows());
  EXPECT_THAT(metrics_.Expose(),
              HasSubstr("tidemark_archive_lag_seconds{processor=\"rows\"} 400\n"));
}

TEST_F(LagTest, AGapIsLoggedAlsoWhenTheNextRecordFails) {
  world_.Tell(Posted("1700000000.000100", "hello"));
  world_.processors.reset();
  world_.archive.Post(Posted("1700000000.000200", "lost"));
  world_.archive.clock().Advance(tables::kStreamRetention + std::chrono::hours(1));
  world_.archive.tables().Maintain();
  world_.archive.Post(Posted("1700000000.000300", "left"));
  EXPECT_FALSE(Open(&no_state_).StepRows());
  EXPECT_THAT(log_.str(),
              HasSubstr("changes of the archive were trimmed before they were handled"));
}

}  // namespace
}  // namespace tidemark::archive
