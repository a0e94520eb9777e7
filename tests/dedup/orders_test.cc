// Runs two or three actors in every order of their calls to the store, with lost replies at any
// place.
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/dedup/stage.h"
#include "tests/support/long_run.h"
#include "tests/support/manual_time.h"
#include "tests/support/process_runtime.h"
#include "tests/support/schedule.h"

namespace tidemark::dedup {
namespace {

using namespace std::chrono_literals;
using testing::Explore;
using testing::Operation;
using testing::Schedule;

// One world for each run: actors with their own claims over one store. They switch at its calls.
class World {
 public:
  World(Schedule* schedule, size_t lost_replies) : schedule_(*schedule), lost_(lost_replies) {
    CHECK(Actor().CreateTable().has_value());
    tables_.decide = [this](Operation operation) { return AtCall(operation); };
  }

  // Claims with their own sequence of nonces.
  Claims& Actor() {
    actors_.push_back(std::make_unique<ActorClaims>(this, actors_.size()));
    return actors_.back()->claims;
  }

  // Records the answers and checks the invariants at each one.
  std::optional<Claim> Take(Claims* claims, const std::vector<std::string>& keys) {
    const auto reply = claims->Take({.keys = keys});
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    if (!reply || reply->outcome != ClaimOutcome::kNew) {
      return std::nullopt;
    }
    for (const std::string& key : keys) {
      EXPECT_TRUE(holders_.emplace(key, reply->claim->generation).second)
          << "two hold generation " << reply->claim->generation << " of " << key;
      EXPECT_FALSE(done_.contains(key)) << key << " was done";
    }
    return reply->claim;
  }
  bool Complete(Claims* claims, const Claim& claim) {
    const auto outcome = claims->Complete(claim);
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
    if (!outcome || *outcome != SettleOutcome::kSettled) return false;
    for (const std::string& key : claim.keys) {
      EXPECT_TRUE(done_.insert(key).second) << key << " was completed twice";
    }
    ++completions;
    return true;
  }

  // Moves the wall clock only, which leases use: no deadline passes.
  void PassLease() { clock.SetNow(clock.NowSeconds() + 63); }

  Row Stored(const std::string& key) {
    const auto item =
        *model_.Get({.table = std::string(kDefaultTable), .key = item::Item{{"event_key", key}}});
    return item ? DecodeRow(*item) : Row{};
  }

  ManualClock clock;
  int completions = 0;

 private:
  struct ActorClaims {
    ActorClaims(World* world, uint64_t seed)
        : process(world->clock, &world->clock, seed),
          claims({.retry = {.max_retries = 6, .first_wait = 1ms, .longest_wait = 1ms}},
                 &world->tables_, process.runtime()) {}
    testing::ProcessRuntime process;
    Claims claims;
  };

  std::optional<testing::Fault> AtCall(Operation operation) {
    schedule_.Step();
    if (!testing::Writes(operation) || lost_ == 0 || schedule_.Choose(2) == 0) return std::nullopt;
    --lost_;
    return testing::LostReply();
  }

  Schedule& schedule_;
  size_t lost_;
  model::ModelTables model_{clock};
  testing::FaultyTables tables_{&model_};
  std::vector<std::unique_ptr<ActorClaims>> actors_;
  std::set<std::pair<std::string, int64_t>> holders_;
  std::set<std::string> done_;
};

class OrdersTest : public ::testing::TestWithParam<size_t> {};

// Two deliveries at once: one gets the claim, the other gets kRunning.
TEST_P(OrdersTest, TwoClaimersOneKey) {
  const size_t runs = Explore(100'000, [](Schedule& schedule) {
    World world(&schedule, GetParam());
    const auto actor = [&world](Claims* claims) {
      return [&world, claims] {
        if (const auto claim = world.Take(claims, {"k"})) {
          EXPECT_TRUE(world.Complete(claims, *claim));
        }
      };
    };
    schedule.Run({actor(&world.Actor()), actor(&world.Actor())});
    EXPECT_EQ(world.completions, 1);
    EXPECT_EQ(world.Stored("k").status, RowStatus::kDone);
  });
  EXPECT_GT(runs, 5u);
}

// Three at once.
TEST_P(OrdersTest, ThreeClaimersOneKey) {
  const auto most = static_cast<size_t>(testing::AmountOf({.usual = 0, .release = 2}));
  if (GetParam() > most) GTEST_SKIP() << "TIDEMARK_LONG=1 has time for it";
  Explore(2'000'000, [](Schedule& schedule) {
    World world(&schedule, GetParam());
    const auto actor = [&world](Claims* claims) {
      return [&world, claims] {
        if (const auto claim = world.Take(claims, {"k"})) {
          EXPECT_TRUE(world.Complete(claims, *claim));
        }
      };
    };
    schedule.Run({actor(&world.Actor()), actor(&world.Actor()), actor(&world.Actor())});
    EXPECT_EQ(world.completions, 1);
  });
}

// The owner's lease ends at any moment of its work, and another process may take over.
TEST_P(OrdersTest, ALapsedOwnerCompletesWhileAnotherTakesOver) {
  Explore(200'000, [](Schedule& schedule) {
    World world(&schedule, GetParam());
    Claims& owner = world.Actor();
    Claims& taker = world.Actor();
    bool owner_done = false;
    bool taker_done = false;
    schedule.Run({[&] {
                    const auto claim = world.Take(&owner, {"k"});
                    if (!claim) return;
                    world.PassLease();
                    owner_done = world.Complete(&owner, *claim);
                  },
                  [&] {
                    const auto claim = world.Take(&taker, {"k"});
                    if (claim) taker_done = world.Complete(&taker, *claim);
                  }});
    EXPECT_FALSE(owner_done && taker_done);
    EXPECT_EQ(world.completions, (owner_done ? 1 : 0) + (taker_done ? 1 : 0));
    EXPECT_EQ(world.Stored("k").status == RowStatus::kDone, owner_done || taker_done);
  });
}

