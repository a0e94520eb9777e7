#include "apps/documents/event_handler.h"

#include <array>
#include <utility>

#include "apps/documents/converter.h"

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

// What a store says is never the record's fault: also a store that refuses us is there again when
// its rights are right.
RecordReport ReportOf(const std::string& key, const CacheError& error) {
  const bool is_records = error.type == CacheErrorType::kValidation;
  return {.fate = is_records ? RecordFate::kDropped : RecordFate::kFailed,
          .key = key,
          .why = error.message};
}

}  // namespace

std::string_view ToString(RecordFate fate) { return kFates.at(static_cast<size_t>(fate)); }

EventHandler::EventHandler(const DocumentsOptions& options, RowStore* rows,
                           Synchronizer* synchronizer, const Observer* observer)
    : options_(options), rows_(*rows), synchronizer_(*synchronizer), observer_(*observer) {}

EventReport EventHandler::Handle(const Context& context, std::string_view notification_json) {
  const Result<Notification> notification = ParseNotification(notification_json);
  if (!notification) return {.records = {Drop(notification.error().message)}};
  return Handle(context, *notification);
}

EventReport EventHandler::Handle(const Context& context, const Notification& notification) {
  EventReport report;
  for (const NotificationRecord& record : notification.records) {
    report.records.push_back(record.event ? HandleEvent(context, *record.event)
                                          : Drop(record.problem));
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
                              [&](const Context& counted, Operation& operation) -> Outcome<Done> {
                                Outcome<RecordReport> synced = Bring(counted, event);
                                if (!synced) return std::move(synced).error();
                                report = *std::move(synced);
                                operation.outcome = ToString(report.fate);
                                return Done{};
                              });
  if (!handled) report = ReportOf(event.key, handled.error());
  if (report.fate == RecordFate::kDropped) {
    observer_.Warn("an event was dropped", event.key, report.why);
  }
  return report;
}

Outcome<RecordReport> EventHandler::Bring(const Context& context, const ObjectEvent& event) {
  const std::optional<std::string> id = IdOfKey(options_, event.key);
  if (!id || event.bucket != options_.bucket || event.change == ChangeOfObject::kOther) {
    return RecordReport{.key = event.key};
  }
  std::optional<Row> row = TRY(rows_.Load(context, *id));
  // The row has been through this event or a later one already.
  if (row && SequencerIsNotNewer(event.sequencer, row->sequencer)) {
    return RecordReport{.fate = RecordFate::kUnchanged, .key = event.key};
  }
  const SyncRequest request{
      .id = *id, .sequencer = event.sequencer, .deleted = event.change == ChangeOfObject::kDeleted};
  const SyncReply reply = TRY(synchronizer_.SyncFrom(context, request, std::move(row)));
  return ReportOf(event.key, reply);
}

}  // namespace tidemark::documents
