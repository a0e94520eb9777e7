// Writers, readers, events and those who settle, in every order in which their calls to the stores
// can come, with replies that are lost anywhere; and long random runs of more of them. What
// everybody is told is checked against what the objects have held.
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

const std::string kId = "CHG-2025-001";

// ---- Every order ----

// A world whose actors change over at each call to a store. Replies of writes may be lost, so
// many; who finds somebody else at work does not wait, or there would be no end to the orders.
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
  // Twice: the second is never older than the first.
  std::function<void()> Reader(const std::vector<std::string>& titles) {
    return [this, titles] {
      size_t newest = 0;
      for (int i = 0; i < 2; ++i) {
        const auto read = Read(kId);
        ASSERT_TRUE(read.has_value()) << read.error().message;
        const std::string title = std::get<Change>(read->document.details()).title;
        const auto found = std::find(titles.begin(), titles.end(), title);
        ASSERT_NE(found, titles.end()) << title;
        ASSERT_GE(static_cast<size_t>(found - titles.begin()), newest) << title << " is older";
        newest = static_cast<size_t>(found - titles.begin());
      }
    };
  }
  bool wrote() const { return wrote_; }
  // Once nobody runs any more.
  void Finish() {
    scheduled_ = false;
    PassLease();
    ASSERT_TRUE(Read(kId).has_value());
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

// For orders of which there are hundreds of thousands: some of them on every day, and all before a
// release, which takes minutes.
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

// Both want the same row: one comes first, and the other over it or not at all.
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
    all.deaths += simulation.counts().deaths;
    all.unknown += simulation.counts().unknown;
    all.refused += simulation.counts().refused;
    if (::testing::Test::HasFailure()) return;
  }
  // Runs in which nothing happens prove nothing.
  EXPECT_GT(all.written, runs * 5);
  EXPECT_GT(all.hits, runs);
  EXPECT_GT(all.deaths, runs);
  EXPECT_GT(all.unknown, 0U);
  EXPECT_GT(all.refused, 0U);
}

// Whatever our own processes leave behind brings itself together: the intents and the notes say
// enough.
TEST(DocumentRunsTest, OurOwnWritesComeTogetherByThemselves) {
  RunMany(static_cast<uint64_t>(testing::AmountOf({.usual = 40, .release = 10'000})), false);
}

// With uploads past the cache, lost and late events, and requests that arrive late.
TEST(DocumentRunsTest, WhateverOthersDoNothingGoesBackAndNothingIsInvented) {
  RunMany(static_cast<uint64_t>(testing::AmountOf({.usual = 40, .release = 10'000})), true);
}

}  // namespace
}  // namespace tidemark::documents
