// The archive's working state: what its parts must remember between runs, in a small table of its
// own, "tidemark-archive-state". docs/formats/archive.md has its rows. Nothing of it is history.
//
// May be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/archive/keys.h"
#include "base/clock.h"
#include "base/result.h"
#include "slack/ids.h"
#include "slack/timestamp.h"
#include "tables/tables.h"

namespace tidemark::archive {

// A message whose files are to be fetched.
struct PendingFetch {
  Place place;
  slack::Timestamp ts;
  EpochSeconds due = 0;
  int64_t attempts = 0;     // Those that count: Slack was asked, and our own store was there.
  int64_t delays = 0;       // How often it was put off; the waits grow with it.
  std::string reason = {};  // Why the last one failed.
};

class State {
 public:
  State(std::string table, tables::Tables* tables);

  Status CreateTable();

  Status AddTeam(const slack::TeamId& team);
  Result<std::vector<slack::TeamId>> Teams();

  // Puts the fetch off to another time: the row of before goes in the same step.
  Status Schedule(const PendingFetch& fetch, const std::optional<PendingFetch>& before);
  Status Finish(const PendingFetch& fetch);
  // Those that are due, the oldest first.
  Result<std::vector<PendingFetch>> DueFetches(EpochSeconds now, uint32_t limit);
  Result<uint64_t> CountFetches();

  // When the listener was last known to take events; nullopt: never.
  Result<std::optional<EpochSeconds>> LastAlive();
  Status SetAlive(EpochSeconds now);

 private:
  const std::string table_;
  tables::Tables& tables_;
};

}  // namespace tidemark::archive
