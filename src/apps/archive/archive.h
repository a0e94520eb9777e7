// The Archive turns events into writes. PlanEvent reads the rows that the event is about and
// returns the actions of one transaction. Each action is conditional: it applies only if its row
// has not changed since. The caller adds its own actions (the completion of the event's claim) and
// writes all of them together. When a condition of the plan fails, another writer was faster: plan
// again.
//
//   Plan plan = TRY(archive.PlanEvent(callback));
//   TRY(archive.PutObjects(plan.objects));
//   ... tables.TransactWrite({plan.actions + completion}) ...
//
// An event that is already stored gives a plan without actions, so a redelivery changes nothing.
// Only public channels are kept, and channels that were public before they became private. The
// archive never asks Slack for anything here. May be called from any thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/archive/archive_table.h"
#include "apps/archive/read_event.h"
#include "base/result.h"
#include "base/runtime.h"
#include "objects/objects.h"
#include "slack/event.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct ArchiveOptions {
  std::string table = "SlackArchive";
  bool raw_events = true;
  size_t warn_bytes = 200 << 10;  // A row above this is counted and logged by its key.
};

enum class ArchiveOutcome {
  kStored,       // Stored; in a plan: its actions will store it.
  kUnchanged,    // Nothing in it is new.
  kNotPublic,    // A private channel never recorded as public, or a direct conversation.
  kNotKept,      // A type of event that the archive leaves out.
  kUnknownType,  // A type of event that the archive does not know.
  kIncomplete,   // A field that the archive needs is missing; logged.
};
inline constexpr size_t kArchiveOutcomes = 6;
// "stored", "not_public", …: the label in the metric.
std::string_view ToString(ArchiveOutcome outcome);

// What the caller knows about the channel of an event from elsewhere. Reactions, pins and most
// channel_* events do not say whether their channel is public, and may be the first event of it.
enum class ToldChannel {
  kUnknown,  // What the event and the table say decides.
  kPublic,   // Slack has just said that it is public.
};

struct Plan {
  ArchiveOutcome outcome = ArchiveOutcome::kUnchanged;
  std::vector<tables::TransactAction> actions = {};
  // Raw events that are too large for a row. Put them before the actions, which name them. If the
  // actions fail afterwards, an object stays, and the next delivery puts the same one.
  std::vector<objects::PutRequest> objects = {};
};

class Archive {
 public:
  // The tables and the objects outlive this. Raw events that are too large for a row go to the
  // objects; without objects (nullptr) they are dropped, and the row says so.
  Archive(ArchiveOptions options, tables::Tables* tables, const Runtime& runtime,
          objects::Objects* objects = nullptr);
  ~Archive();

  // Creates the table with its index and stream, unless it exists.
  Status CreateTable();

  Result<Plan> PlanEvent(const slack::EventCallback& callback,
                         ToldChannel channel = ToldChannel::kUnknown);
  // The same for news that did not come by an event: the import's.
  Result<Plan> PlanNews(const slack::TeamId& team, const News& news);

  // Puts the objects of a plan. This may take as long as the disk of the objects needs.
  Status PutObjects(const std::vector<objects::PutRequest>& objects);

  // Whether the channel is or was recorded as public, so that its events are kept.
  Result<bool> WasPublic(const Place& place);

  // Plans and writes. When another writer was faster, it plans again, a bounded number of times.
  Result<ArchiveOutcome> StoreNews(const slack::TeamId& team, const News& news);

  // Counts the outcome of an event in the metrics. For callers of PlanEvent, once their transaction
  // was applied.
  void Count(ArchiveOutcome outcome);

  const ArchiveOptions& options() const { return options_; }

 private:
  class Planner;

  void LogUnused(const slack::EventCallback& callback, const NoNews& nothing) const;

  const ArchiveOptions options_;
  const ArchiveTable table_;
  const Runtime runtime_;
  objects::Objects* const objects_;
  std::array<Counter*, kArchiveOutcomes> events_ = {};  // By outcome.
  std::unique_ptr<Planner> planner_;
};

}  // namespace tidemark::archive
