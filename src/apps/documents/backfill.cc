#include "apps/documents/backfill.h"

#include <utility>

namespace tidemark::documents {

namespace {

void CountReply(const SyncReply& reply, BackfillReport& report) {
  switch (reply.outcome) {
    case SyncOutcome::kWritten:
    case SyncOutcome::kRemoved:
      ++report.cached;
      break;
    case SyncOutcome::kUnchanged:
    case SyncOutcome::kInFlight:
      ++report.unchanged;
      break;
    case SyncOutcome::kAbsent:
      ++report.skipped;
      break;
    case SyncOutcome::kNotCached:
      ++(reply.invalid.empty() ? report.skipped : report.invalid);
      break;
  }
}

std::string_view OutcomeNameOf(const SyncReply& reply) {
  switch (reply.outcome) {
    case SyncOutcome::kWritten:
      return "ok";
    case SyncOutcome::kRemoved:
      return "removed";
    case SyncOutcome::kUnchanged:
      return "unchanged";
    case SyncOutcome::kInFlight:
      return "in flight";
    case SyncOutcome::kAbsent:
      return "absent";
    case SyncOutcome::kNotCached:
      break;
  }
  return "not cached";
}

}  // namespace

Backfill::Backfill(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
                   Synchronizer* synchronizer, const Observer* observer)
    : options_(options),
      rows_(*rows),
      store_(*store),
      synchronizer_(*synchronizer),
      observer_(*observer) {}

Result<BackfillReport> Backfill::Run(const Context& context, const WalkOptions& walk) {
  const std::optional<Filter> filter = TRY(FilterOf(walk));
  // Taken before the run: it will have seen every object that was stored before it began. Objects
  // that are stored later have their events.
  const auto mark = MarkOf(options_, walk, observer_.clock().Now());
  const bool is_dry = walk.dry_run || options_.dry_run;
  BackfillReport report;
  ObjectWalk objects(options_, &store_, &observer_, &walk);
  const Status walked = objects.Run(context, [&](const std::string& id) {
    return Visit(context, {.id = id, .dry_run = is_dry}, filter, report);
  });
  if (!walked && !IsInterruption(context, walked.error())) return walked.error();
  report.checked = objects.progress().checked;
  report.last_key = objects.progress().last_key;
  report.failed = objects.failed();
  report.finished = walked.has_value();
  if (report.failed == 0) report.mark = mark;
  if (report.finished && report.mark) {
    report.marked = TRY(StoreMarkInTime(context, rows_, *report.mark));
    report.finished = report.marked;
  }
  return report;
}

Status Backfill::Visit(const Context& context, const SyncRequest& request,
                       const std::optional<Filter>& filter, BackfillReport& report) {
  if (filter && !TRY(IsAskedFor(context, request.id, *filter, report))) return Done{};
  CountReply(TRY(Synchronize(context, request)), report);
  return Done{};
}

// Asks the object, because an outdated row may name other customers.
Result<bool> Backfill::IsAskedFor(const Context& context, const std::string& id,
                                  const Filter& filter, BackfillReport& report) {
  std::optional<StoredDocument> object = TRY(store_.Read(context, id));
  if (!object) {
    ++report.skipped;
    return false;
  }
  const Result<Document> document = ParseObject(id, *std::move(object));
  const bool is_asked_for = document && Matches(filter, document->facts());
  if (!is_asked_for) ++(document ? report.skipped : report.invalid);
  return is_asked_for;
}

Result<SyncReply> Backfill::Synchronize(const Context& context, const SyncRequest& request) {
  return observer_.Observe<SyncReply>(
      context, {.name = "backfill", .key = request.id, .dry_run = request.dry_run},
      [&](const Context& counted, Operation& operation) {
        Result<SyncReply> reply = synchronizer_.Sync(counted, request);
        if (reply) operation.outcome = OutcomeNameOf(*reply);
        return reply;
      });
}

}  // namespace tidemark::documents
