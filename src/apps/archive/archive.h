// The Archive turns events into writes. Plan reads what is there and gives the actions of one
// transaction, conditional on nothing having changed meanwhile; the caller adds its own (the
// completion of the event's claim) and writes them together. When one of these conditions fails,
// somebody else wrote: plan again.
//
//   Plan plan = TRY(archive.PlanEvent(callback, body));
//   ... tables.TransactWrite({plan.actions + completion}) ...
//
// The same event planned again once it is stored gives no actions: redelivery changes nothing.
// Only public channels are kept, and those that were recorded as public before they became private.
// Nothing is ever fetched from Slack. May be called from any thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/archive/reading.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "slack/event.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct ArchiveOptions {
  std::string table = "SlackArchive";
  bool raw_events = true;
  size_t warn_bytes = 200 << 10;  // A row above this is counted and logged by its key.
};

enum class Outcome {
  kStored,       // Or to be stored by the plan's actions.
  kUnchanged,    // All of it was known.
  kNotPublic,    // A private channel never recorded as public, or a direct conversation.
  kNotKept,      // Of a kind that is left out.
  kUnknownType,  // Of a kind that is not known.
  kIncomplete,   // Lacks what it takes to be kept; logged.
};
inline constexpr size_t kOutcomes = 6;
// "stored", "not_public", …: the label of the count.
std::string_view ToString(Outcome outcome);

struct Plan {
  Outcome outcome = Outcome::kUnchanged;
  std::vector<tables::TransactAction> actions = {};
};

class Archive {
 public:
  // All outlive this; logger and metrics may be null.
  Archive(ArchiveOptions options, tables::Tables* tables, const Logger* logger, Metrics* metrics);
  ~Archive();

  // Makes the table, with its index and stream, unless it is there.
  Status CreateTable();

  Result<Plan> PlanEvent(const slack::EventCallback& callback, std::string_view body);
  // What a plan is for: the import has news without an event. kInvalid for a team that is none.
  Result<Plan> PlanNews(const slack::TeamId& team, const News& news);

  // Plans and writes on its own, again when somebody else wrote meanwhile.
  Result<Outcome> StoreEvent(const slack::EventCallback& callback, std::string_view body);
  Result<Outcome> StoreNews(const slack::TeamId& team, const News& news);

  // Counts what became of an event; the caller says so once its transaction was applied.
  void Count(Outcome outcome);

  const ArchiveOptions& options() const { return options_; }

 private:
  class Planner;

  void LogNothing(const slack::EventCallback& callback, const NoNews& nothing) const;

  const ArchiveOptions options_;
  tables::Tables& tables_;
  const Logger* const logger_;
  std::array<Counter*, kOutcomes> events_ = {};  // By outcome; null without metrics.
  std::unique_ptr<Planner> planner_;
};

}  // namespace tidemark::archive