// Two callers with the same keys in different orders: one must get all of them.
TEST_P(OrdersTest, AliasesInOppositeOrder) {
  Explore(200'000, [](Schedule& schedule) {
    World world(&schedule, GetParam());
    Claims& left = world.Actor();
    Claims& right = world.Actor();
    const auto actor = [&world](Claims* claims, std::vector<std::string> keys) {
      return [&world, claims, keys] {
        if (const auto claim = world.Take(claims, keys)) world.Complete(claims, *claim);
      };
    };
    schedule.Run({actor(&left, {"a", "b"}), actor(&right, {"b", "a"})});
    EXPECT_EQ(world.completions, 1);
    EXPECT_EQ(world.Stored("a").owner, world.Stored("b").owner);
    EXPECT_EQ(world.Stored("a").status, RowStatus::kDone);
    EXPECT_EQ(world.Stored("b").status, RowStatus::kDone);
  });
}

// Of three overlapping pairs of keys no two are claimed at once.
TEST(AliasOrdersTest, OverlappingAliases) {
  Explore(200'000, [](Schedule& schedule) {
    World world(&schedule, 0);
    const auto actor = [&world](Claims* claims, std::vector<std::string> keys) {
      return [&world, claims, keys] { world.Take(claims, keys); };
    };
    schedule.Run({actor(&world.Actor(), {"a", "b"}), actor(&world.Actor(), {"b", "c"}),
                  actor(&world.Actor(), {"c", "a"})});
    int held = 0;
    for (const char* key : {"a", "b", "c"}) held += world.Stored(key).owner.empty() ? 0 : 1;
    EXPECT_EQ(held, 2);
  });
}

// The owner releases late, while another takes over: it releases its own claim or
// nothing.
TEST_P(OrdersTest, ReleaseBesideATakeOver) {
  Explore(200'000, [](Schedule& schedule) {
    World world(&schedule, GetParam());
    Claims& owner = world.Actor();
    Claims& taker = world.Actor();
    std::optional<Claim> taken;
    schedule.Run({[&] {
                    const auto claim = world.Take(&owner, {"k"});
                    if (!claim) return;
                    world.PassLease();
                    EXPECT_TRUE(owner.Release(*claim));
                  },
                  [&] { taken = world.Take(&taker, {"k"}); }});
    const Row row = world.Stored("k");
    if (taken) {
      EXPECT_EQ(row.owner, taken->nonce);
      EXPECT_EQ(row.status, RowStatus::kClaimed);
    }
  });
}

// A renewal and a take-over at the end of the lease: one of them succeeds, never both.
TEST_P(OrdersTest, RenewalBesideATakeOver) {
  Explore(200'000, [](Schedule& schedule) {
    World world(&schedule, GetParam());
    Claims& owner = world.Actor();
    Claims& taker = world.Actor();
    bool renewed = false;
    std::optional<Claim> taken;
    schedule.Run({[&] {
                    auto claim = world.Take(&owner, {"k"});
                    if (!claim) return;
                    world.PassLease();
                    renewed = *owner.Renew(&*claim) == SettleOutcome::kSettled;
                    if (!renewed) return;
                    EXPECT_TRUE(world.Complete(&owner, *claim));
                  },
                  [&] { taken = world.Take(&taker, {"k"}); }});
    EXPECT_FALSE(renewed && taken.has_value());
  });
}

INSTANTIATE_TEST_SUITE_P(LostReplies, OrdersTest, ::testing::Values(0, 1, 2));

// The scheduler itself finds the one order in four that loses an update.
TEST(ScheduleTest, TriesEveryOrder) {
  std::set<int> results;
  const size_t runs = Explore(1000, [&](Schedule& schedule) {
    int value = 0;
    const auto increment = [&] {
      schedule.Step();
      const int read = value;
      schedule.Step();
      value = read + 1;
    };
    schedule.Run({increment, increment});
    results.insert(value);
  });
  EXPECT_EQ(results, (std::set<int>{1, 2}));
  EXPECT_EQ(runs, 20u);  // 6 choose 3: each actor has a beginning and two steps.
}

}  // namespace
}  // namespace tidemark::dedup
