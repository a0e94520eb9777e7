#include "apps/documents/write_through.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/converter.h"
#include "apps/documents/object_write.h"
#include "apps/documents/settled_row.h"
#include "base/retry.h"

namespace tidemark::documents {

namespace {

constexpr size_t kTxnBytes = 16;
// Writers of one document take turns; half of each wait is left to chance, so that two do not meet
// again and again.
constexpr RetryPolicy kTurns = {.max_retries = 100,
                                .first_wait = std::chrono::milliseconds(5),
                                .longest_wait = std::chrono::milliseconds(400),
                                .jitter = 0.5};

// What the caller has to sort out: the table is not to blame.
bool IsCallers(const CacheError& error) {
  return error.type == CacheErrorType::kValidation || error.type == CacheErrorType::kConflict ||
         error.type == CacheErrorType::kCancelled;
}

// The version that is to be replaced.
struct Version {
  std::optional<Row> row = std::nullopt;
  std::optional<std::string> etag = std::nullopt;   // nullopt: there is no object.
  std::optional<Document> document = std::nullopt;  // Also nullopt when the object is none.
};

}  // namespace

struct WriteThrough::Task {
  std::string id;
  const Document* document = nullptr;  // Null: it is to be deleted.
  std::optional<std::string> expected_etag;
};

// One write under way.
class WriteThrough::Writing {
 public:
  Writing(WriteThrough& writer, const Context& context, const Task& task)
      : writer_(writer), context_(context), task_(task) {}

  Outcome<WriteResult> Run() {
    return TakeTurns([this] { return TryThroughCache(); });
  }
  // To the object store, and no row.
  Outcome<WriteResult> RunWithoutCache() {
    return TakeTurns([this] { return TryObjectAlone(); });
  }

 private:
  // What came of one turn; nullopt: somebody else was faster, and it is to be tried again.
  using Turn = Outcome<std::optional<WriteResult>>;
  static Turn Again() { return std::optional<WriteResult>(); }

  template <typename Try>
  Outcome<WriteResult> TakeTurns(const Try& try_once) {
    Backoff backoff(kTurns, &writer_.random_);
    while (true) {
      txn_ = writer_.random_.Hex(kTxnBytes);
      std::optional<WriteResult> result = TRY(try_once());
      if (result) return *std::move(result);
      const auto wait = backoff.Next(context_.deadline);
      if (!wait || context_.IsOver()) {
        return Conflict(fmt::format("others keep writing '{}': try again", task_.id));
      }
      writer_.pauser_.Pause(*wait, context_.stop);
    }
  }

  Turn TryThroughCache() {
    Outcome<std::optional<Version>> version = Find();
    if (!version) return WithoutTable(std::move(version).error());
    if (!*version) return Again();
    if (!TRY(IsToBeDone(**version))) return std::optional(Nothing(**version));
    Outcome<bool> begun = Begin(**version);
    if (!begun) {
      // The intent may be there all the same.
      if (auto withdrawn = Withdraw(); !withdrawn) Warn(withdrawn.error());
      return WithoutTable(std::move(begun).error());
    }
    return *begun ? CarryOut(**version) : Again();
  }

  // What there is to replace; nullopt while somebody else is writing it. What the row says is
  // enough to go on with, since the object is written conditionally. To refuse, or to leave it as
  // it is, the object itself is asked.
  Outcome<std::optional<Version>> Find() {
    std::optional<Row> row = TRY(writer_.rows_.Load(context_, task_.id));
    if (row && !row->intent && row->committed && row->committed->document &&
        IsServable(*row, Clock().NowSeconds())) {
      Version version{
          .row = row, .etag = row->committed->etag, .document = row->committed->document};
      const Outcome<bool> is_due = IsToBeDone(version);
      if (is_due && *is_due) return std::optional(std::move(version));
    }
    return FindInObject(std::move(row));
  }

  Outcome<std::optional<Version>> FindInObject(std::optional<Row> row) {
    const bool says_nothing = !row || (KnowsNothing(*row) && !row->intent);
    SyncReply synced = TRY(writer_.synchronizer_.SyncFrom(context_, {.id = task_.id}, row));
    if (synced.outcome == SyncOutcome::kInFlight) return std::optional<Version>();
    // Only a row that was not there and still is not needs no second look.
    if (!says_nothing || synced.outcome != SyncOutcome::kAbsent) {
      row = TRY(writer_.rows_.Load(context_, task_.id));
    }
    const bool moved_on =
        row && (row->intent || (row->committed && row->committed->etag != synced.etag));
    if (moved_on) return std::optional<Version>();
    Version version{.row = std::move(row), .etag = std::move(synced.etag)};
    if (synced.document) version.document = std::move(synced.document->document);
    return std::optional(std::move(version));
  }

