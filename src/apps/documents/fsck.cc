#include "apps/documents/fsck.h"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/index_walk.h"

namespace tidemark::documents {

namespace {

constexpr uint32_t kRowsPage = 200;
// Checkpoints among the rows: this, the time of creation, a slash, the row's key.
constexpr std::string_view kRowsMark = "~rows/";

std::string CheckpointOf(const RowPosition& position) {
  return fmt::format("{}{}/{}", kRowsMark, position.created_at, position.key);
}

// nullopt when it is none.
std::optional<RowPosition> ParseCheckpoint(std::string_view text) {
  if (!text.starts_with(kRowsMark)) return std::nullopt;
  text.remove_prefix(kRowsMark.size());
  RowPosition position;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, position.created_at);
  if (error != std::errc() || rest == end || *rest != '/') return std::nullopt;
  position.key.assign(rest + 1, end);
  return position;
}

// What nobody is served cannot be wrong: an expired row waits only for its end.
bool SaysSomething(const std::optional<Row>& row, EpochSeconds now) {
  return row && (row->intent || IsServable(*row, now));
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
  return SaysSomething(row, now);
}

std::string Explain(const std::optional<Row>& row, const SyncReply& reply) {
  if (!row) return "there is an object and no row";
  if (row->intent) return "a write was left without an end";
  if (!reply.etag) return "there is a row and no object";
  if (!reply.invalid.empty()) {
    return fmt::format("the row has an earlier version, the object is no document: {}",
                       reply.invalid);
  }
  if (reply.outcome == SyncOutcome::kNotCached) return "there is a row, the document is too old";
  if (!row->committed) return "the row says that it was deleted, and there is an object";
  if (row->committed->etag != *reply.etag) {
    return fmt::format("the row has version {}, the object {}", row->committed->etag, *reply.etag);
  }
  return "the row names the object's version and holds something else";
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

  Outcome<FsckReport> Run() {
    const auto mark = MarkOf(fsck_.options_, walk_, Now());
    const Outcome<Done> checked = CheckAll();
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

  Outcome<Done> CheckAll() {
    const std::optional<RowPosition> among_rows = ParseCheckpoint(walk_.after);
    if (!among_rows) TRY(CheckObjects());
    TRY(CheckRows(among_rows));
    // Who asks for a time or a customer does not ask for what has neither yet.
    return filter_ ? Outcome<Done>(Done{}) : CheckFirstWrites();
  }

  Outcome<Done> CheckObjects() {
    ObjectWalk objects(fsck_.options_, &fsck_.store_, &fsck_.observer_, &walk_);
    const Outcome<Done> walked =
        objects.Run(context_, [&](const std::string& id) { return Check(id); });
    report_.last_key = objects.progress().last_key;
    progress_ = objects.progress();
    return walked;
  }

  // In the order of creation, whatever the type.
  Outcome<Done> CheckRows(const std::optional<RowPosition>& after) {
    const Filter everything{.to = kLastSecond};
    IndexWalk walk(&fsck_.rows_, RangesOf(filter_.value_or(everything)), after, kRowsPage);
    while (const std::optional<IndexHit> hit = TRY(walk.Next(context_))) {
      TRY(MayGoOn(context_, walk_));
      TRY(CheckUnlessObject(hit->id));
      report_.last_key = CheckpointOf(hit->position);
      ++progress_.checked;
      if (progress_.checked % kRowsPage == 0) TellProgress();
    }
    TellProgress();
    return Done{};
  }

  Outcome<Done> CheckFirstWrites() {
    for (const std::string& id : TRY(fsck_.rows_.ListIntents(context_, Now()))) {
      TRY(CheckUnlessObject(id));
    }
    return Done{};
  }

  // What has an object was checked with the objects.
  Outcome<Done> CheckUnlessObject(const std::string& id) {
    if (context_.IsOver()) return Cancelled("the run was stopped, or its deadline has passed");
    const Outcome<std::optional<ObjectState>> object = fsck_.store_.Head(context_, id);
    if (object && *object) return patience_.After(context_, Done{});
    return patience_.After(context_, object ? Check(id) : Fail(id, object.error()));
  }

  Outcome<Done> Check(const std::string& id) {
    Outcome<Done> checked =
        fsck_.observer_.Observe<Done>(context_, {.name = "fsck", .key = id, .dry_run = is_dry_},
                                      [&](const Context& counted, Operation& operation) {
                                        return Compare(counted, id, operation);
                                      });
    if (checked) return checked;
    return Fail(id, std::move(checked).error());
  }

  // Nothing is known of it, and the proof must not say more.
  CacheError Fail(const std::string& id, CacheError error) {
    if (IsInterruption(context_, error)) return error;
    ++report_.checked;
    ++report_.differing;
    Tell({.id = id, .what = "it could not be checked: " + error.message});
    return error;
  }

  Outcome<Done> Compare(const Context& context, const std::string& id, Operation& operation) {
    std::optional<Row> row = TRY(fsck_.rows_.Load(context, id));
    if (filter_ && !TRY(IsAskedFor(context, id, row))) {
      operation.outcome = "not asked for";
      return Done{};
    }
    const SyncReply reply =
        TRY(fsck_.synchronizer_.SyncFrom(context, {.id = id, .dry_run = is_dry_}, row));
    bool is_in_flight = reply.outcome == SyncOutcome::kInFlight;
    const bool differs = Differs(row, reply, fsck_.observer_.clock().NowSeconds());
    // A repair is refused when somebody wrote meanwhile; what is only said must be looked at again.
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

  // Also when only the row says so, which may be what is wrong.
  Outcome<bool> IsAskedFor(const Context& context, const std::string& id,
                           const std::optional<Row>& row) {
    if (row && row->committed && Matches(*filter_, row->committed->facts)) return true;
    std::optional<StoredDocument> object = TRY(fsck_.store_.Read(context, id));
    if (!object) return false;
    const Result<Document> document = ParseObject(id, std::move(object->json));
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
  Patience patience_;
};

Fsck::Fsck(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
           Synchronizer* synchronizer, const Observer* observer)
    : options_(options),
      rows_(*rows),
      store_(*store),
      synchronizer_(*synchronizer),
      observer_(*observer) {}

Outcome<FsckReport> Fsck::Run(const Context& context, const WalkOptions& walk,
                              const std::function<void(const FsckFinding&)>& tell) {
  std::optional<Filter> filter = TRY(FilterOf(walk));
  return Checking(*this, context, walk, tell, std::move(filter)).Run();
}

}  // namespace tidemark::documents
