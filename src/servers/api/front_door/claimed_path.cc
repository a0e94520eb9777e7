#include "servers/api/front_door/claimed_path.h"

#include <memory>
#include <utility>

#include "apps/dedup/claim_rules.h"
#include "apps/dedup/row.h"
#include "base/deadline.h"
#include "servers/api/front_door/conversation.h"
#include "tables/plan_again.h"

namespace tidemark::api {

namespace {

// Of the transaction that stores an event. Slack waits 3 s for the answer to the whole request.
constexpr std::chrono::milliseconds kStoreDeadline(1000);
constexpr RetryPolicy kStoreRetry = {.max_retries = 4,
                                     .first_wait = std::chrono::milliseconds(25),
                                     .longest_wait = std::chrono::milliseconds(400),
                                     .jitter = 0.5};

Error TooBusy() { return {ErrorCode::kConflict, "other requests keep changing the same rows"}; }

// When the claim was not given: what an earlier delivery of the event means for this one.
EventOutcome OutcomeWithoutClaim(const dedup::ClaimReply& reply) {
  switch (reply.outcome) {
    case dedup::ClaimOutcome::kDone:
      // The fast path of this same delivery stored it, but the reply to that write was lost.
      return reply.own ? EventOutcome::kAccepted : EventOutcome::kDuplicate;
    case dedup::ClaimOutcome::kFailed:
    case dedup::ClaimOutcome::kPayloadMismatch:
      return EventOutcome::kDuplicate;
    // Not acknowledged: should the other delivery fail, the event would be lost. Slack sends it
    // again later.
    case dedup::ClaimOutcome::kRunning:
    case dedup::ClaimOutcome::kOutcomeUnknown:
      return EventOutcome::kUnderWay;
    case dedup::ClaimOutcome::kNew:
    case dedup::ClaimOutcome::kRefused:
      break;
  }
  return EventOutcome::kUnavailable;
}

IncomingEvent WithVerdict(IncomingEvent event, const gate::Verdict& verdict) {
  event.in_public_channel = verdict.in_public_channel;
  return event;
}

// Whether the event may be kept by what Slack says of its channel. Where Slack is not asked at all,
// nobody says that the channel is private.
bool SaysPublic(const gate::Verdict& verdict) {
  return verdict.in_public_channel || verdict.reason == gate::Reason::kSkipped ||
         verdict.reason == gate::Reason::kNothingToVerify;
}

// Whether a later delivery of an event that could not be checked may be decided.
bool IsWorthARetry(const IncomingEvent& event, const gate::Verdict& verdict) {
  return !event.is_last_delivery && verdict.reason != gate::Reason::kNoToken;
}

// Whether the row of a claim says that this very claim was completed. After a lost reply it shows
// that the transaction was applied.
bool IsCompletedBy(const item::Item& stored, const dedup::Claim& claim) {
  const dedup::Row row = dedup::DecodeRow(stored);
  return dedup::IsHeldBy(row, claim) && row.status == dedup::RowStatus::kDone;
}

}  // namespace

ClaimedPath::ClaimedPath(ClaimedPathParts parts, gate::UnknownPolicy unknown,
                         const Runtime& runtime)
    : parts_(std::move(parts)),
      unknown_(unknown),
      runtime_(runtime),
      writer_(parts_.tables, kStoreRetry, runtime) {}

Later<EventOutcome> ClaimedPath::Handle(const IncomingEvent& event) {
  if (ConversationOf(event.callback.event) != Conversation::kUntold) return TakeAndHandle(event);
  const auto is_known = parts_.planner->MayKeep(event);
  if (!is_known) return LogFailure(event, "reading the rows of its channel", is_known.error());
  return *is_known ? TakeAndHandle(event) : HandleUntold(event);
}

// Nothing of the event may be written, not even a claim, before Slack has said that its channel is
// public.
Later<EventOutcome> ClaimedPath::HandleUntold(const IncomingEvent& event) {
  // Even if nothing of it is kept: what it ends must not be trusted any more.
  if (const auto noticed = parts_.gate->Notice(event.callback); !noticed) {
    return LogFailure(event, "raising a generation", noticed.error());
  }
  return parts_.gate->CheckExistenceLater(event.callback, event.request_id)
      .Then([this, event](const Result<gate::Verdict>& found) -> Later<EventOutcome> {
        const gate::Verdict verdict = found ? *found : gate::Verdict{};
        const bool is_public = SaysPublic(verdict);
        if (!is_public && verdict.decision == gate::Decision::kAllow) {
          return EventOutcome::kNotPublic;
        }
        if (!is_public && verdict.decision == gate::Decision::kDeny) return EventOutcome::kRefused;
        // On the thread that asked Slack, which must not wait for the disk.
        return parts_.workers->Run([this, event, verdict, is_public]() -> Later<EventOutcome> {
          return is_public ? TakeAndHandle(event) : HandleUndecided(event, verdict);
        });
      });
}

// The event may be of a private channel, so it cannot wait in quarantine. As long as a later
// delivery may be decided, Slack has to send it again. After that it is acknowledged, because Slack
// turns off an app that fails most deliveries of an hour, and the coverage of the team says that
// something may be missing.
EventOutcome ClaimedPath::HandleUndecided(const IncomingEvent& event,
                                          const gate::Verdict& verdict) {
  const bool comes_again = IsWorthARetry(event, verdict);
  runtime_.logger.Log(comes_again ? LogLevel::kWarning : LogLevel::kError,
                      comes_again ? "nobody can say whether the channel of an event is public; "
                                    "Slack has to send the event again"
                                  : "nobody can say whether the channel of an event is public; "
                                    "the event is lost and its team has a gap",
                      {{"reason", gate::ToString(verdict.reason)},
                       {"event", event.callback.event_id},
                       {"team", event.callback.team_id},
                       {"request", event.request_id}});
  if (comes_again) return EventOutcome::kUnavailable;
  const Status noted = parts_.note_team_gap(event.callback);
  if (!noted) return LogFailure(event, "noting it as a gap", noted.error());
  return EventOutcome::kLost;
}

Later<EventOutcome> ClaimedPath::TakeAndHandle(const IncomingEvent& event) {
  const auto reply = parts_.dedup->Take(ClaimRequestFor(event));
  if (!reply) return LogFailure(event, "claiming it", reply.error());
  if (!reply->claim) return OutcomeWithoutClaim(*reply);
  return HandleClaimed(event, *reply->claim);
}

// An earlier release may have kept an event of a private channel.
Result<bool> ClaimedPath::IsNeverPublic(const IncomingEvent& event,
                                        const gate::Verdict& verdict) const {
  if (ConversationOf(event.callback.event) != Conversation::kUntold) return false;
  if (SaysPublic(verdict)) return false;
  return !TRY(parts_.planner->MayKeep(event));
}

EventOutcome ClaimedPath::Promote(const IncomingEvent& event, const gate::Verdict& verdict) {
  const auto never_public = IsNeverPublic(event, verdict);
  if (!never_public) {
    return LogFailure(event, "reading the rows of its channel", never_public.error());
  }
  if (*never_public) return EventOutcome::kNotPublic;
  const auto reply = parts_.dedup->Take(ClaimRequestFor(event));
  if (!reply) return LogFailure(event, "claiming it", reply.error());
  if (reply->claim) {
    const IncomingEvent checked = WithVerdict(event, verdict);
    if (verdict.decision != gate::Decision::kAllow) return Refuse(checked, *reply->claim, verdict);
    return Store(checked, *reply->claim, Plan(checked));
  }
  // The caller deletes its copy of an event that was stored. After any other outcome (such as
  // kFailed, when another program gave up on the same key) its copy may be the only one.
  return reply->outcome == dedup::ClaimOutcome::kDone ? OutcomeWithoutClaim(*reply)
                                                      : EventOutcome::kUnderWay;
}

Later<EventOutcome> ClaimedPath::HandleClaimed(const IncomingEvent& event,
                                               const dedup::Claim& claim) {
  // Before anything is acknowledged: Slack does not send the event again, and what it ends would
  // be trusted until the cache forgets it.
  if (const auto noticed = parts_.gate->Notice(event.callback); !noticed) {
    (void)parts_.dedup->Release(claim);
    return LogFailure(event, "raising a generation", noticed.error());
  }
  return parts_.gate->CheckExistenceLater(event.callback, event.request_id)
      .Then([this, event, claim](const Result<gate::Verdict>& verdict) {
        // On the thread that asked Slack, which must not wait for the disk.
        return parts_.workers->Run(
            [this, event, claim, verdict = verdict ? *verdict : gate::Verdict{}] {
              return HandleChecked(event, claim, verdict);
            });
      });
}

Later<EventOutcome> ClaimedPath::HandleChecked(const IncomingEvent& event,
                                               const dedup::Claim& claim,
                                               const gate::Verdict& verdict) {
  const IncomingEvent checked = WithVerdict(event, verdict);
  if (verdict.decision != gate::Decision::kAllow) return Refuse(checked, claim, verdict);
  Result<EventPlan> plan = Plan(checked);
  if (!plan || plan->objects.empty()) return Store(checked, claim, std::move(plan));
  // It is planned again there: it may have waited long, and the message may have been deleted
  // since. An object of the old plan would then stay, with the deleted text.
  return parts_.object_workers
      ->Run([this, checked, claim] { return Store(checked, claim, Plan(checked)); })
      .Then([this, checked, claim](Result<EventOutcome> outcome) {
        // Too many such events are waiting.
        return outcome ? *outcome : GiveUp(checked, claim, outcome.error());
      });
}

Result<EventPlan> ClaimedPath::Plan(const IncomingEvent& event) const {
  return parts_.planner->Plan(event).WithContext("reading the rows that it changes");
}

EventOutcome ClaimedPath::Refuse(const IncomingEvent& event, const dedup::Claim& claim,
                                 const gate::Verdict& verdict) {
  auto kept = parts_.quarantine->Keep(event.callback, event.body, verdict);
  // Too large for a row. Slack would only send it again.
  if (!kept && kept.error().code == ErrorCode::kInvalid) {
    LogFailure(event, "keeping it in quarantine", kept.error());
    kept = parts_.note_gap(event.callback);
  }
  // Released after the event is kept, so that no moment has neither. If the release fails, the
  // lease ends by itself.
  (void)parts_.dedup->Release(claim);
  if (!kept) return LogFailure(event, "keeping it in quarantine", kept.error());
  const bool acknowledged =
      verdict.decision == gate::Decision::kUnknown && unknown_ == gate::UnknownPolicy::kAcknowledge;
  return acknowledged ? EventOutcome::kQuarantined : EventOutcome::kRefused;
}

EventOutcome ClaimedPath::Store(const IncomingEvent& event, const dedup::Claim& claim,
                                Result<EventPlan> plan) {
  const auto round = [&, is_first = true]() mutable -> Result<std::optional<EventOutcome>> {
    if (!std::exchange(is_first, false)) plan = Plan(event);
    return TryToStore(TRY(plan), claim);
  };
  const auto stored = tables::PlanAgain<EventOutcome>(tables::kPlanAgain, runtime_, round);
  if (stored && *stored) return **stored;
  return GiveUp(event, claim, stored ? TooBusy() : stored.error());
}

EventOutcome ClaimedPath::GiveUp(const IncomingEvent& event, const dedup::Claim& claim,
                                 const Error& error) {
  // Released so that Slack's next delivery need not wait for the end of the lease. Should the
  // transaction have been applied although we got an error, the claim is completed, and a completed
  // claim cannot be released.
  (void)parts_.dedup->Release(claim);
  return LogFailure(event, "storing it", error);
}

Result<std::optional<EventOutcome>> ClaimedPath::TryToStore(const EventPlan& plan,
                                                            const dedup::Claim& claim) {
  TRY(parts_.planner->PutObjects(plan).WithContext("putting its objects"));
  if (claim.local) return TryToStoreLocally(plan, claim);
  std::vector<tables::TransactAction> actions = parts_.dedup->Completion(claim);
  const size_t completions = actions.size();
  actions.insert(actions.end(), plan.actions.begin(), plan.actions.end());
  const auto reply =
      TRY(writer_
              .Write({.actions = std::move(actions),
                      .is_ours = [&](const auto& row) { return IsCompletedBy(row, claim); },
                      .own_actions = completions},
                     Deadline::After(runtime_.clock, kStoreDeadline))
              .WithContext("writing its rows"));
  if (reply.IsWritten()) {
    parts_.dedup->NoteCompletion(claim);
    parts_.planner->CountStored(plan.archived);
    return EventOutcome::kAccepted;
  }
  // The claim has expired and another delivery has taken it over.
  if (reply.IsAnyRefused(completions)) return EventOutcome::kUnderWay;
  return std::nullopt;
}

// The claim is only in the memory of this process, because the table of claims is unavailable or
// its rollout leaves the key out. So there is no row of a claim to complete in the same
// transaction. Nothing tells our own rows from those of another delivery, so after a lost reply the
// plan is made again: it finds that nothing is left to store. A copy of the event's row in the
// inbox changes nothing.
Result<std::optional<EventOutcome>> ClaimedPath::TryToStoreLocally(const EventPlan& plan,
                                                                   const dedup::Claim& claim) {
  if (!plan.actions.empty()) {
    const auto reply = TRY(
        writer_.Write({.actions = plan.actions}, Deadline::After(runtime_.clock, kStoreDeadline))
            .WithContext("writing its rows"));
    if (!reply.IsWritten()) return std::nullopt;
  }
  (void)parts_.dedup->Complete(claim);
  parts_.planner->CountStored(plan.archived);
  return EventOutcome::kAccepted;
}

EventOutcome ClaimedPath::LogFailure(const IncomingEvent& event, std::string_view step,
                                     const Error& error) const {
  runtime_.logger.Log(LogLevel::kError, "an event could not be stored",
                      {{"step", step},
                       {"event", event.callback.event_id},
                       {"team", event.callback.team_id},
                       {"request", event.request_id},
                       {"error", error.message}});
  return EventOutcome::kUnavailable;
}

}  // namespace tidemark::api
