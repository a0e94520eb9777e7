#include "apps/documents/synchronizer.h"

#include <utility>

#include <fmt/format.h>

#include "apps/documents/row_encoding.h"
#include "tables/plan_again.h"

namespace tidemark::documents {

namespace {

// Whether the object is what the write has made of it, or what the write is to replace. Anything
// else is a change by another writer, and the write can only be refused.
bool BelongsToWrite(const Intent& intent, const std::optional<StoredDocument>& object) {
  if (!object) return !intent.base_etag || intent.kind == IntentKind::kDelete;
  return object->state.txn == intent.txn || intent.base_etag == object->state.etag;
}

// The version as it comes back from the table: a document that does not fit is missing.
std::optional<Committed> AsStored(const DocumentsOptions& options, const Row& row) {
  const std::optional<Row> stored = DecodeRow(EncodeRow(options, row));
  return stored ? stored->committed : std::nullopt;
}

Row StartFrom(const SyncRequest& request, const std::optional<Row>& row) {
  return row.value_or(Row{.id = request.id});
}

}  // namespace

Synchronizer::Synchronizer(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
                           const Observer* observer, const Runtime& runtime)
    : options_(options), rows_(*rows), store_(*store), observer_(*observer), runtime_(runtime) {}

Result<SyncReply> Synchronizer::Sync(const Context& context, const SyncRequest& request) {
  TRY(ValidateId(request.id));
  std::optional<Row> row = TRY(rows_.Load(context, request.id));
  return SyncFrom(context, request, std::move(row));
}

Result<SyncReply> Synchronizer::SyncFrom(const Context& context, const SyncRequest& request,
                                         std::optional<Row> row) {
  const auto round = [&]() -> Result<std::optional<SyncReply>> {
    // The object is read after the row. So it is not older than the row, and if the row still has
    // its revision when it is written, no newer version was written in between.
    std::optional<StoredDocument> object = TRY(store_.Read(context, request.id));
    Plan plan = MakePlan(request, row, std::move(object));
    if (!plan.is_due || request.dry_run || options_.dry_run) return std::move(plan.reply);
    const Result<bool> applied = Apply(context, row, plan);
    if (applied && *applied) return std::move(plan.reply);
    Result<std::optional<Row>> again = applied ? rows_.Load(context, request.id) : applied.error();
    if (again) {
      row = *std::move(again);
      return std::optional<SyncReply>();
    }
    if (!request.fill) return std::move(again).error();
    observer_.Warn("a row could not be filled", request.id, again.error().message);
    plan.reply.outcome = SyncOutcome::kNotCached;
    return std::move(plan.reply);
  };
  std::optional<SyncReply> reply = TRY(tables::PlanAgain<SyncReply>(
      tables::kPlanAgain, runtime_, round, context.deadline, context.stop));
  if (reply) return *std::move(reply);
  return Error{ErrorCode::kConflict,
               fmt::format("other writers keep changing the row of '{}': try again", request.id)};
}

Result<bool> Synchronizer::Apply(const Context& context, const std::optional<Row>& row,
                                 Plan& plan) {
  if (plan.next) return rows_.Replace(context, row, *std::move(plan.next));
  return rows_.Remove(context, *row);
}

Synchronizer::Plan Synchronizer::MakePlan(const SyncRequest& request, const std::optional<Row>& row,
                                          std::optional<StoredDocument> object) const {
  // A writer that is still at work writes the row itself. Settling its intent would let a second
  // writer begin while the first one may still write the object.
  const bool left_to_writer = row && row->intent &&
                              !IsStale(*row->intent, observer_.clock().Now(), options_) &&
                              BelongsToWrite(*row->intent, object);
  Plan plan =
      object ? PlanWithObject(request, row, *std::move(object)) : PlanWithoutObject(request, row);
  if (left_to_writer) {
    plan.reply.outcome = SyncOutcome::kInFlight;
    plan.is_due = false;
  }
  return plan;
}

Synchronizer::Plan Synchronizer::PlanWithObject(const SyncRequest& request,
                                                const std::optional<Row>& row,
                                                StoredDocument object) const {
  const auto now = observer_.clock().Now();
  const std::string etag = object.state.etag;
  Plan plan{.reply = {.etag = etag}};
  Result<Document> document = ParseObject(request.id, std::move(object));
  Row next = StartFrom(request, row);
  if (document) {
    next = CommitVersion(options_, std::move(next), *document, etag, now);
    plan.reply.document = *std::move(document);
  } else {
    next = MarkDeleted(std::move(next), now);
    plan.reply.invalid = document.error().message;
  }
  const bool has_intent = row && row->intent;
  if (next.committed) {
    plan.is_due = has_intent || !row || AsStored(options_, next) != row->committed;
    plan.reply.outcome = plan.is_due ? SyncOutcome::kWritten : SyncOutcome::kUnchanged;
  } else {
    // An older version must not stay in the row. A row without a version needs no change.
    plan.is_due = has_intent || (row && row->committed);
    plan.reply.outcome = SyncOutcome::kNotCached;
  }
  plan.next = std::move(next);
  return plan;
}

Synchronizer::Plan Synchronizer::PlanWithoutObject(const SyncRequest& request,
                                                   const std::optional<Row>& row) const {
  Plan plan{.reply = {.outcome = SyncOutcome::kAbsent}};
  const auto now = observer_.clock().Now();
  const bool has_intent = row && row->intent;
  const bool may_have_existed =
      request.deleted || (row && row->committed) ||
      (has_intent && (row->intent->base_etag || row->intent->kind == IntentKind::kDelete));
  if (row && row->tombstone) {
    plan.reply.outcome = has_intent ? SyncOutcome::kRemoved : SyncOutcome::kUnchanged;
    plan.is_due = has_intent;
    plan.next = WithoutIntent(StartFrom(request, row));
  } else if (may_have_existed) {
    plan.reply.outcome = SyncOutcome::kRemoved;
    plan.is_due = true;
    plan.next = MarkDeleted(StartFrom(request, row), now);
  } else {
    // A first write that never reached its object, or a row that cannot be read: the row goes.
    plan.is_due = row.has_value();
  }
  return plan;
}

Result<SettleReport> Synchronizer::SettleStale(const Context& context) {
  SettleReport report;
  for (const Row& row : TRY(rows_.ListFirstWrites(context))) {
    if (IsStale(*row.intent, observer_.clock().Now(), options_)) {
      TRY(SettleOne(context, row, report));
    } else {
      ++report.under_way;
    }
  }
  return report;
}

Status Synchronizer::SettleOne(const Context& context, const Row& row, SettleReport& report) {
  const Result<SyncReply> synced = observer_.Observe<SyncReply>(
      context, {.name = "settle", .key = row.id},
      [&](const Context& counted, Operation&) { return Sync(counted, {.id = row.id}); });
  if (!synced && context.IsOver()) return synced.error();
  const bool is_in_flight = synced && synced->outcome == SyncOutcome::kInFlight;
  ++(!synced ? report.failed : is_in_flight ? report.under_way : report.settled);
  return Done{};
}

}  // namespace tidemark::documents
