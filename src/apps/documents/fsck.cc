#include "apps/documents/fsck.h"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/row_store.h"

namespace tidemark::documents {

namespace {

constexpr uint32_t kRowsPage = 200;
// The last key of a run that was interrupted in its second half: "~rows/", the time of creation, a
// slash and the row's key. No object key of a document begins like this.
constexpr std::string_view kRowsPrefix = "~rows/";

std::string FormatRowsKey(const RowPosition& position) {
  return fmt::format("{}{}/{}", kRowsPrefix, position.created_at, position.key);
}

// Returns nullopt when the text is the key of an object.
std::optional<RowPosition> ParseRowsKey(std::string_view text) {
  if (!text.starts_with(kRowsPrefix)) return std::nullopt;
  text.remove_prefix(kRowsPrefix.size());
  RowPosition position;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, position.created_at);
  if (error != std::errc() || rest == end || *rest != '/') return std::nullopt;
  position.key.assign(rest + 1, end);
  return position;
}

// Whether readers can get anything from the row. An expired row cannot be wrong: the sweeper will
// remove it.
bool HasEffect(const std::optional<Row>& row, EpochSeconds now) {
  return row && (row->intent || IsBlank(*row) || IsServable(*row, now));
}

bool Differs(const std::optional<Row>& row, const SyncReply& reply, EpochSeconds now) {
  switch (reply.outcome) {
    case SyncOutcome::kUnchanged:
    case SyncOutcome::kInFlight:
      return false;
    case SyncOutcome::kWritten:
      return true;
    case SyncOutcome::kRemoved:
    case SyncOutcome::kAbsent:
    case SyncOutcome::kNotCached:
      break;
  }
  return HasEffect(row, now);
}

std::string Explain(const std::optional<Row>& row, const SyncReply& reply) {
  if (!row) return "there is an object and no row";
  if (row->intent) return "a write was begun and not ended";
  if (IsBlank(*row)) return "the row holds neither a version nor a deletion";
  if (!reply.etag) return "there is a row and no object";
  if (!reply.invalid.empty()) {
    return fmt::format("the row has an earlier version, the object is not a document: {}",
                       reply.invalid);
  }
  if (reply.outcome == SyncOutcome::kNotCached) return "there is a row, the document is too old";
  if (!row->committed) return "the row says that it was deleted, and there is an object";
  if (row->committed->etag != *reply.etag) {
    return fmt::format("the row has version {}, the object {}", row->committed->etag, *reply.etag);
  }
  if (reply.outcome == SyncOutcome::kUnchanged) {
    return "a customer does not find the row: its pointer is missing or wrong";
  }
  if (reply.document && row->committed->facts != reply.document->facts()) {
    return "the row is indexed by other values than the document has";
  }
  return "the row names the object's version and holds another content";
}

// Queries by status find rows by their status alone.
std::vector<IndexRange> AllRanges() {
  std::vector<IndexRange> ranges = RangesOf({.to = kLastSecond});
  for (const DocumentStatus status : kAllStatuses) {
    const auto more = RangesOf({.to = kLastSecond, .status = status});
    ranges.insert(ranges.end(), more.begin(), more.end());
  }
  return ranges;
}

bool IsSame(const std::optional<Row>& left, const std::optional<Row>& right) {
  return left ? right && left->revision == right->revision : !right;
}

}  // namespace

std::string ProofLine(const FsckReport& report) {
  return fmt::format("checked {}, equal {}, repaired {}, in flight {}, differing {}",
                     report.checked, report.equal, report.repaired, report.in_flight,
                     report.differing);
}

// One run.
class Fsck::Checking {
 public:
  Checking(Fsck& fsck, const Context& context, const WalkOptions& walk,
           const std::function<void(const FsckFinding&)>& tell, std::optional<Filter> filter)
      : fsck_(fsck),
        context_(context),
        walk_(walk),
        tell_(tell),
        filter_(std::move(filter)),
        is_dry_(walk.dry_run || fsck.options_.dry_run) {
    report_.last_key = walk.after;
  }

  Result<FsckReport> Run() {
    const auto mark = MarkOf(fsck_.options_, walk_, Now());
    const Status checked = CheckAll();
    if (!checked && !IsInterruption(context_, checked.error())) return checked.error();
    report_.finished = checked.has_value();
    if (report_.differing == 0) report_.mark = mark;
    if (report_.finished && report_.mark) {
      report_.marked = TRY(StoreMarkInTime(context_, fsck_.rows_, *report_.mark));
      report_.finished = report_.marked;
    }
    return std::move(report_);
  }

 private:
  std::chrono::milliseconds Now() const { return fsck_.observer_.clock().Now(); }

  Status CheckAll() {
    const std::optional<RowPosition> among_rows = ParseRowsKey(walk_.after);
    if (!among_rows) TRY(CheckObjects());
    TRY(CheckRows(among_rows));
    // A first write has no time of creation and no customer yet, so no filter matches it.
    return filter_ ? Status(Done{}) : CheckFirstWrites();
  }

  Status CheckObjects() {
    ObjectWalk objects(fsck_.options_, &fsck_.store_, &fsck_.observer_, &walk_);
    const Status walked = objects.Run(context_, [&](const std::string& id) { return Check(id); });
    report_.last_key = objects.progress().last_key;
    progress_ = objects.progress();
    return walked;
  }

