#include "apps/documents/write_through.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/row_encoding.h"
#include "base/retry.h"
#include "tables/plan_again.h"

namespace tidemark::documents {

namespace {

constexpr size_t kTxnBytes = 16;
// Writers of one document take turns. Half of each wait is random, so that two writers that
// collided do not collide again in step.
constexpr RetryPolicy kTurns = {.max_retries = 100,
                                .first_wait = std::chrono::milliseconds(5),
                                .longest_wait = std::chrono::milliseconds(400),
                                .jitter = 0.5};

// An error that the caller has to handle. It says nothing about the table.
bool IsForCaller(const Error& error) {
  return error.code == ErrorCode::kInvalid || error.code == ErrorCode::kConflict ||
         error.code == ErrorCode::kCancelled;
}

// The version that the write replaces.
struct Version {
  std::optional<Row> row = std::nullopt;
  std::optional<std::string> etag = std::nullopt;  // nullopt: there is no object.
  std::optional<Document> document =
      std::nullopt;  // nullopt also when the object is not a document.
};

}  // namespace

struct WriteThrough::Task {
  std::string id;
  const Document* document = nullptr;  // Null: the document is deleted.
  std::optional<std::string> expected_etag;
};

// One write under way.
class WriteThrough::Writing {
 public:
  Writing(WriteThrough& writer, const Context& context, const Task& task)
      : writer_(writer), context_(context), task_(task) {}

  Result<WriteResult> Run() {
    return TakeTurns([this] { return TryThroughCache(); });
  }
  // Writes the object only; the table is not touched.
  Result<WriteResult> RunWithoutCache() {
    return TakeTurns([this] { return TryObjectAlone(); });
  }

 private:
  // The result of one turn; nullopt: another writer was faster, so this one needs another turn.
  using Turn = Result<std::optional<WriteResult>>;
  static Turn TryAgain() { return std::optional<WriteResult>(); }

  template <typename Try>
  Result<WriteResult> TakeTurns(const Try& try_once) {
    const auto turn = [&]() -> Turn {
      txn_ = writer_.runtime_.random.Hex(kTxnBytes);
      return try_once();
    };
    std::optional<WriteResult> result = TRY(tables::PlanAgain<WriteResult>(
        kTurns, writer_.runtime_, turn, context_.deadline, context_.stop));
    if (result) return *std::move(result);
    return Error{ErrorCode::kConflict,
                 fmt::format("other writers keep writing '{}': try again", task_.id)};
  }

  Turn TryThroughCache() {
    Result<std::optional<Version>> version = Find();
    if (!version) return WithoutTable(std::move(version).error());
    if (!*version) return TryAgain();
    if (!TRY(NeedsWrite(**version))) return std::optional(UnchangedResult(**version));
    Result<bool> begun = AddIntent(**version);
    if (!begun) {
      // The intent may be in the row although the table did not say so.
      if (auto withdrawn = WithdrawIntent(); !withdrawn) Warn(withdrawn.error());
      return WithoutTable(std::move(begun).error());
    }
    return *begun ? WriteAndPromote(**version) : TryAgain();
  }

  // Finds the version to replace; nullopt while another writer is at work. The row is trusted to go
  // ahead, because the object is then written conditionally: a stale row costs one more turn. It is
  // not trusted to refuse the write or to skip it; that is decided by the object.
  Result<std::optional<Version>> Find() {
    std::optional<Row> row = TRY(writer_.rows_.Load(context_, task_.id));
    if (row && !row->intent && row->committed && row->committed->document &&
        IsServable(*row, Clock().NowSeconds())) {
      Version version{
          .row = row, .etag = row->committed->etag, .document = row->committed->document};
      const Result<bool> needs_write = NeedsWrite(version);
      if (needs_write && *needs_write) return std::optional(std::move(version));
    }
    return FindInObject(std::move(row));
  }

  Result<std::optional<Version>> FindInObject(std::optional<Row> row) {
    const bool was_blank = !row || (IsBlank(*row) && !row->intent);
    SyncReply synced = TRY(writer_.synchronizer_.SyncFrom(context_, {.id = task_.id}, row));
    if (synced.outcome == SyncOutcome::kInFlight) return std::optional<Version>();
    // Synchronizing may have changed the row, so it is loaded again. Only when there was no row and
    // no object there is still none.
    if (!was_blank || synced.outcome != SyncOutcome::kAbsent) {
      row = TRY(writer_.rows_.Load(context_, task_.id));
    }
    const bool moved_on =
        row && (row->intent || (row->committed && row->committed->etag != synced.etag));
    if (moved_on) return std::optional<Version>();
    Version version{.row = std::move(row), .etag = std::move(synced.etag)};
    version.document = std::move(synced.document);
    return std::optional(std::move(version));
  }