  // False when it is so already.
  Outcome<bool> IsToBeDone(const Version& version) const {
    if (task_.expected_etag && *task_.expected_etag != version.etag.value_or("")) {
      return Conflict(fmt::format("'{}' is not the version that was expected: its ETag is '{}'",
                                  task_.id, version.etag.value_or("")));
    }
    if (!task_.document) return IsToBeDeleted(version);
    if (!version.document) return true;
    if (version.document->json() == task_.document->json()) return false;
    const Status allowed =
        VerifyTransition(version.document->facts().status, task_.document->facts().status);
    if (!allowed) return Refused(allowed.error());
    return true;
  }
  static Outcome<bool> IsToBeDeleted(const Version& version) {
    if (!version.etag) return false;
    if (!version.document) return true;
    const Status allowed = VerifyDeletable(version.document->facts().status);
    if (!allowed) return Refused(allowed.error());
    return true;
  }

  WriteResult Nothing(const Version& version) const {
    const bool has_row = version.row && version.row->committed && version.row->committed->document;
    return {
        .etag = version.etag.value_or(""), .changed = false, .cached = has_row || !task_.document};
  }

  // The intent, beside whatever the row holds.
  Outcome<bool> Begin(const Version& version) {
    Row next = version.row.value_or(Row{.id = task_.id});
    next.intent = Intent{.txn = txn_,
                         .kind = task_.document ? IntentKind::kPut : IntentKind::kDelete,
                         .base_etag = version.etag,
                         .started = Clock().Now()};
    return writer_.rows_.Replace(context_, version.row, std::move(next));
  }

  Turn CarryOut(const Version& version) {
    ObjectWriteResult written = WriteObject(version);
    switch (written.landing) {
      case Landing::kLanded:
        return std::optional(Promote(written.etag));
      case Landing::kRefused:
        TRY(Reconcile());
        return Again();
      case Landing::kFailed:
        if (auto withdrawn = Withdraw(); !withdrawn) {
          return Both(*std::move(written.error), std::move(withdrawn).error());
        }
        return *std::move(written.error);
      case Landing::kOvertaken:
        if (auto reconciled = Reconcile(); !reconciled) Warn(reconciled.error());
        break;
      case Landing::kUndecided:
        // The intent stays: by its tag somebody settles it once it can no longer arrive.
        break;
    }
    return *std::move(written.error);
  }

  ObjectWriteResult WriteObject(const Version& version) {
    ObjectWrite write({.id = task_.id,
                       .json = task_.document ? &task_.document->json() : nullptr,
                       .base_etag = version.etag,
                       .txn = txn_},
                      &writer_.store_, &writer_.pauser_, &Clock());
    return write.Run(context_);
  }

  // The object has it, so this is a success whatever becomes of the row: a row that cannot be
  // written keeps its intent, and is settled by it.
  WriteResult Promote(const std::string& etag) {
    WriteResult result{.etag = etag};
    const Outcome<bool> promoted = EndIntent([&](Row row) {
      row = task_.document
                ? CommitTo(writer_.options_, std::move(row), *task_.document, etag, Clock().Now())
                : Bury(std::move(row), Clock().Now());
      result.cached = !task_.document || EncodeRow(writer_.options_, row).Contains("document_json");
      return std::optional(std::move(row));
    });
    if (promoted && *promoted) return result;
    if (!promoted) Warn(promoted.error());
    // Somebody settled it before us, or has changed the object since.
    const auto synced = promoted ? Synchronize() : Outcome<SyncReply>(promoted.error());
    result.cached = synced && synced->outcome != SyncOutcome::kNotCached;
    return result;
  }

  // Somebody else's version is there: the row is made to say so, without our intent.
  Outcome<Done> Reconcile() {
    TRY(Synchronize());
    return Withdraw();
  }

  // Takes our intent away and leaves everything else as it is.
  Outcome<Done> Withdraw() {
    TRY(EndIntent([](Row row) {
      row = WithoutIntent(std::move(row));
      return KnowsNothing(row) ? std::optional<Row>() : std::optional(std::move(row));
    }));
    return Done{};
  }

