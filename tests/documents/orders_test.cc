// Runs writers, readers, event handlers and settlers in every order of their calls to the stores,
// with lost replies at any place; and long random runs with more of them. Every answer is checked
// against the history of the objects.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/documents/simulation.h"
#include "tests/documents/write_world.h"
#include "tests/support/long_run.h"
#include "tests/support/schedule.h"

namespace tidemark::documents {
namespace {

using testing::Explore;
using testing::Sample;
using testing::Schedule;

// ---- Every order ----

// A world that may switch to another actor at each call to a store. A limited number of replies to
// writes may be lost. An actor that meets another writer does not wait for it; otherwise the number
// of orders would be infinite.
class OrderedWorld : public WriteWorld {
 public:
  OrderedWorld(Schedule* schedule, size_t lost_replies)
      : schedule_(*schedule), lost_(lost_replies) {
    CHECK(Write({.title = "v0"}).has_value());
    tables.decide = [this](testing::Operation operation) -> std::optional<testing::Fault> {
      if (AtCall(testing::Writes(operation))) return testing::LostReply();
      return std::nullopt;
    };
    objects.decide =
        [this](testing::ObjectOperation operation) -> std::optional<testing::ObjectFault> {
      const bool writes = operation == testing::ObjectOperation::kPut ||
                          operation == testing::ObjectOperation::kDelete;
      if (AtCall(writes)) return testing::ObjectReplyLost();
      return std::nullopt;
    };
  }

  std::function<void()> Writer(const std::string& title) {
    return [this, title] {
      const Context impatient{.deadline = Deadline::After(clock, std::chrono::milliseconds(1))};
      wrote_ = writer.Write(impatient, {.document = DocumentOf({.title = title})}).has_value();
    };
  }
  std::function<void()> Syncer() {
    return [this] { (void)synchronizer.Sync(NewContext(), {.id = kId}); };
  }
  std::function<void()> Uploader(const std::string& title) {
    return [this, title] {
      schedule_.Step();
      Upload({.title = title});
      Syncer()();
    };
  }
  // Reads twice. The second answer must not be older than the first.
  std::function<void()> Reader(const std::vector<std::string>& titles) {
    return [this, titles] {
      size_t newest = 0;
      for (int i = 0; i < 2; ++i) {
        const auto read = Read(kId);
        ASSERT_TRUE(read && *read);
        const std::string title = std::get<Change>((*read)->document.details()).title;
        const auto found = std::find(titles.begin(), titles.end(), title);
        ASSERT_NE(found, titles.end()) << title;
        ASSERT_GE(static_cast<size_t>(found - titles.begin()), newest) << title << " is older";
        newest = static_cast<size_t>(found - titles.begin());
      }
    };
  }
  bool wrote() const { return wrote_; }
  // Called when all actors have ended.
  void Finish() {
    scheduled_ = false;
    PassLease();
    ASSERT_TRUE(IsFound(kId));
    EXPECT_TRUE(IsEqual(kId));
  }

 private:
  bool AtCall(bool writes) {
    if (!scheduled_) return false;
    schedule_.Step();
    if (!writes || lost_ == 0 || schedule_.Choose(2) == 0) return false;
    --lost_;
    return true;
  }

  Schedule& schedule_;
  size_t lost_;
  bool scheduled_ = true;
  bool wrote_ = false;
};

// For scenarios with hundreds of thousands of orders. A usual run tries some of them; a long run,
// before a release, tries all, which takes minutes.
void TryOrders(uint64_t seed, const std::function<void(Schedule&)>& scenario) {
  if (testing::AmountOf({.usual = 0, .release = 1}) == 0) return Sample(300, seed, scenario);
  EXPECT_GT(Explore(1'000'000, scenario), 100U);
}

class DocumentOrdersTest : public ::testing::TestWithParam<size_t> {};

// The row is behind the object: the writer is refused while the event is being handled.
TEST_P(DocumentOrdersTest, AWriterBesideAnEvent) {
  TryOrders(GetParam(), [](Schedule& schedule) {
    OrderedWorld world(&schedule, GetParam());
    world.Upload({.title = "v1"});
    schedule.Run({world.Writer("v2"), world.Syncer()});
    world.Finish();
  });
}

TEST_P(DocumentOrdersTest, AReaderBesideAWriter) {
  const size_t runs = Explore(10'000, [](Schedule& schedule) {
    OrderedWorld world(&schedule, GetParam());
    schedule.Run({world.Writer("v1"), world.Reader({"v0", "v1"})});
    world.Finish();
    if (world.wrote()) {
      EXPECT_EQ(world.ObjectOf(kId), JsonOf({.title = "v1"}));
    }
  });
  EXPECT_GT(runs, 10U);
}

INSTANTIATE_TEST_SUITE_P(LostReplies, DocumentOrdersTest, ::testing::Values(0, 1, 2));

// Both want the same row: one is first, and the other overwrites it or is refused.
TEST(DocumentOrdersOfTwoTest, TwoWriters) {
  const size_t runs = Explore(10'000, [](Schedule& schedule) {
    OrderedWorld world(&schedule, 0);
    schedule.Run({world.Writer("v1"), world.Writer("v2")});
    world.Finish();
  });
  EXPECT_GT(runs, 10U);
}

TEST(DocumentOrdersOfTwoTest, AWriterBesideAnUploadAndItsEvent) {
  TryOrders(1, [](Schedule& schedule) {
    OrderedWorld world(&schedule, 0);
    schedule.Run({world.Writer("v1"), world.Uploader("v2")});
    world.Finish();
  });
}

// ---- Random runs ----

void RunMany(uint64_t runs, bool outsiders) {
  Simulation::Counts all;
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulation simulation({.seed = seed, .outsiders = outsiders});
    simulation.Run(30);
    all.written += simulation.counts().written;
    all.hits += simulation.counts().hits;
    all.complete_ranges += simulation.counts().complete_ranges;
    all.marks += simulation.counts().marks;
    all.deaths += simulation.counts().deaths;
    all.unknown += simulation.counts().unknown;
    all.refused += simulation.counts().refused;
    if (::testing::Test::HasFailure()) return;
  }
  // A run in which nothing happens would prove nothing.
  EXPECT_GT(all.written, runs * 5);
  EXPECT_GT(all.hits, runs);
  EXPECT_GT(all.complete_ranges, runs);
  EXPECT_GT(all.marks, runs / 2);
  EXPECT_GT(all.deaths, runs);
  EXPECT_GT(all.unknown, 0U);
  EXPECT_GT(all.refused, 0U);
}

// After crashes of our own processes, rows and objects become equal again: the intents and notes
// are enough for that.
TEST(DocumentRunsTest, OurOwnWritesConverge) {
  RunMany(static_cast<uint64_t>(testing::AmountOf({.usual = 40, .release = 10'000})), false);
}

// With uploads that bypass the cache, lost and late events, and requests that arrive late.
TEST(DocumentRunsTest, NoVersionGoesBackAndNoneIsInvented) {
  RunMany(static_cast<uint64_t>(testing::AmountOf({.usual = 40, .release = 10'000})), true);
}

}  // namespace
}  // namespace tidemark::documents
