// Coverage says of a channel which intervals the archive knows to be complete, which have known
// loss and why, and leaves the rest as not known. It is computed from marks, which are rows.
//
// A Ledger may be used from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/archive/keys.h"
#include "apps/archive/reading.h"
#include "base/clock.h"
#include "base/result.h"
#include "slack/timestamp.h"
#include "tables/tables.h"

namespace tidemark::archive {

enum class Certainty {
  kComplete,  // Every event of the interval is here.
  kLost,      // Some may be missing, for this reason.
  kImported,  // Read from an export: the messages as they stood then, without older bodies.
};

struct Interval {
  slack::Timestamp from;
  std::optional<slack::Timestamp> to = std::nullopt;  // nullopt: until now.
  Certainty certainty = Certainty::kComplete;
  std::string reason = {};  // Of a loss.
  friend bool operator==(const Interval&, const Interval&) = default;
};

// In the order of time, without overlap; what no interval covers is not known. A loss outweighs
// completeness, and completeness outweighs an import.
std::vector<Interval> ComputeCoverage(const std::vector<CoverageNews>& marks);

// The mark's row.
item::Item EncodeMark(const slack::TeamId& team, const CoverageNews& mark);

class Ledger {
 public:
  Ledger(std::string table, tables::Tables* tables);

  // A mark that is there already stays as it is, unless this one reaches further.
  Status Add(const slack::TeamId& team, const CoverageNews& mark);
  // Those of the channel and those of all channels, in the order of time.
  Result<std::vector<CoverageNews>> Marks(const Place& place);
  Result<std::vector<Interval>> Of(const Place& place);
  // Marks that are about this channel alone.
  Result<std::vector<CoverageNews>> ChannelMarks(const Place& place);
  // Marks that are about all channels.
  Result<std::vector<CoverageNews>> TeamMarks(const slack::TeamId& team);

 private:
  Result<std::vector<CoverageNews>> Read(const std::string& item_id,
                                         const std::optional<slack::ChannelId>& channel);

  const std::string table_;
  tables::Tables& tables_;
};

// What was lost while nobody listened from `last_alive` to `started`: Slack sends an event again
// for five minutes, so what happened in the last five came later. nullopt: nothing was.
std::optional<CoverageNews> LossByDowntime(EpochSeconds last_alive, EpochSeconds started);

}  // namespace tidemark::archive