  // Visits the rows of all types and statuses in the order of creation.
  Status CheckRows(const std::optional<RowPosition>& after) {
    IndexWalk walk(&fsck_.rows_, filter_ ? RangesOf(*filter_) : AllRanges(), after, kRowsPage);
    std::optional<RowPosition> last;
    while (const std::optional<IndexHit> hit = TRY(walk.Next(context_))) {
      // A row is in several indexes, at the same position in each.
      if (hit->position == last) continue;
      last = hit->position;
      TRY(VerifyMayContinue(context_, walk_));
      TRY(hit->id.empty() ? CheckStray(*hit) : CheckUnlessObject(hit->id));
      report_.last_key = FormatRowsKey(hit->position);
      ++progress_.checked;
      if (progress_.checked % kRowsPage == 0) TellProgress();
    }
    TellProgress();
    return Done{};
  }

  Status CheckFirstWrites() {
    for (const Row& row : TRY(fsck_.rows_.ListFirstWrites(context_))) {
      TRY(CheckUnlessObject(row.id));
    }
    return Done{};
  }

  // A row that has an object was compared in the first half of the run.
  Status CheckUnlessObject(const std::string& id) {
    if (context_.IsOver())
      return Error{ErrorCode::kCancelled, "the run was stopped, or its deadline has passed"};
    const Result<std::optional<ObjectState>> object = fsck_.store_.Head(context_, id);
    if (object && *object) return failures_.Check(context_, Done{});
    return failures_.Check(context_, object ? Check(id) : Status(CountFailure(id, object.error())));
  }

  Status CheckStray(const IndexHit& hit) {
    if (!is_dry_) TRY(fsck_.rows_.RemoveStray(context_, hit));
    ++report_.checked;
    ++(is_dry_ ? report_.differing : report_.repaired);
    Tell({.id = hit.position.key,
          .what = "an index lists an item that is neither a row nor a pointer",
          .repaired = !is_dry_});
    return Done{};
  }

  Status Check(const std::string& id) {
    Status checked =
        fsck_.observer_.Observe<Done>(context_, {.name = "fsck", .key = id, .dry_run = is_dry_},
                                      [&](const Context& counted, Operation& operation) {
                                        return Compare(counted, id, operation);
                                      });
    if (checked) return checked;
    return CountFailure(id, checked.error());
  }

  // A document that could not be checked counts as differing, so that the proof does not claim more
  // than is known.
  Error CountFailure(const std::string& id, const Error& error) {
    if (IsInterruption(context_, error)) return error;
    ++report_.checked;
    ++report_.differing;
    Tell({.id = id, .what = "it could not be checked: " + error.message});
    return error;
  }

  Status Compare(const Context& context, const std::string& id, Operation& operation) {
    std::optional<Row> row = TRY(fsck_.rows_.Load(context, id));
    if (filter_ && !TRY(IsAskedFor(context, id, row))) {
      operation.outcome = "not asked for";
      return Done{};
    }
    const SyncReply reply =
        TRY(fsck_.synchronizer_.SyncFrom(context, {.id = id, .dry_run = is_dry_}, row));
    bool is_in_flight = reply.outcome == SyncOutcome::kInFlight;
    bool differs = Differs(row, reply, fsck_.observer_.clock().NowSeconds());
    if (reply.outcome == SyncOutcome::kUnchanged && !TRY(fsck_.rows_.HasPointers(context, *row))) {
      differs = true;
      is_in_flight = !is_dry_ && !TRY(fsck_.rows_.WritePointers(context, *row));
    }
    // A repair is refused when somebody wrote the row meanwhile. A dry run writes nothing, so it
    // must look again before it reports a difference.
    if (differs && is_dry_) is_in_flight = !IsSame(row, TRY(fsck_.rows_.Load(context, id)));
    ++report_.checked;
    if (is_in_flight) {
      ++report_.in_flight;
      operation.outcome = "in flight";
    } else if (differs) {
      ++(is_dry_ ? report_.differing : report_.repaired);
      operation.outcome = is_dry_ ? "differs" : "repaired";
      Tell({.id = id, .what = Explain(row, reply), .repaired = !is_dry_});
    } else {
      ++report_.equal;
      operation.outcome = "equal";
    }
    return Done{};
  }

  // Whether the row or the object matches the filter. Either may be the one that is wrong.
  Result<bool> IsAskedFor(const Context& context, const std::string& id,
                          const std::optional<Row>& row) {
    if (row && row->committed && Matches(*filter_, row->committed->facts)) return true;
    std::optional<StoredDocument> object = TRY(fsck_.store_.Read(context, id));
    if (!object) return false;
    const Result<Document> document = ParseObject(id, *std::move(object));
    return document && Matches(*filter_, document->facts());
  }

  void Tell(const FsckFinding& finding) const {
    if (tell_) tell_(finding);
  }
  void TellProgress() {
    progress_.last_key = report_.last_key;
    if (walk_.progress) walk_.progress(progress_);
  }

  Fsck& fsck_;
  const Context& context_;
  const WalkOptions& walk_;
  const std::function<void(const FsckFinding&)>& tell_;
  const std::optional<Filter> filter_;
  const bool is_dry_;
  FsckReport report_;
  WalkProgress progress_;
  FailureLimit failures_;
};

Fsck::Fsck(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
           Synchronizer* synchronizer, const Observer* observer)
    : options_(options),
      rows_(*rows),
      store_(*store),
      synchronizer_(*synchronizer),
      observer_(*observer) {}

Result<FsckReport> Fsck::Run(const Context& context, const WalkOptions& walk,
                             const std::function<void(const FsckFinding&)>& tell) {
  std::optional<Filter> filter = TRY(FilterOf(walk));
  return Checking(*this, context, walk, tell, std::move(filter)).Run();
}

}  // namespace tidemark::documents
