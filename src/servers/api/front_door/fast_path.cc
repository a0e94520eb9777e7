#include "servers/api/front_door/fast_path.h"

#include <optional>

#include "servers/api/front_door/conversation.h"

namespace tidemark::api {

Later<bool> FastPath::TryToStore(const IncomingEvent& event) const {
  const std::optional<gate::Verdict> verdict = gate_.Recall(event.callback);
  if (!verdict) return false;
  IncomingEvent checked = event;
  checked.in_public_channel = verdict->in_public_channel;
  if (ConversationOf(event.callback.event) == Conversation::kUntold) {
    const Result<bool> may_keep = planner_.MayKeep(checked);
    // The claimed path leaves no trace of it.
    if (!may_keep || !*may_keep) return false;
  }
  const Result<EventPlan> plan = planner_.Plan(checked);
  // The claimed path will meet the same error, and says there what failed.
  if (!plan) return false;
  // Objects are put by the claimed path, on threads of their own: their disk may be slow.
  if (!plan->objects.empty()) return false;
  // The nonce of the delivery goes into the mark. Should the table's reply be lost, the claimed
  // path recognises the mark as this delivery's own and does not take it for a duplicate.
  return dedup_.TryMarkWith(ClaimRequestFor(event), plan->actions)
      .Then(
          [this, archived = plan->archived](const Result<std::optional<dedup::ClaimReply>>& reply) {
            if (!reply || !*reply) return false;
            planner_.CountStored(archived);
            return true;
          });
}

}  // namespace tidemark::api
