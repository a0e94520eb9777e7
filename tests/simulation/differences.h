// Compares an archive with the ground truth. Each difference, wrong or missing, is one line.
// Reads it through the Reader, as people do, and reads all rows as well.
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

// Everything outlives the comparison.
struct ArchiveToCompare {
  const GroundTruth* truth = nullptr;
  tables::Tables* tables = nullptr;
  objects::Objects* objects = nullptr;
  const Clock* clock = nullptr;
  std::string team;
  std::string bot_token;  // It must not be stored anywhere.
  std::string log;
  // Whether a client that tries often enough gets the file from Slack.
  std::function<bool(const std::string& file)> is_fetchable;
  // When events were lost in a way that the servers can notice.
  std::vector<LostTime> known_losses = {};
  // Whether there was a downtime that the servers may record as a loss.
  bool may_fear_losses = false;
};

std::vector<std::string> FindDifferences(const ArchiveToCompare& archive);

}  // namespace tidemark::testing