  // Why the version that is there is not the expected one, and what to do.
  std::string DescribeUnexpected(const std::optional<std::string>& found) const {
    const std::string& expected = *task_.expected_etag;
    if (!found) {
      return fmt::format(
          "there is no document '{}', and the version '{}' was expected: it was "
          "deleted, or the id is wrong",
          task_.id, expected);
    }
    if (expected.empty()) {
      return fmt::format(
          "there is a document '{}' already, and nothing was changed: to replace "
          "it, name its ETag '{}' as the expected one",
          task_.id, *found);
    }
    return fmt::format(
        "'{}' was changed by another writer: its ETag is '{}' and not '{}'. Read it "
        "again, and repeat your change with the ETag that you get",
        task_.id, *found, expected);
  }

  // False when the object is already as the caller wants it.
  Result<bool> NeedsWrite(const Version& version) const {
    if (task_.expected_etag && *task_.expected_etag != version.etag.value_or("")) {
      return Error{ErrorCode::kConflict, DescribeUnexpected(version.etag)};
    }
    if (!task_.document) return NeedsDelete(version);
    if (!version.document) return true;
    if (version.document->json() == task_.document->json()) return false;
    TRY(VerifyTransition(version.document->facts().status, task_.document->facts().status));
    return true;
  }
  static Result<bool> NeedsDelete(const Version& version) {
    if (!version.etag) return false;
    if (version.document) TRY(VerifyDeletable(version.document->facts().status));
    return true;
  }

  WriteResult UnchangedResult(const Version& version) const {
    const bool has_row = version.row && version.row->committed && version.row->committed->document;
    return {
        .etag = version.etag.value_or(""), .changed = false, .cached = has_row || !task_.document};
  }

  // Step 2. False when another writer changed the row first.
  Result<bool> AddIntent(const Version& version) {
    Row next = version.row.value_or(Row{.id = task_.id});
    next.intent = Intent{.txn = txn_,
                         .kind = task_.document ? IntentKind::kPut : IntentKind::kDelete,
                         .base_etag = version.etag,
                         .started = Clock().Now(),
                         .process = writer_.options_.sole_process};
    return writer_.rows_.Replace(context_, version.row, std::move(next));
  }

  // Steps 3 and 4.
  Turn WriteAndPromote(const Version& version) {
    ObjectWriteReply written = WriteObject(version);
    switch (written.state) {
      case ObjectWriteState::kWritten:
        return std::optional(Promote(written.etag));
      case ObjectWriteState::kRefused:
        TRY(Reconcile());
        return TryAgain();
      case ObjectWriteState::kFailed:
        if (auto withdrawn = WithdrawIntent(); !withdrawn) {
          return CombineErrors(*written.error, withdrawn.error());
        }
        break;
      case ObjectWriteState::kOvertaken:
        if (auto reconciled = Reconcile(); !reconciled) Warn(reconciled.error());
        break;
      case ObjectWriteState::kUndecided:
        // The write may still arrive, so the intent must stay. Once its lease is over, the tag
        // shows what has happened, and the write is settled.
        break;
    }
    return *std::move(written.error);
  }

  ObjectWriteReply WriteObject(const Version& version) {
    return writer_.store_.Write(context_,
                                {.id = task_.id,
                                 .json = task_.document ? &task_.document->json() : nullptr,
                                 .base_etag = version.etag,
                                 .txn = txn_});
  }

  // Step 4. The object has the document, so the write has succeeded even if the row cannot be
  // written. A row that cannot be written keeps its intent, and is settled later.
  WriteResult Promote(const std::string& etag) {
    WriteResult result{.etag = etag};
    const Result<bool> promoted = EndIntent([&](Row row) {
      row = task_.document ? CommitVersion(writer_.options_, std::move(row), *task_.document, etag,
                                           Clock().Now())
                           : MarkDeleted(std::move(row), Clock().Now());
      result.cached = !task_.document || EncodeRow(writer_.options_, row).Contains("document_json");
      return std::optional(std::move(row));
    });
    if (promoted && *promoted) return result;
    if (!promoted) Warn(promoted.error());
    // The intent is gone: somebody settled it before us, or has changed the object since.
    const auto synced = promoted ? Synchronize() : Result<SyncReply>(promoted.error());
    result.cached = synced && synced->outcome != SyncOutcome::kNotCached;
    return result;
  }

  // Another writer's version is in the object. Brings the row up to date, and removes our intent.
  Status Reconcile() {
    TRY(Synchronize());
    return WithdrawIntent();
  }

  // Removes our intent and leaves the rest of the row as it is.
  Status WithdrawIntent() {
    TRY(EndIntent([](Row row) {
      row = WithoutIntent(std::move(row));
      return IsBlank(row) ? std::optional<Row>() : std::optional(std::move(row));
    }));
    return Done{};
  }

