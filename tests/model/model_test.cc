// Compares the engine with the model: both get the same random operations. Every reply is compared,
// and from time to time everything that is stored.
//
// TIDEMARK_SEED=n replays a run. TIDEMARK_LONG=1 makes the long run for a release.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/model/model_tables.h"
#include "tests/model/operations.h"
#include "tests/support/long_run.h"
#include "tests/support/manual_time.h"
#include "tests/support/seed.h"
#include "tests/support/temp_folder.h"

namespace tidemark::model {
namespace {

using embedded::EmbeddedTables;

class ModelTest : public ::testing::Test {
 protected:
  ModelTest() : seed_(testing::ChooseSeed()), operations_(seed_, clock_) {
    Open();
    model_side_ = {.tables = &model_, .maintain = [this] { model_.Maintain(); }};
    engine_side_.maintain = [this] { ASSERT_TRUE(engine_->Maintain().has_value()); };
    CreateTables(model_);
    CreateTables(*engine_);
  }

  void Open() {
    auto opened = EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                        .durability = embedded::Durability::kEverySecond,
                                        .background = false,
                                        .clock = &clock_,
                                        .random = &random_});
    CHECK(opened.has_value());
    engine_ = std::move(*opened);
    engine_side_.tables = engine_.get();
  }

  // Between operations, time passes and the engine is reopened.
  void Surroundings() {
    if (operations_.Below(30) == 0)
      clock_.Advance(std::chrono::seconds(1 + operations_.Below(120)));
    if (operations_.Below(2'000) == 0)
      clock_.Advance(std::chrono::hours(1 + operations_.Below(30)));
    if (operations_.Below(5'000) == 0) {
      engine_.reset();
      Open();
    }
  }

  ::testing::AssertionResult Agree(const Operation& operation) {
    const std::string expected = operation.run(model_side_);
    const std::string actual = operation.run(engine_side_);
    if (expected == actual) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "seed " << seed_ << "\noperation: " << operation.text
                                         << "\nmodel:  " << expected << "\nengine: " << actual;
  }

  ::testing::AssertionResult EngineIsWhole() {
    const auto report = engine_->Verify();
    if (!report) return ::testing::AssertionFailure() << report.error().message;
    if (report->problems.empty()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "seed " << seed_ << ": " << report->problems.front();
  }

  const uint64_t seed_;
  ManualClock clock_;
  SeededRandom random_{seed_};
  TempFolder folder_;
  ModelTables model_{clock_};
  std::unique_ptr<EmbeddedTables> engine_;
  Side model_side_;
  Side engine_side_;
  Operations operations_;
};

TEST_F(ModelTest, TheEngineAnswersAsTheModelDoes) {
  const int count = testing::AmountOf({.usual = 100'000, .release = 10'000'000, .debug = 5'000});
  for (int number = 0; number < count; ++number) {
    Surroundings();
    ASSERT_TRUE(Agree(operations_.Next())) << "operation number " << number;
    if (number % 500 == 499) {
      ASSERT_TRUE(Agree(Operations::Everything())) << "after operation number " << number;
    }
    if (number % 20'000 == 19'999) {
      ASSERT_TRUE(EngineIsWhole()) << "after " << number;
    }
  }
  ASSERT_TRUE(Agree(Operations::Everything()));
  ASSERT_TRUE(EngineIsWhole());
}

}  // namespace
}  // namespace tidemark::model
