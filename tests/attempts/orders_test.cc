// Runs two or three processes in every order of their calls to the store, with lost replies and
// dying processes; and long random runs with more processes and with clocks that differ. All
// answers are checked as a history.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/attempts/history.h"
#include "tests/attempts/stage.h"
#include "tests/support/long_run.h"
#include "tests/support/manual_time.h"
#include "tests/support/offset_clock.h"
#include "tests/support/schedule.h"

namespace tidemark::attempts {
namespace {

using namespace std::chrono_literals;
using testing::Explore;
using testing::Operation;
using testing::Schedule;

constexpr char kLongOnly[] = "TIDEMARK_LONG=1 has time for it";
bool HasTime() { return testing::AmountOf({.usual = 0, .release = 1}) == 1; }

Policy PolicyOf(int limit, int lock_seconds = 900) {
  return *Policy::Parse(R"({"journeys": ["SIGN_IN"], "counts": ["ERROR_COUNT"],
      "classifiers": ["PASSWORD_ENTRY"], "lock_seconds": {"STANDARD": )" +
                        std::to_string(lock_seconds) + R"(},
      "ceiling": 999999,
      "rules": [{"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "PASSWORD_ENTRY",
                 "limit": )" +
                        std::to_string(limit) + "}]}");
}

// A process with a clock of its own over the common store. It records the answers that it gets.
class Process {
 public:
  struct World {
    ManualClock* clock;
    AccountTable* table;
    History* history;
  };
  Process(World world, const Policy& policy, std::string name, std::chrono::seconds offset = 0s)
      : world_(world),
        name_(std::move(name)),
        clock_(world.clock, offset),
        random_(std::hash<std::string>()(name_)),
        own_(&clock_, &random_),
        attempts_(policy, world.table, own_.runtime()) {}

  // The id, when a slot was given.
  std::optional<std::string> Start() {
    const std::string id = name_ + "-" + std::to_string(++last_id_);
    const size_t began = world_.history->Begin();
    const ReserveRequest request{.subject = person_, .name = kPassword, .attempt_id = id};
    auto decision = ReserveNow(attempts_, request);
    // A caller that gets an error asks again with the same id.
    if (!decision) decision = ReserveNow(attempts_, request);
    if (!decision || decision->verdict != Verdict::kPermitted) return std::nullopt;
    world_.history->Add({.id = id, .at = Now(), .began = began});
    return id;
  }
  void Settle(const std::string& id, bool right) {
    const size_t began = world_.history->Begin();
    if (right) {
      world_.history->Add({.kind = EventKind::kRight, .id = id, .at = Now(), .began = began});
    }
    const auto reply = SettleNow(
        attempts_, {.subject = person_, .name = kPassword, .attempt_id = id, .right = right});
    if (!reply || !reply->known) return;
    world_.history->Add({.kind = EventKind::kSettled,
                         .id = id,
                         .at = Now(),
                         .began = began,
                         .right = reply->right,
                         .reached = reply->decision.just_reached});
  }
  void Look() {
    const size_t began = world_.history->Begin();
    const auto locks = attempts_.Locks(person_);
    if (!locks) return;
    EXPECT_LE(locks->size(), 1u);
    Event seen{.kind = EventKind::kNoLockSeen, .at = Now(), .began = began};
    if (!locks->empty()) {
      seen.kind = EventKind::kLockSeen;
      seen.until = locks->front().until;
    }
    world_.history->Add(seen);
  }
  Attempts& attempts() { return attempts_; }

 private:
  EpochSeconds Now() const { return world_.clock->NowSeconds(); }

  World world_;
  std::string name_;
  testing::OffsetClock clock_;
  SeededRandom random_;
  OwnRuntime own_;
  Attempts attempts_;
  Subject person_ = SubjectOf("subject-a");
  int last_id_ = 0;
};

// ---- Every order ----

class OrderedWorld {
 public:
  OrderedWorld(Schedule* schedule, int limit, size_t lost_replies)
      : policy_(PolicyOf(limit)), lost_(lost_replies), schedule_(*schedule) {
    Add("setup");
    CHECK(table_.Create().has_value());
    tables_.decide = [this](Operation operation) { return AtCall(operation); };
  }

  Process& Add(const std::string& name, std::chrono::seconds offset = 0s) {
    processes_.push_back(std::make_unique<Process>(Process::World{&clock, &table_, &history},
                                                   policy_, name, offset));
    return *processes_.back();
  }
  // After all processes have ended.
  void Finish(size_t limit) {
    scheduled = false;
    processes_.front()->Look();
    EXPECT_EQ(FindViolation(history, {.most = limit}), std::nullopt);
  }

  ManualClock clock;
  History history;
  bool scheduled = true;  // False while the test prepares the account.

 private:
  std::optional<testing::Fault> AtCall(Operation operation) {
    if (!scheduled) return std::nullopt;
    schedule_.Step();
    if (!testing::Writes(operation) || lost_ == 0 || schedule_.Choose(2) == 0) return std::nullopt;
    --lost_;
    return testing::LostReply();
  }

  const Policy policy_;
  size_t lost_;
  Schedule& schedule_;
  model::ModelTables model_{clock};
  testing::FaultyTables tables_{&model_};
  AccountTable table_{kDefaultTable, &tables_};
  std::vector<std::unique_ptr<Process>> processes_;
};

class OrdersTest : public ::testing::TestWithParam<size_t> {};

// Both read "no failure yet" at the same time.
TEST_P(OrdersTest, TwoGuessersOneSlot) {
  if (GetParam() > 1 && !HasTime()) GTEST_SKIP() << kLongOnly;
  const size_t runs = Explore(200'000, [](Schedule& schedule) {
    OrderedWorld world(&schedule, 1, GetParam());
    const auto guesser = [](Process* process) {
      return [process] {
        if (const auto id = process->Start()) process->Settle(*id, false);
      };
    };
    schedule.Run({guesser(&world.Add("a")), guesser(&world.Add("b", 20s))});
    world.Finish(1);
    EXPECT_EQ(world.history.events().back().kind, EventKind::kLockSeen);
  });
  EXPECT_GT(runs, 100u);
}

// One process dies after it took a slot; the other one comes after the verification deadline.
TEST_P(OrdersTest, AProcessDiesAndAnotherBooksItsSlot) {
  if (GetParam() > 0 && !HasTime()) GTEST_SKIP() << kLongOnly;
  Explore(200'000, [](Schedule& schedule) {
    OrderedWorld world(&schedule, 1, GetParam());
    Process& dies = world.Add("a");
    Process& next = world.Add("b");
    schedule.Run({[&] {
                    const auto id = dies.Start();
                    world.clock.Advance(62s);
                    // The process may not be dead: it may settle the attempt after it was booked.
                    if (id && schedule.Choose(2) == 1) dies.Settle(*id, schedule.Choose(2) == 1);
                  },
                  [&] {
                    if (const auto id = next.Start()) next.Settle(*id, false);
                    next.Look();
                  }});
    world.Finish(1);
  });
}

// A settle that is repeated while others change the account.
class RepeatsTest : public OrdersTest {};

TEST_P(RepeatsTest, ASettleIsRepeatedBesideAnother) {
  if (!HasTime()) GTEST_SKIP() << kLongOnly;
  Explore(1'000'000, [](Schedule& schedule) {
    OrderedWorld world(&schedule, 2, GetParam());
    Process& left = world.Add("a");
    Process& right = world.Add("b");
    schedule.Run({[&] {
                    const auto id = left.Start();
                    if (!id) return;
                    left.Settle(*id, false);
                    left.Settle(*id, false);
                  },
                  [&] {
                    if (const auto id = right.Start()) right.Settle(*id, false);
                  }});
    world.Finish(2);
  });
}

// Three at once for two slots, then three at once with the failure that sets the lock.
TEST(ThreeAtOnceTest, ThreeGuessersTwoSlots) {
  if (!HasTime()) GTEST_SKIP() << kLongOnly;
  Explore(5'000'000, [](Schedule& schedule) {
    OrderedWorld world(&schedule, 2, 0);
    const auto guesser = [](Process* process) { return [process] { process->Start(); }; };
    schedule.Run(
        {guesser(&world.Add("a")), guesser(&world.Add("b", -15s)), guesser(&world.Add("c", 20s))});
    world.Finish(2);
  });
}

TEST(ThreeAtOnceTest, ThreeFailuresAtOnceSetOneLock) {
  if (!HasTime()) GTEST_SKIP() << kLongOnly;
  Explore(5'000'000, [](Schedule& schedule) {
    OrderedWorld world(&schedule, 3, 0);
    std::vector<std::function<void()>> actors;
    world.scheduled = false;
    for (const char* name : {"a", "b", "c"}) {
      Process& process = world.Add(name);
      actors.emplace_back([&process, id = *process.Start()] { process.Settle(id, false); });
    }
    world.scheduled = true;
    schedule.Run(std::move(actors));
    world.Finish(3);
    EXPECT_EQ(world.history.events().back().kind, EventKind::kLockSeen);
  });
}

INSTANTIATE_TEST_SUITE_P(LostReplies, OrdersTest, ::testing::Values(0, 1, 2));
INSTANTIATE_TEST_SUITE_P(LostReplies, RepeatsTest, ::testing::Values(0, 1));

// ---- Random runs ----

// Several processes in one thread. At each call to the store, other processes may run complete
// operations first, and inside these again others.
class RandomWorld {
 public:
  static constexpr int kLimit = 3;
  static constexpr int kLockSeconds = 300;
  static constexpr int kSkewSeconds = 20;

