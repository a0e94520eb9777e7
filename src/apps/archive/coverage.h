// Coverage says how complete the archive is for a channel: in which intervals it has every event,
// in which some may be lost and why, and which it has from an import. Of the rest it knows nothing.
// It is computed from marks ("the bot joined", "the server was not running"), which the Ledger
// keeps as rows.
//
//   std::vector<Interval> intervals = TRY(ledger.Of(place));
//
// A Ledger may be used from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/archive/archive_table.h"
#include "apps/archive/keys.h"
#include "apps/archive/news.h"
#include "base/clock.h"
#include "base/result.h"
#include "slack/timestamp.h"
#include "tables/tables.h"

namespace tidemark::archive {

enum class Certainty {
  kComplete,  // Every event of the interval is in the archive.
  kLost,      // Some events may be missing; `reason` says why.
  kImported,  // From an export: messages as they were when it was made, without older versions.
};

struct Interval {
  slack::Timestamp from;
  std::optional<slack::Timestamp> to = std::nullopt;  // nullopt: until now.
  Certainty certainty = Certainty::kComplete;
  std::string reason = {};  // Of a loss.
  friend bool operator==(const Interval&, const Interval&) = default;
};

// The intervals in the order of time, without overlap. Where marks overlap, a loss wins over
// completeness, and completeness wins over an import. Nothing is known outside of the intervals.
std::vector<Interval> ComputeCoverage(const std::vector<CoverageNews>& marks);

// The row of a mark.
item::Item EncodeMark(const slack::TeamId& team, const CoverageNews& mark);

class Ledger {
 public:
  Ledger(std::string table, tables::Tables* tables);

  // A mark with the same beginning and kind stays as it is, unless this one ends later.
  Status Add(const slack::TeamId& team, const CoverageNews& mark);
  // The marks about the channel, under every id that it had, and those about all channels, in the
  // order of time.
  Result<std::vector<CoverageNews>> Marks(const Place& place);
  Result<std::vector<Interval>> Of(const Place& place);
  // Marks that are about this id of a channel alone.
  Result<std::vector<CoverageNews>> ChannelMarks(const Place& place);
  // Marks that are about all channels.
  Result<std::vector<CoverageNews>> TeamMarks(const slack::TeamId& team);

 private:
  Result<std::vector<CoverageNews>> Read(const std::string& item_id,
                                         const std::optional<slack::ChannelId>& channel);

  const ArchiveTable table_;
};

// The mark for a downtime from `last_alive` to `started`. Slack retries an event for five minutes,
// so the events of the last five minutes arrive after the start. nullopt when nothing was lost.
std::optional<CoverageNews> LossByDowntime(EpochSeconds last_alive, EpochSeconds started);

}  // namespace tidemark::archive
