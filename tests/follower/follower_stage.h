// FollowerStage is the fixture of the follower's tests: a table with a stream, in the model or the
// embedded tables, faults that the test injects into calls, and a handler that records the
// delivered changes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tables/embedded/embedded_tables.h"
#include "tables/follower.h"
#include "tables/limits.h"
#include "tests/follower/hooked_tables.h"
#include "tests/model/model_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/process_runtime.h"
#include "tests/support/temp_folder.h"

namespace tidemark::tables {

using Handled = std::vector<std::string>;

inline constexpr int64_t kLeaseSeconds = 30;
inline constexpr char kTable[] = "events";
inline constexpr char kStateTable[] = "tidemark-consumers";

inline Error Unknown() { return {ErrorCode::kUnknown, "the reply was lost"}; }
inline Error Unavailable() { return {ErrorCode::kUnavailable, "try later"}; }

inline std::string IdOf(const StreamRecord& record) {
  return *record.keys.Find("id")->As<std::string>();
}

// The tables under test, and a function that runs their housekeeping.
struct Store {
  std::unique_ptr<Tables> tables;
  std::function<void()> maintain;
};

enum class StoreKind { kModel, kEmbedded };

inline Store OpenModel(const Clock& clock) {
  auto model = std::make_unique<model::ModelTables>(clock);
  auto* tables = model.get();
  return {std::move(model), [tables] { tables->Maintain(); }};
}

inline Store OpenEmbedded(const Clock& clock, const std::string& folder) {
  auto opened =
      embedded::EmbeddedTables::Open({.folder = folder, .background = false, .clock = &clock});
  CHECK(opened.has_value());
  auto* tables = opened->get();
  return {*std::move(opened), [tables] { CHECK(tables->Maintain().has_value()); }};
}

class FollowerStage : public ::testing::TestWithParam<StoreKind> {
 protected:
  FollowerStage()
      : store_(GetParam() == StoreKind::kModel ? OpenModel(clock_)
                                               : OpenEmbedded(clock_, folder_.path() + "/data")),
        tables_(store_.tables.get()) {
    CHECK(tables_.CreateTable({.table = kTable,
                               .keys = {.partition = {.name = "id"}},
                               .stream = StreamView::kNewAndOldImages}));
  }

  Follower Open(FollowerOptions options = {.page = 3}) {
    options.consumer = "reader";
    if (options.table.empty()) options.table = kTable;
    options.lease_seconds = kLeaseSeconds;
    auto follower = Follower::Open(tables_, process_.runtime(), options);
    CHECK(follower.has_value());
    return *std::move(follower);
  }

  // Puts an item under each id: one record each.
  void Put(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
      auto reply = store_.tables->Put(
          {.table = kTable, .item = {{"id", id}, {"n", item::Number::FromInt(next_++)}}});
      ASSERT_TRUE(reply && reply->applied);
    }
  }

  // A handler that records each change.
  Follower::Handler WriteDown() {
    return [this](const StreamRecord& record) -> Status {
      handled_.push_back(IdOf(record));
      return Done{};
    };
  }

  FollowReply Step(Follower& follower) {
    auto reply = follower.Step(WriteDown());
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? *reply : FollowReply{};
  }

  void StepToEnd(Follower& follower) {
    for (int i = 0; i < 100; ++i) {
      FollowReply reply = Step(follower);
      if (!reply.held || reply.caught_up) return;
    }
    FAIL() << "the follower does not come to the end";
  }

  item::Item Row() {
    auto row = store_.tables->Get({.table = kStateTable, .key = {{"consumer", "reader"}}});
    EXPECT_TRUE(row && *row);
    return **row;
  }
  int64_t RowInt(std::string_view name) { return *Row().Find(name)->As<item::Number>()->Floor(); }

  void SetStream(bool enabled) {
    auto reply = tables_.UpdateTable({.table = kTable, .stream = UpdateStream{.enabled = enabled}});
    ASSERT_TRUE(reply) << reply.error().message;
    clock_.Advance(std::chrono::seconds(1));
  }

  void PassRetention() {
    clock_.Advance(kStreamRetention + std::chrono::hours(1));
    store_.maintain();
  }

  // The next `count` puts of the state row are lost, after being applied or not.
  enum class Loss { kApplied, kNotApplied };
  void LosePuts(int count, Loss loss) {
    tables_.on_put = [this, count, loss](const PutRequest& request) mutable -> Result<WriteReply> {
      if (count-- <= 0) return tables_.inner().Put(request);
      if (loss == Loss::kApplied) CHECK(tables_.inner().Put(request).has_value());
      return Unknown();
    };
  }

  TempFolder folder_;
  ManualClock clock_;
  testing::ProcessRuntime process_{clock_, &clock_, 7};
  Store store_;
  testing::HookedTables tables_;
  Handled handled_;
  int64_t next_ = 0;
};

inline std::string NameOfKind(const ::testing::TestParamInfo<StoreKind>& info) {
  return info.param == StoreKind::kModel ? "Model" : "Embedded";
}

}  // namespace tidemark::tables
