// The whole archive with failures of Slack, networks and machines, from seeds.
// TIDEMARK_SEED=7 replays one seed and prints what happened.
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "item/attributes.h"
#include "tests/simulation/simulation.h"
#include "tests/support/long_run.h"
#include "tests/support/manual_time.h"

namespace tidemark::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The seed to replay.
std::optional<uint64_t> WantedSeed() {
  const char* seed = std::getenv("TIDEMARK_SEED");
  return seed != nullptr ? std::optional(std::strtoull(seed, nullptr, 10)) : std::nullopt;
}

// As many runs together meet everything that Sum::ExpectEnough asks for.
constexpr int kEnough = 100;

// What happened in all runs.
struct Sum {
  SimulationReport all;
  size_t excused = 0;
  size_t subjects = 0;

  void Add(const Simulation& simulation) {
    const SimulationReport& report = simulation.report();
    all.deliveries += report.deliveries;
    all.lost += report.lost;
    all.duplicates += report.duplicates;
    all.quarantined += report.quarantined;
    all.deaths += report.deaths;
    all.faults += report.faults;
    all.meetings += report.meetings;
    all.downtimes += report.downtimes;
    for (const auto& [service, times] : report.served) all.served[service] += times;
    const GroundTruth& truth = simulation.truth();
    excused += truth.excused();
    subjects += truth.messages().size() + truth.reactions().size() + truth.channels().size();
  }

  void Print() const {
    std::cout << all.deliveries << " deliveries, " << all.duplicates << " of them duplicates, "
              << all.quarantined << " into quarantine; " << all.deaths << " deaths, " << all.faults
              << " faults, " << all.meetings << " meetings, " << all.downtimes << " downtimes; "
              << all.lost << " events lost, " << excused << " of " << subjects << " excused\n";
  }

