// The fast path of an event: the way of nearly all events. It works when the gate's table knows the
// event's team, user and channel, the event was not handled before, and no other event changes the
// same rows at this moment.
//
//   1. Gate::Recall      one read: the ids exist, and the event ends none of them
//   2. EventPlanner      a few reads: which rows to write
//   3. TryMarkWith       one transaction: these rows, and the event's key marked as handled
//
// It tries once. In every other case it has written nothing, or does not know whether it has, and
// the event takes the claimed path (claimed_path.h), which finds out.
//
// May be called from any thread. The caller's thread reads the tables; it does not wait for the
// write.
#pragma once

#include "apps/dedup/deduplicator.h"
#include "apps/gate/gate.h"
#include "base/later.h"
#include "servers/api/front_door/event_planner.h"
#include "servers/api/front_door/incoming_event.h"

namespace tidemark::api {

class FastPath {
 public:
  // All outlive this.
  FastPath(gate::Gate* gate, dedup::Deduplicator* dedup, const EventPlanner* planner)
      : gate_(*gate), dedup_(*dedup), planner_(*planner) {}

  // True: the event is on disk and marked as handled. False: take the claimed path. The event may
  // be destroyed when this returns. The answer comes on this thread or on the one that wrote.
  Later<bool> TryToStore(const IncomingEvent& event) const;

 private:
  gate::Gate& gate_;
  dedup::Deduplicator& dedup_;
  const EventPlanner& planner_;
};

}  // namespace tidemark::api
