#include "apps/documents/event_handler.h"

#include <array>
#include <utility>

#include "apps/documents/document_store.h"

namespace tidemark::documents {

namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 5> kFates = {"synced", "unchanged", "ignored", "dropped",
                                                    "failed"};

RecordReport ReportOf(const std::string& key, const SyncReply& reply) {
  switch (reply.outcome) {
    case SyncOutcome::kWritten:
    case SyncOutcome::kRemoved:
      return {.fate = RecordFate::kSynced, .key = key};
    case SyncOutcome::kNotCached:
      if (!reply.invalid.empty()) {
        return {.fate = RecordFate::kDropped, .key = key, .why = reply.invalid};
      }
      return {.fate = RecordFate::kUnchanged, .key = key, .why = "it is too old to be cached"};
    case SyncOutcome::kUnchanged:
    case SyncOutcome::kAbsent:
    case SyncOutcome::kInFlight:
      break;
  }
  return {.fate = RecordFate::kUnchanged, .key = key};
}

// An error of a store is not the record's fault, so the record is sent again. That includes a store
// that denies access: its rights may be corrected. A damaged object stays damaged until somebody
// writes it, which is another event.
RecordReport ReportOf(const std::string& key, const Error& error) {
  const bool is_final = error.code == ErrorCode::kInvalid || error.code == ErrorCode::kCorrupt;
  return {.fate = is_final ? RecordFate::kDropped : RecordFate::kFailed,
          .key = key,
          .why = error.message};
}

}  // namespace

std::string_view ToString(RecordFate fate) { return kFates.at(static_cast<size_t>(fate)); }

EventHandler::EventHandler(const DocumentsOptions& options, Synchronizer* synchronizer,
                           const Observer* observer)
    : options_(options), synchronizer_(*synchronizer), observer_(*observer) {}

EventReport EventHandler::Handle(const Context& context, std::string_view notification_json) {
  const Result<Notification> notification = ParseNotification(notification_json);
  if (!notification) {
    return {.records = {Drop(notification.error().message)}, .understood = false};
  }
  return Handle(context, *notification);
}

EventReport EventHandler::Handle(const Context& context, const Notification& notification) {
  EventReport report;
  for (const NotificationRecord& record : notification.records) {
    report.records.push_back(record.event ? HandleEvent(context, *record.event)
                                          : Drop(record.problem));
    report.understood &= record.event.has_value();
    report.retry |= report.records.back().fate == RecordFate::kFailed;
  }
  return report;
}

RecordReport EventHandler::Drop(const std::string& problem) {
  observer_.Warn("an event was dropped", "", problem);
  return {.fate = RecordFate::kDropped, .why = problem};
}

RecordReport EventHandler::HandleEvent(const Context& context, const ObjectEvent& event) {
  RecordReport report{.key = event.key};
  const auto handled =
      observer_.Observe<Done>(context, {.name = "event", .key = event.key},
                              [&](const Context& counted, Operation& operation) -> Status {
                                Result<RecordReport> synced = Apply(counted, event);
                                if (!synced) return std::move(synced).error();
                                report = *std::move(synced);
                                operation.outcome = ToString(report.fate);
                                return Done{};
                              });
  if (!handled) report = ReportOf(event.key, handled.error());
  const bool is_applied =
      report.fate == RecordFate::kSynced || report.fate == RecordFate::kUnchanged;
  if (is_applied && event.time) observer_.RecordEvent(*event.time);
  if (report.fate == RecordFate::kDropped) {
    observer_.Warn("an event was dropped", event.key, report.why);
  }
  return report;
}

Result<RecordReport> EventHandler::Apply(const Context& context, const ObjectEvent& event) {
  const std::optional<std::string> id = IdOfKey(options_, event.key);
  if (!id || event.bucket != options_.bucket || event.change == ChangeOfObject::kOther) {
    return RecordReport{.key = event.key};
  }
  // The object is always read: senders number their events in different ways, so two events cannot
  // be put in order.
  const SyncReply reply = TRY(synchronizer_.Sync(
      context, {.id = *id, .deleted = event.change == ChangeOfObject::kDeleted}));
  return ReportOf(event.key, reply);
}

}  // namespace tidemark::documents