  // Changes the row if it has our intent still; nullopt of `change`: the row goes. False when the
  // intent is not there.
  template <typename Change>
  Outcome<bool> EndIntent(const Change& change) {
    const Context ending = Ending();
    while (true) {
      const std::optional<Row> row = TRY(writer_.rows_.Load(ending, task_.id));
      if (!row || !row->intent || row->intent->txn != txn_) return false;
      std::optional<Row> next = change(*row);
      const bool done = next ? TRY(writer_.rows_.Replace(ending, row, *std::move(next)))
                             : TRY(writer_.rows_.Remove(ending, *row));
      if (done) return true;
    }
  }

  // The table is away before the object was touched.
  Turn WithoutTable(CacheError error) {
    if (writer_.options_.write_mode == WriteMode::kStrict || IsCallers(error) ||
        context_.IsOver()) {
      return error;
    }
    Warn(error);
    if (auto noted = writer_.repairs_.Note(context_, task_.id); !noted) {
      return Both(std::move(error), std::move(noted).error());
    }
    // Under the tag of the intent, which may be in the row: only its reply may have been lost.
    return TryObjectAlone();
  }

  Turn TryObjectAlone() {
    std::optional<StoredDocument> stored = TRY(writer_.store_.Read(context_, task_.id));
    Version version;
    if (stored) {
      version.etag = stored->state.etag;
      if (auto document = ParseObject(task_.id, std::move(stored->json))) {
        version.document = *std::move(document);
      }
    }
    if (!TRY(IsToBeDone(version))) return std::optional(Nothing(version));
    ObjectWriteResult written = WriteObject(version);
    if (written.landing == Landing::kRefused) return Again();
    if (written.error) return *std::move(written.error);
    return std::optional(WriteResult{.etag = std::move(written.etag), .cached = false});
  }

  Outcome<SyncReply> Synchronize() {
    return writer_.synchronizer_.Sync(Ending(), {.id = task_.id});
  }

  Context Ending() const { return EndingContext(context_, Clock()); }

  void Warn(const CacheError& error) const {
    writer_.observer_.Warn("the row of a write could not be written", task_.id, error.message);
  }
  const tidemark::Clock& Clock() const { return writer_.observer_.clock(); }

  WriteThrough& writer_;
  const Context& context_;
  const Task& task_;
  std::string txn_;
};

WriteThrough::WriteThrough(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
                           Synchronizer* synchronizer, Repairs* repairs, Pauser* pauser,
                           Random* random, const Observer* observer)
    : options_(options),
      rows_(*rows),
      store_(*store),
      synchronizer_(*synchronizer),
      repairs_(*repairs),
      pauser_(*pauser),
      random_(*random),
      observer_(*observer) {}

Outcome<WriteResult> WriteThrough::Write(const Context& context, const WriteRequest& request) {
  return Run(context, {.id = request.document.id(),
                       .document = &request.document,
                       .expected_etag = request.expected_etag});
}

Outcome<WriteResult> WriteThrough::Delete(const Context& context, const DeleteRequest& request) {
  if (Status valid = ValidateId(request.id); !valid) return Refused(valid.error());
  return Run(context, {.id = request.id, .expected_etag = request.expected_etag});
}

Outcome<WriteResult> WriteThrough::Run(const Context& context, const Task& task) {
  if (options_.dry_run) return TellDryRun(task);
  return observer_.Observe<WriteResult>(
      context, {.name = task.document ? "write" : "remove", .key = task.id},
      [&](const Context& counted, Operation& operation) -> Outcome<WriteResult> {
        Writing writing(*this, counted, task);
        Outcome<WriteResult> result = options_.enabled ? writing.Run() : writing.RunWithoutCache();
        if (result && !result->changed) operation.outcome = "unchanged";
        if (result && result->changed && !result->cached) operation.outcome = "not cached";
        return result;
      });
}

WriteResult WriteThrough::TellDryRun(const Task& task) const {
  const std::string key = ObjectKey(options_, task.id);
  observer_.Tell(
      {.name = task.document ? "write row" : "delete row", .key = task.id, .dry_run = true});
  observer_.Tell(
      {.name = task.document ? "write object" : "delete object", .key = key, .dry_run = true});
  return {.dry_run = true};
}

}  // namespace tidemark::documents