  // Changes the row while it still has our intent. `change` returns nullopt to remove the row.
  // False when our intent is not there any more. Few rounds are needed, because every other writer
  // that changes a row with an intent also removes the intent. The bound is for a store that
  // refuses every write: the intent then stays, and is settled after its lease.
  template <typename Change>
  Result<bool> EndIntent(const Change& change) {
    const Context finishing = ContextToFinish();
    const auto round = [&]() -> Result<std::optional<bool>> {
      const std::optional<Row> row = TRY(writer_.rows_.Load(finishing, task_.id));
      if (!row || !row->intent || row->intent->txn != txn_) return std::optional(false);
      std::optional<Row> next = change(*row);
      const bool done = next ? TRY(writer_.rows_.Replace(finishing, row, *std::move(next)))
                             : TRY(writer_.rows_.Remove(finishing, *row));
      return done ? std::optional(true) : std::nullopt;
    };
    const std::optional<bool> ended = TRY(tables::PlanAgain<bool>(
        tables::kPlanAgain, writer_.runtime_, round, finishing.deadline, finishing.stop));
    if (ended) return *ended;
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the row of '{}' keeps changing, so the intent of a write stays in it "
                             "until it is settled: try again",
                             task_.id)};
  }

  // The table failed before the object was written.
  Turn WithoutTable(const Error& error) {
    if (writer_.options_.write_mode == WriteMode::kStrict || IsForCaller(error) ||
        context_.IsOver()) {
      return error;
    }
    Warn(error);
    if (auto noted = writer_.repairs_.Note(context_, task_.id); !noted) {
      return CombineErrors(error, noted.error());
    }
    // With the tag of the intent: the intent may be in the row, and only its reply was lost.
    return TryObjectAlone();
  }

  Turn TryObjectAlone() {
    std::optional<StoredDocument> stored = TRY(writer_.store_.Read(context_, task_.id));
    Version version;
    if (stored) {
      version.etag = stored->state.etag;
      if (auto document = ParseObject(task_.id, *std::move(stored))) {
        version.document = *std::move(document);
      }
    }
    if (!TRY(NeedsWrite(version))) return std::optional(UnchangedResult(version));
    ObjectWriteReply written = WriteObject(version);
    if (written.state == ObjectWriteState::kRefused) return TryAgain();
    if (written.error) return *std::move(written.error);
    return std::optional(WriteResult{.etag = std::move(written.etag), .cached = false});
  }

  Result<SyncReply> Synchronize() {
    return writer_.synchronizer_.Sync(ContextToFinish(), {.id = task_.id});
  }

  Context ContextToFinish() const { return ExtendToFinish(context_, Clock()); }

  void Warn(const Error& error) const {
    writer_.observer_.Warn("the row of a write could not be written", task_.id, error.message);
  }
  const tidemark::Clock& Clock() const { return writer_.runtime_.clock; }

  WriteThrough& writer_;
  const Context& context_;
  const Task& task_;
  std::string txn_;
};

WriteThrough::WriteThrough(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
                           Synchronizer* synchronizer, Repairs* repairs, const Observer* observer,
                           const Runtime& runtime)
    : options_(options),
      rows_(*rows),
      store_(*store),
      synchronizer_(*synchronizer),
      repairs_(*repairs),
      observer_(*observer),
      runtime_(runtime) {}

Result<WriteResult> WriteThrough::Write(const Context& context, const WriteRequest& request) {
  return Run(context, {.id = request.document.id(),
                       .document = &request.document,
                       .expected_etag = request.expected_etag});
}

Result<WriteResult> WriteThrough::Delete(const Context& context, const DeleteRequest& request) {
  TRY(ValidateId(request.id));
  return Run(context, {.id = request.id, .expected_etag = request.expected_etag});
}

Result<WriteResult> WriteThrough::Run(const Context& context, const Task& task) {
  if (options_.dry_run) return LogDryRun(task);
  return observer_.Observe<WriteResult>(
      context, {.name = task.document ? "write" : "remove", .key = task.id},
      [&](const Context& counted, Operation& operation) -> Result<WriteResult> {
        Writing writing(*this, counted, task);
        Result<WriteResult> result = options_.enabled ? writing.Run() : writing.RunWithoutCache();
        if (result && !result->changed) operation.outcome = "unchanged";
        if (result && result->changed && !result->cached) operation.outcome = "not cached";
        return result;
      });
}

WriteResult WriteThrough::LogDryRun(const Task& task) const {
  const std::string key = ObjectKey(options_, task.id);
  observer_.Record(
      {.name = task.document ? "write row" : "delete row", .key = task.id, .dry_run = true});
  observer_.Record(
      {.name = task.document ? "write object" : "delete object", .key = key, .dry_run = true});
  return {.dry_run = true};
}

}  // namespace tidemark::documents
