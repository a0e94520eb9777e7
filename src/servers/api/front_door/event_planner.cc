#include "servers/api/front_door/event_planner.h"

#include <utility>

#include "servers/api/front_door/conversation.h"

namespace tidemark::api {

namespace {

archive::ToldChannel ChannelOf(const IncomingEvent& event) {
  return event.in_public_channel ? archive::ToldChannel::kPublic : archive::ToldChannel::kUnknown;
}

}  // namespace

Result<EventPlan> EventPlanner::Plan(const IncomingEvent& event) const {
  EventPlan plan;
  if (archive_ != nullptr) {
    archive::Plan archived = TRY(archive_->PlanEvent(event.callback, ChannelOf(event)));
    plan.archived = archived.outcome;
    plan.actions = std::move(archived.actions);
    plan.objects = std::move(archived.objects);
  }
  if (inbox_ != nullptr) {
    plan.actions.emplace_back(inbox_->MakeEntry(event.key, event.callback, event.body));
  }
  return plan;
}

Status EventPlanner::PutObjects(const EventPlan& plan) const {
  return archive_ != nullptr ? archive_->PutObjects(plan.objects) : Status(Done{});
}

// A channel that was public before it became private is still kept. An event may tell of that
// itself.
Result<bool> EventPlanner::MayKeep(const IncomingEvent& event) const {
  const slack::Event& inner = event.callback.event;
  const Conversation conversation = ConversationOf(inner);
  if (conversation == Conversation::kPublic || event.in_public_channel) return true;
  if (conversation == Conversation::kDirect || archive_ == nullptr) return false;
  const archive::Plan plan = TRY(archive_->PlanEvent(event.callback, ChannelOf(event)));
  if (plan.outcome == archive::ArchiveOutcome::kStored ||
      plan.outcome == archive::ArchiveOutcome::kUnchanged) {
    return true;
  }
  auto team = slack::TeamId::Parse(event.callback.team_id);
  auto channel = slack::ChannelId::Parse(inner.channel);
  if (!team || !channel) return false;
  return archive_->WasPublic({.team = *std::move(team), .channel = *std::move(channel)});
}

void EventPlanner::CountNotPublic() const {
  if (archive_ != nullptr) archive_->Count(archive::ArchiveOutcome::kNotPublic);
}

void EventPlanner::CountStored(const std::optional<archive::ArchiveOutcome>& archived) const {
  if (archived) archive_->Count(*archived);
}

}  // namespace tidemark::api
