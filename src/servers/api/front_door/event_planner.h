// The EventPlanner gives the writes that store an event: the rows of the archive and the row of the
// inbox. Plan writes nothing. The caller adds the row that marks the event as handled and writes
// all of them in one transaction, so that a crash leaves all or none.
//
// The writes are conditional on the rows that were read. When a condition fails, another request
// wrote such a row in between: plan again. May be called from any thread; Plan reads the tables and
// so may block.
#pragma once

#include <optional>
#include <vector>

#include "apps/archive/archive.h"
#include "base/result.h"
#include "servers/api/front_door/inbox.h"
#include "servers/api/front_door/incoming_event.h"
#include "tables/tables.h"

namespace tidemark::api {

struct EventPlan {
  std::vector<tables::TransactAction> actions;
  std::optional<archive::ArchiveOutcome> archived;  // nullopt: there is no archive.
  std::vector<objects::PutRequest> objects = {};    // To be put before the actions are written.
};

class EventPlanner {
 public:
  // Either may be null, when the service runs without it. Both outlive this.
  EventPlanner(archive::Archive* archive, const Inbox* inbox) : archive_(archive), inbox_(inbox) {}

  Result<EventPlan> Plan(const IncomingEvent& event) const;
  // Puts the objects of the plan, and waits for their disk.
  Status PutObjects(const EventPlan& plan) const;

  // Whether anything of the event may be written: its channel is or was public, by what the event,
  // the gate and the archive say. False when nobody says so.
  Result<bool> MayKeep(const IncomingEvent& event) const;

  // Counts the outcome of the event (EventPlan::archived). To be called once, after the actions
  // were written.
  void CountStored(const std::optional<archive::ArchiveOutcome>& archived) const;
  // Counts an event that nothing was written of.
  void CountNotPublic() const;

 private:
  archive::Archive* const archive_;
  const Inbox* const inbox_;
};

}  // namespace tidemark::api
