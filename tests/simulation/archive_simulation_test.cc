// The whole archive against everything that Slack, networks and machines do to it, from seeds.
#include <cstdlib>
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulation.h"
#include "tests/support/long_run.h"

namespace tidemark::testing {
namespace {

using ::testing::IsEmpty;

// One seed alone when the environment names it: so a failure is replayed.
uint64_t FirstSeed() {
  const char* seed = std::getenv("TIDEMARK_SEED");
  return seed ? std::strtoull(seed, nullptr, 10) : 1;
}
uint64_t LastSeed(int count) {
  const bool is_replay = std::getenv("TIDEMARK_SEED") != nullptr;
  return is_replay ? FirstSeed() : FirstSeed() + static_cast<uint64_t>(count) - 1;
}

void Add(const SimulationReport& report, SimulationReport* sum) {
  sum->deliveries += report.deliveries;
  sum->acknowledged += report.acknowledged;
  sum->lost += report.lost;
  sum->duplicates += report.duplicates;
  sum->quarantined += report.quarantined;
  sum->deaths += report.deaths;
  sum->faults += report.faults;
  sum->meetings += report.meetings;
  sum->downtimes += report.downtimes;
}

TEST(ArchiveSimulationTest, TheArchiveEqualsTheGroundTruth) {
  SimulationReport sum;
  size_t seeds = 0;
  size_t excused = 0;
  size_t subjects = 0;
  for (uint64_t seed = FirstSeed(); seed <= LastSeed(AmountOf({60, 3000})); ++seed, ++seeds) {
    Simulation simulation({.seed = seed});
    simulation.Run();
    if (std::getenv("TIDEMARK_SEED") != nullptr) std::cout << simulation.story();
    ASSERT_THAT(FindDifferences(simulation), IsEmpty())
        << "TIDEMARK_SEED=" << seed << " replays it";
    Add(simulation.report(), &sum);
    excused += simulation.truth().excused();
    subjects += simulation.truth().messages().size() + simulation.truth().reactions().size() +
                simulation.truth().channels().size();
  }
  std::cout << seeds << " seeds, " << sum.deliveries << " deliveries, " << sum.duplicates
            << " duplicates, " << sum.deaths << " deaths, " << sum.faults << " faults, "
            << sum.meetings << " meetings, " << sum.quarantined << " quarantined, " << sum.lost
            << " lost, " << sum.downtimes << " downtimes, " << excused << " of " << subjects
            << " excused\n";
}

}  // namespace
}  // namespace tidemark::testing