  // A run without failures proves nothing, and neither does one in which everything is excused.
  void ExpectEnough() const {
    EXPECT_GT(all.duplicates, 1'000U);
    EXPECT_GT(all.quarantined, 50U);
    EXPECT_GT(all.deaths, 300U);
    EXPECT_GT(all.faults, 1'000U);
    EXPECT_GT(all.meetings, 3'000U);
    EXPECT_GT(all.downtimes, 5U);
    EXPECT_GT(all.lost, 100U);
    EXPECT_THAT(all.served, SizeIs(kServices)) << "of the ways in which a file can be served";
    EXPECT_LT(excused * 6, subjects);
  }
};

void RunOne(uint64_t seed, Sum* sum) {
  Simulation simulation({.seed = seed});
  simulation.Run();
  if (WantedSeed()) std::cout << simulation.story();
  EXPECT_THAT(simulation.FindFaults(), IsEmpty()) << "TIDEMARK_SEED=" << seed << " replays it";
  sum->Add(simulation);
}

TEST(ArchiveSimulationTest, TheArchiveEqualsTheGroundTruth) {
  Sum sum;
  if (const auto wanted = WantedSeed()) return RunOne(*wanted, &sum);
  const auto seeds =
      static_cast<uint64_t>(AmountOf({.usual = kEnough, .release = 4'000, .debug = 12}));
  for (uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) RunOne(seed, &sum);
  sum.Print();
  if (seeds >= uint64_t{kEnough}) sum.ExpectEnough();
}

// Otherwise a failure could not be replayed.
TEST(ArchiveSimulationTest, TheSameSeedGivesTheSameRows) {
  std::string before;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Simulation first({.seed = seed});
    first.Run();
    Simulation second({.seed = seed});
    second.Run();
    EXPECT_EQ(first.Digest(), second.Digest()) << "seed " << seed;
    EXPECT_EQ(first.story(), second.story()) << "seed " << seed;
    EXPECT_NE(first.Digest(), before);
    before = first.Digest();
  }
}

// ---- The comparison notices what is wrong ----

class ComparisonTest : public ::testing::Test {
 protected:
  ComparisonTest() {
    simulation_.Run();
    EXPECT_THAT(simulation_.FindFaults(), IsEmpty());
  }

  // The first row of the archive whose attribute has this value.
  item::Item Find(std::string_view attribute, const item::Value& value) {
    const tables::Page page =
        simulation_.tables().Scan({.table = "SlackArchive", .consistent = true}).value();
    for (const item::Item& row : page.items) {
      const item::Value* found = row.Find(attribute);
      if (found != nullptr && *found == value) return row;
    }
    ADD_FAILURE() << "no row has such a " << attribute;
    return {};
  }
  std::vector<item::Item> AllOfType(std::string_view type) {
    std::vector<item::Item> rows =
        simulation_.tables().Scan({.table = "SlackArchive", .consistent = true}).value().items;
    std::erase_if(rows, [&](const item::Item& row) { return item::TextIn(row, "type") != type; });
    return rows;
  }
  item::Item FindOfType(const char* type) { return Find("type", item::Value(type)); }
  void Put(const item::Item& row) {
    ASSERT_TRUE(simulation_.tables().Put({.table = "SlackArchive", .item = row}));
  }
  void Delete(const item::Item& row) {
    const item::Item key = {{"itemId", *row.Find("itemId")}, {"timestamp", *row.Find("timestamp")}};
    ASSERT_TRUE(simulation_.tables().Delete({.table = "SlackArchive", .key = key}));
  }
  void ExpectFault(const char* part) {
    EXPECT_THAT(simulation_.FindFaults(), Contains(HasSubstr(part)));
  }

  // A run in which nothing is lost.
  Simulation simulation_{{.seed = 1}};
};

TEST_F(ComparisonTest, OfTexts) {
  item::Item row = FindOfType("message");
  row.Set("text", "something else");
  Put(row);
  ExpectFault("something else");
}

TEST_F(ComparisonTest, OfVersions) {
  Delete(FindOfType("version"));
  ExpectFault("versions");
}

TEST_F(ComparisonTest, OfMessagesThatAreMissing) {
  Delete(FindOfType("message"));
  ExpectFault("is missing");
}

TEST_F(ComparisonTest, OfMessagesThatNeverWere) {
  item::Item row = FindOfType("message");
  row.Set("timestamp", "1700000000.000001");
  Put(row);
  ExpectFault("never was");
}

TEST_F(ComparisonTest, OfDeletions) {
  item::Item row = Find("deleted", item::Value(true));
  row.Erase("deleted");
  Put(row);
  ExpectFault("deleted");
}

TEST_F(ComparisonTest, OfFalse) {
  item::Item row = FindOfType("channel");
  row.Set("archived", false);
  Put(row);
  ExpectFault("says false");
}

// In all rows: what is said of one channel may be excused.
TEST_F(ComparisonTest, OfChannels) {
  for (item::Item& row : AllOfType("channel")) {
    row.Set("topic", "another");
    Put(row);
  }
  ExpectFault("topic");
}

TEST_F(ComparisonTest, OfTheIndex) {
  Delete(FindOfType("channelindex"));
  ExpectFault("is not in the index");
}

TEST_F(ComparisonTest, OfReactions) {
  for (const item::Item& row : AllOfType("reaction")) Delete(row);
  ExpectFault("reaction");
}

TEST_F(ComparisonTest, OfThreads) {
  item::Item row = FindOfType("message");
  row.Set("parent", "thread#T1#1700000000.000001");
  row.Set("thread_ts", "1700000000.000001");
  Put(row);
  ExpectFault("thread");
}

TEST_F(ComparisonTest, OfTheBytesOfFiles) {
  const objects::ListReply list = simulation_.objects().List({}).value();
  ASSERT_FALSE(list.objects.empty());
  ASSERT_TRUE(simulation_.objects().Put({.key = list.objects[0].key, .bytes = "<html>"}));
  ExpectFault("wrong bytes");
}

TEST_F(ComparisonTest, OfTheToken) {
  item::Item row = FindOfType("message");
  row.Set("raw_event", kBotToken);
  Put(row);
  ExpectFault("token");
}

TEST_F(ComparisonTest, OfLossesWithoutReason) {
  item::Item row = FindOfType("message");
  const std::string team = *row.Find("team_id")->As<std::string>();
  Put({{"itemId", "meta#" + team + "#coverage"},
       {"timestamp", "1700000100.000000#lost"},
       {"type", "coverage"},
       {"kind", "lost"},
       {"from", "1700000100.000000"},
       {"to", "1700000200.000000"},
       {"reason", "the server was not running"}});
  ExpectFault("that was none");
}

// Requests to hosts that must not be asked are found.
TEST(FileHostTest, FindsATokenThatIsSentToAnotherHost) {
  FileHost host(1);
  ManualClock clock;
  const auto deadline = Deadline::After(clock, std::chrono::seconds(1));
  host.Send({.url = "https://files.slack.com/files-pri/F1/x",
             .headers = {{"Authorization", std::string("Bearer ") + kBotToken}}},
            deadline);
  EXPECT_THAT(host.faults(), IsEmpty());
  host.Send({.url = "https://files.slack.com.harbour.example/F1/x",
             .headers = {{"Authorization", std::string("Bearer ") + kBotToken}}},
            deadline);
  EXPECT_THAT(host.faults(), Contains(HasSubstr("with the token")));
}

}  // namespace
}  // namespace tidemark::testing
