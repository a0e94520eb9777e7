// Compares an archive with the ground truth: what it has and is not true, or lacks, one line each.
// Reads it as people do, through the Reader, and all of its rows besides.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "objects/objects.h"
#include "tables/tables.h"
#include "tests/simulation/ground_truth.h"

namespace tidemark::testing {

struct LostTime {
  EpochSeconds from = 0;
  EpochSeconds to = 0;
};

// All is there while it is compared.
struct ArchiveToCompare {
  const GroundTruth* truth = nullptr;
  tables::Tables* tables = nullptr;
  objects::Objects* objects = nullptr;
  const Clock* clock = nullptr;
  std::string team;
  std::string bot_token;  // It must be nowhere.
  std::string log;
  // Whether a file can be had from Slack by who tries often enough.
  std::function<bool(const std::string& file)> is_fetchable;
  // When events were lost and the servers can know it.
  std::vector<LostTime> known_losses = {};
  // Whether there was a downtime of which the servers may think that it cost something.
  bool may_fear_losses = false;
};

std::vector<std::string> FindDifferences(const ArchiveToCompare& archive);

}  // namespace tidemark::testing