  explicit RandomWorld(uint64_t seed) : random_(seed) {
    const Policy policy = PolicyOf(kLimit, kLockSeconds);
    const char* const names[] = {"a", "b", "c", "d"};
    const std::chrono::seconds offsets[] = {0s, 20s, -20s, -7s};
    for (size_t i = 0; i < 4; ++i) {
      processes_.push_back(std::make_unique<Process>(Process::World{&clock_, &table_, &history_},
                                                     policy, names[i], offsets[i]));
    }
    CHECK(table_.Create().has_value());
    tables_.decide = [this](Operation operation) { return AtCall(operation); };
  }

  void Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      DoSomething();
      PassTime();
    }
    // A span of one window's length may touch two windows.
    const Bound bound{.most = 2 * kLimit - 1,
                      .span_seconds = kLockSeconds - 2 * kSkewSeconds,
                      .skew_seconds = kSkewSeconds};
    EXPECT_EQ(FindViolation(history_, bound), std::nullopt);
  }
  // All steps happen within one window.
  void RunWithinAWindow(int steps) {
    for (int i = 0; i < steps; ++i) DoSomething();
    EXPECT_EQ(FindViolation(history_, {.most = kLimit, .skew_seconds = kSkewSeconds}),
              std::nullopt);
  }
  size_t CountOf(EventKind kind) const {
    size_t count = 0;
    for (const Event& event : history_.events()) count += event.kind == kind ? 1 : 0;
    return count;
  }

 private:
  static constexpr int kMaxDepth = 3;

  void DoSomething() {
    Process& process = *processes_[random_.Below(processes_.size())];
    switch (random_.Below(4)) {
      case 0:
        process.Look();
        return;
      case 1:
        // A process settles an open attempt, or settles a closed one again.
        if (!ids_.empty()) process.Settle(std::string(ids_[random_.Below(ids_.size())]), false);
        return;
      default:
        if (const auto id = process.Start()) {
          ids_.push_back(*id);
          // Otherwise it dies here, or settles later.
          if (random_.Below(3) > 0) process.Settle(*id, random_.Below(4) == 0);
        }
    }
  }
  void PassTime() {
    const uint64_t kind = random_.Below(20);
    if (kind < 10) clock_.Advance(std::chrono::seconds(random_.Below(30)));
    if (kind == 10) clock_.Advance(std::chrono::seconds(62));
    if (kind == 11) clock_.Advance(std::chrono::seconds(kLockSeconds));
    if (kind == 12) clock_.Advance(std::chrono::seconds(901));
    if (kind == 13) model_.Maintain();
  }
  std::optional<testing::Fault> AtCall(Operation operation) {
    if (depth_ < kMaxDepth && random_.Below(4) == 0) {
      ++depth_;
      DoSomething();
      --depth_;
    }
    if (!testing::Writes(operation)) return std::nullopt;
    switch (random_.Below(20)) {
      case 0:
        return testing::LostReply();
      case 1:
        return testing::LostRequest();
      case 2:
        return testing::Throttled();
      default:
        return std::nullopt;
    }
  }

  ManualClock clock_;
  model::ModelTables model_{clock_};
  testing::FaultyTables tables_{&model_};
  AccountTable table_{kDefaultTable, &tables_};
  History history_;
  SeededRandom random_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::string> ids_;
  int depth_ = 0;
};

TEST(RandomRunsTest, NeverExceedTheLimit) {
  const auto runs = static_cast<uint64_t>(testing::AmountOf({.usual = 60, .release = 5000}));
  size_t started = 0;
  size_t locked = 0;
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld world(seed);
    world.Run(60);
    started += world.CountOf(EventKind::kStarted);
    locked += world.CountOf(EventKind::kLockSeen);
    if (::testing::Test::HasFailure()) return;
  }
  // A run in which nothing happens would prove nothing.
  EXPECT_GT(started, runs * 5);
  EXPECT_GT(locked, runs);
}

TEST(RandomRunsTest, ReachTheLimitExactlyInOneWindow) {
  const auto runs = static_cast<uint64_t>(testing::AmountOf({.usual = 120, .release = 10'000}));
  size_t locked = 0;
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld world(seed);
    world.RunWithinAWindow(25);
    locked += world.CountOf(EventKind::kLockSeen);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(locked, runs);
}

}  // namespace
}  // namespace tidemark::attempts
