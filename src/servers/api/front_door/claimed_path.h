// The claimed path of an event: for every event that the fast path (fast_path.h) did not store.
// That is one whose team, user or channel the gate has to ask Slack about, one that ends one of
// them, one that was delivered before, one whose rows another event changes, and every event while
// the table of claims is unavailable.
//
//   1. Take             one write: this delivery has the claim of the event for 30 s
//   2. Gate::Notice     what the event ends is not trusted any more
//   3. CheckExistence   asks Slack when the gate's table does not know the ids
//   4. refused          quarantine keeps the event, the claim is released. If the event is too
//   large
//                       for quarantine, its time is marked as lost
//   5. allowed          one transaction: the event's rows, and the claim completed
//
// The claim comes before the check. A retry that arrives while the first delivery is being checked
// is told "under way" and costs no call to Slack. If the process dies in between, the claim expires
// and Slack's next delivery takes it over.
//
// Handle is called on a worker and blocks it while the disk is asked. While Slack is asked, which
// takes up to the gate's deadline, it holds no worker: steps 4 and 5 go to a worker again. Promote
// blocks. May be called from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "apps/dedup/deduplicator.h"
#include "apps/gate/gate.h"
#include "apps/gate/quarantine.h"
#include "base/later.h"
#include "base/result.h"
#include "base/runtime.h"
#include "base/worker_pool.h"
#include "servers/api/front_door/event_planner.h"
#include "servers/api/front_door/incoming_event.h"
#include "tables/conditional_writer.h"
#include "tables/tables.h"

namespace tidemark::api {

// The outcome of one delivery of an event.
enum class EventOutcome {
  kAccepted,     // It is stored.
  kDuplicate,    // It was handled before.
  kUnderWay,     // Another delivery of it is being handled.
  kRefused,      // By the gate. It is in quarantine.
  kQuarantined,  // It could not be checked. It is in quarantine, and acknowledged.
  kNotPublic,    // Of a conversation that was never public. Nothing of it is written.
  kLost,         // Nobody could say whether its channel is public. Its team has a gap.
  kUnavailable,  // The store failed. Nothing is known to have been stored.
};

// All outlive the ClaimedPath.
struct ClaimedPathParts {
  gate::Gate* gate = nullptr;
  gate::Quarantine* quarantine = nullptr;
  dedup::Deduplicator* dedup = nullptr;
  tables::Tables* tables = nullptr;
  const EventPlanner* planner = nullptr;
  WorkerPool* workers = nullptr;
  WorkerPool* object_workers = nullptr;  // For events with objects, which wait for their disk.
  // Marks the time of an event as lost in the coverage.
  std::function<Status(const slack::EventCallback&)> note_gap = nullptr;
  // The same without its channel, which may be private: for the whole team.
  std::function<Status(const slack::EventCallback&)> note_team_gap = nullptr;
};

class ClaimedPath {
 public:
  ClaimedPath(ClaimedPathParts parts, gate::UnknownPolicy unknown, const Runtime& runtime);

  // What the event refers to lives until the answer.
  Later<EventOutcome> Handle(const IncomingEvent& event);

  // Stores an event that was in quarantine and has passed its check by now, with this verdict:
  // steps 1 and 5.
  EventOutcome Promote(const IncomingEvent& event, const gate::Verdict& verdict);

 private:
  Later<EventOutcome> TakeAndHandle(const IncomingEvent& event);
  // Of a channel of which nobody has said that it is public.
  Later<EventOutcome> HandleUntold(const IncomingEvent& event);
  // The same, when Slack could not be asked.
  EventOutcome HandleUndecided(const IncomingEvent& event, const gate::Verdict& verdict);
  Later<EventOutcome> HandleClaimed(const IncomingEvent& event, const dedup::Claim& claim);
  // Whether nobody says that the channel of an event in quarantine is or was public.
  Result<bool> IsNeverPublic(const IncomingEvent& event, const gate::Verdict& verdict) const;
  // On a worker: events with objects go on to the threads for them.
  Later<EventOutcome> HandleChecked(const IncomingEvent& event, const dedup::Claim& claim,
                                    const gate::Verdict& verdict);
  EventOutcome Refuse(const IncomingEvent& event, const dedup::Claim& claim,
                      const gate::Verdict& verdict);
  Result<EventPlan> Plan(const IncomingEvent& event) const;
  // Begins with this plan, and plans again when another request was faster.
  EventOutcome Store(const IncomingEvent& event, const dedup::Claim& claim, Result<EventPlan> plan);
  // The event is not stored: makes its claim free. Returns kUnavailable.
  EventOutcome GiveUp(const IncomingEvent& event, const dedup::Claim& claim, const Error& error);
  // One round of Store. nullopt: another request wrote one of the rows, so it must be planned
  // again.
  Result<std::optional<EventOutcome>> TryToStore(const EventPlan& plan, const dedup::Claim& claim);
  Result<std::optional<EventOutcome>> TryToStoreLocally(const EventPlan& plan,
                                                        const dedup::Claim& claim);
  // Returns kUnavailable.
  EventOutcome LogFailure(const IncomingEvent& event, std::string_view step,
                          const Error& error) const;

  const ClaimedPathParts parts_;
  const gate::UnknownPolicy unknown_;
  const Runtime runtime_;
  tables::ConditionalWriter writer_;
};

}  // namespace tidemark::api
