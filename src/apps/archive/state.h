// What the archive's processors must remember between two runs: known teams, files that are yet to
// be fetched, when the listener was last alive. It is kept in a small table of its own,
// "tidemark-archive-state"; docs/formats/archive.md has its rows. It holds nothing that readers of
// the archive see.
//
// May be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/archive/deleted_policy.h"
#include "apps/archive/keys.h"
#include "base/clock.h"
#include "base/result.h"
#include "slack/ids.h"
#include "slack/timestamp.h"
#include "tables/tables.h"

namespace tidemark::archive {

// A message whose files are yet to be fetched.
struct PendingFetch {
  Place place;
  slack::Timestamp ts;
  EpochSeconds due = 0;
  int64_t attempts = 0;     // Failures by Slack. A failure of our own store is not counted.
  int64_t delays = 0;       // How often it was postponed, for any reason; the waits grow with it.
  std::string reason = {};  // Why the last attempt failed.
};

// A message whose files could not be fetched.
struct FailedFetch {
  Place place;
  slack::Timestamp ts;
};
struct FailedPage {
  std::vector<FailedFetch> fetches;
  std::optional<std::string> next = std::nullopt;  // For the next page.
};

class State {
 public:
  State(std::string table, tables::Tables* tables);

  Status CreateTable();

  Status AddTeam(const slack::TeamId& team);
  Result<std::vector<slack::TeamId>> Teams();

  // Adds the fetch. `before` is the row it replaces, with another time: both are one transaction.
  Status Schedule(const PendingFetch& fetch, const std::optional<PendingFetch>& before);
  Status Finish(const PendingFetch& fetch);
  // The fetches that are due, oldest first.
  Result<std::vector<PendingFetch>> DueFetches(EpochSeconds now, uint32_t limit);
  Result<uint64_t> CountFetches();

  // The messages whose files could not be fetched, in the order of channel and ts. Adding or
  // removing one twice changes nothing.
  Status AddFailed(const FailedFetch& fetch);
  Status RemoveFailed(const FailedFetch& fetch);
  Result<FailedPage> FailedFetches(const slack::TeamId& team,
                                   const std::optional<std::string>& after, uint32_t limit);

  // The policy about deleted text of the server that used this archive (the name of its table)
  // last. Commands that read the folder without a server follow it too, whatever settings they
  // find. nullopt: no server has run.
  Result<std::optional<DeletedPolicy>> PolicyOf(const std::string& archive);
  Status SetPolicy(const std::string& archive, const DeletedPolicy& policy);

  // When the listener was last known to receive events; nullopt: never.
  Result<std::optional<EpochSeconds>> LastAlive();
  Status SetAlive(EpochSeconds now);

 private:
  tables::QueryRequest PartitionOf(const char* kind) const;

  const std::string table_;
  tables::Tables& tables_;
};

}  // namespace tidemark::archive
