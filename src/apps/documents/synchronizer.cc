#include "apps/documents/synchronizer.h"

#include <utility>

#include <fmt/format.h>

#include "apps/documents/converter.h"
#include "apps/documents/notification.h"
#include "apps/documents/settled_row.h"

namespace tidemark::documents {

namespace {

// Writers of one row that meet this often have something else to sort out.
constexpr int kMaxCollisions = 20;

// Whether the object is what the write has made of it or what the write is to replace. Anything
// else is somebody else's change, and the write can only be refused.
bool IsItsWriters(const Intent& intent, const std::optional<StoredDocument>& object) {
  if (!object) return !intent.base_etag || intent.kind == IntentKind::kDelete;
  return object->state.txn == intent.txn || intent.base_etag == object->state.etag;
}

// As it comes back from the table, without what does not fit.
std::optional<Committed> AsStored(const DocumentsOptions& options, const Row& row) {
  const std::optional<Row> stored = DecodeRow(EncodeRow(options, row));
  return stored ? stored->committed : std::nullopt;
}

// The row to begin with, with the newest event that it has been through.
Row Begin(const SyncRequest& request, const std::optional<Row>& row) {
  Row next = row.value_or(Row{.id = request.id});
  if (!request.sequencer.empty() && !SequencerIsNotNewer(request.sequencer, next.sequencer)) {
    next.sequencer = request.sequencer;
  }
  return next;
}

}  // namespace

Result<Document> ParseObject(const std::string& id, std::string json) {
  Document document = TRY(Document::Parse(std::move(json)));
  if (document.id() == id) return document;
  return Error{ErrorCode::kInvalid, fmt::format("it is the document '{}'", document.id())};
}

Synchronizer::Synchronizer(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
                           const Observer* observer)
    : options_(options), rows_(*rows), store_(*store), observer_(*observer) {}

Outcome<SyncReply> Synchronizer::Sync(const Context& context, const SyncRequest& request) {
  if (Status valid = ValidateId(request.id); !valid) return Refused(valid.error());
  std::optional<Row> row = TRY(rows_.Load(context, request.id));
  return SyncFrom(context, request, std::move(row));
}

Outcome<SyncReply> Synchronizer::SyncFrom(const Context& context, const SyncRequest& request,
                                          std::optional<Row> row) {
  for (int i = 0; i < kMaxCollisions; ++i) {
    // After the row, whose revision is the lease: what is read here is not older than the row.
    std::optional<StoredDocument> object = TRY(store_.Read(context, request.id));
    Plan plan = MakePlan(request, row, std::move(object));
    if (!plan.is_due || request.dry_run || options_.dry_run) return std::move(plan.reply);
    const Outcome<bool> applied = Apply(context, row, plan);
    if (applied && *applied) return std::move(plan.reply);
    Outcome<std::optional<Row>> again = applied ? rows_.Load(context, request.id) : applied.error();
    if (!again) {
      if (!request.fill) return std::move(again).error();
      observer_.Warn("a row could not be filled", request.id, again.error().message);
      plan.reply.outcome = SyncOutcome::kNotCached;
      return std::move(plan.reply);
    }
    row = *std::move(again);
  }
  return Conflict(fmt::format("others keep changing the row of '{}': try again", request.id));
}

Outcome<bool> Synchronizer::Apply(const Context& context, const std::optional<Row>& row,
                                  Plan& plan) {
  if (plan.next) return rows_.Replace(context, row, *std::move(plan.next));
  return rows_.Remove(context, *row);
}

Synchronizer::Plan Synchronizer::MakePlan(const SyncRequest& request, const std::optional<Row>& row,
                                          std::optional<StoredDocument> object) const {
  const bool left_to_writer = row && row->intent &&
                              !IsStale(*row->intent, observer_.clock().Now(), options_) &&
                              IsItsWriters(*row->intent, object);
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
  Result<Document> document = ParseObject(request.id, std::move(object.json));
  Row next = Begin(request, row);
  if (document) {
    next = CommitTo(options_, std::move(next), *document, etag, now);
    plan.reply.document =
        CachedDocument{.document = *std::move(document), .etag = etag, .verified = now};
  } else {
    next = Bury(std::move(next), now);
    plan.reply.invalid = document.error().message;
  }
  const bool has_intent = row && row->intent;
  if (next.committed) {
    plan.is_due = has_intent || !row || AsStored(options_, next) != row->committed;
    plan.reply.outcome = plan.is_due ? SyncOutcome::kWritten : SyncOutcome::kUnchanged;
  } else {
    // An older version must not stay in its place; where there is none, nothing is needed.
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
    plan.next = WithoutIntent(Begin(request, row));
  } else if (may_have_existed) {
    plan.reply.outcome = SyncOutcome::kRemoved;
    plan.is_due = true;
    plan.next = Bury(Begin(request, row), now);
  } else {
    plan.is_due = has_intent;
  }
  return plan;
}

}  // namespace tidemark::documents
