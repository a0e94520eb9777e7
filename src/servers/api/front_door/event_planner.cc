#include "servers/api/front_door/event_planner.h"

#include <utility>

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
  }
  if (inbox_ != nullptr) {
    plan.actions.emplace_back(inbox_->MakeEntry(event.key, event.callback, event.body));
  }
  return plan;
}

void EventPlanner::CountStored(const std::optional<archive::ArchiveOutcome>& archived) const {
  if (archived) archive_->Count(*archived);
}

}  // namespace tidemark::api
