// What every test of the claims needs: the model of the tables behind a decorator that can fail,
// with a clock that the test moves and waits that take no time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/dedup/claims.h"
#include "base/clock.h"
#include "item/attributes.h"
#include "tests/model/model_tables.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/print_items.h"
#include "tests/support/test_runtime.h"

namespace tidemark::dedup {

inline void PrintTo(ClaimOutcome outcome, std::ostream* out) { *out << ToString(outcome); }

class Stage {
 public:
  explicit Stage(const ClaimsOptions& options = {}) : claims(options, &tables, test.runtime()) {
    CHECK(claims.CreateTable().has_value());
  }

  std::optional<item::Item> Stored(const std::string& key) {
    return *model.Get({.table = claims.options().table, .key = {{"event_key", key}}});
  }
  // The same, but the row must exist.
  item::Item RowOf(const std::string& key) {
    std::optional<item::Item> row = Stored(key);
    EXPECT_TRUE(row.has_value()) << "no row under " << key;
    return row ? *std::move(row) : item::Item();
  }
  // Takes the key, which must be new.
  Claim Taken(const std::string& key) {
    const Result<ClaimReply> reply = claims.Take({.keys = {key}});
    EXPECT_TRUE(reply && reply->outcome == ClaimOutcome::kNew) << key;
    return reply && reply->claim ? *reply->claim : Claim{};
  }
  ClaimOutcome Outcome(const std::string& key) {
    const Result<ClaimReply> reply = claims.Take({.keys = {key}});
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    return reply ? reply->outcome : ClaimOutcome::kRefused;
  }

  testing::TestRuntime test;
  ManualClock& clock = test.clock;
  SeededRandom& random = test.random;
  ManualSleeper& sleeper = test.sleeper;
  model::ModelTables model{clock};
  testing::FaultyTables tables{&model};
  Claims claims;
};

// Returns the faults in order, and then none.
inline testing::Decide First(std::vector<testing::Fault> faults) {
  return [faults,
          next = size_t{0}](testing::Operation operation) mutable -> std::optional<testing::Fault> {
    if (!testing::Writes(operation) || next == faults.size()) return std::nullopt;
    return faults[next++];
  };
}

using item::TextIn;

inline int64_t NumberIn(const item::Item& item, std::string_view name) {
  return item::IntIn(item, name).value_or(-1);
}

}  // namespace tidemark::dedup
