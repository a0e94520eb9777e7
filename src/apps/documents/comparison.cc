#include "apps/documents/comparison.h"

#include <utility>

#include "apps/documents/limits.h"
#include "apps/documents/query.h"
#include "apps/documents/walk.h"

namespace tidemark::documents {

namespace {

constexpr uint32_t kRowsPageOfComparison = 1000;
constexpr size_t kObjectsPageOfComparison = 1000;

// The version that a row stands for. Empty, which no object has, when the object must be looked at.
std::string VersionOf(const IndexHit& hit) {
  const bool is_certain = hit.row && hit.row->committed && !hit.row->intent;
  return is_certain ? hit.row->committed->etag : "";
}

}  // namespace

Comparison::Comparison(const DocumentsOptions& options, RowStore* rows, DocumentStore* store,
                       Synchronizer* synchronizer, const Observer* observer)
    : options_(options),
      rows_(*rows),
      store_(*store),
      synchronizer_(*synchronizer),
      observer_(*observer) {}

void Comparison::Begin() {
  const std::lock_guard lock(mutex_);
  begins_ = true;
  rows_.SetTrusted(false);
}

bool Comparison::TakeBegin() {
  const std::lock_guard lock(mutex_);
  return std::exchange(begins_, false);
}

Result<bool> Comparison::Advance(const Context& context, const Deadline& until) {
  // The time of the mark is taken first: the run will see every object that was stored before.
  if (TakeBegin()) {
    const auto mark = MarkOf(options_, {}, observer_.clock().Now());
    run_ = Run{.mark = mark.value_or(CoverageMark{})};
  }
  if (!run_) return true;
  if (!run_->has_rows) TRY(ReadRows(context));
  TRY(CompareObjects(context, until));
  if (run_->after) return false;
  TRY(CompareRest(context, until));
  return run_->rows.empty() ? Finish(context) : false;
}

Status Comparison::ReadRows(const Context& context) {
  run_->rows.clear();
  IndexWalk walk(&rows_, RangesOf(Filter{.to = kLastSecond}), std::nullopt, kRowsPageOfComparison);
  while (const std::optional<IndexHit> hit = TRY(walk.Next(context))) {
    if (!hit->id.empty()) run_->rows.emplace(hit->id, VersionOf(*hit));
  }
  for (const Row& row : TRY(rows_.ListFirstWrites(context))) run_->rows.emplace(row.id, "");
  run_->has_rows = true;
  return Done{};
}

Status Comparison::CompareObjects(const Context& context, const Deadline& until) {
  while (run_->after && !until.HasPassed()) {
    const ObjectPage page = TRY(store_.List(context, *run_->after, kObjectsPageOfComparison));
    for (const ListedObject& object : page.objects) {
      const auto row = run_->rows.find(object.id);
      const bool is_same = row != run_->rows.end() && row->second == object.state.etag;
      if (!is_same) TRY(Synchronize(context, object.id));
      run_->rows.erase(object.id);
      run_->after = ObjectKey(options_, object.id);
      if (until.HasPassed()) return Done{};
    }
    run_->after = page.last;
  }
  return Done{};
}

// What is left are rows whose objects are gone.
Status Comparison::CompareRest(const Context& context, const Deadline& until) {
  while (!run_->rows.empty() && !until.HasPassed()) {
    TRY(Synchronize(context, run_->rows.begin()->first));
    run_->rows.erase(run_->rows.begin());
  }
  return Done{};
}

Status Comparison::Synchronize(const Context& context, const std::string& id) {
  const auto synced = observer_.Observe<SyncReply>(
      context, {.name = "compare", .key = id, .dry_run = options_.dry_run},
      [&](const Context& counted, Operation&) { return synchronizer_.Sync(counted, {.id = id}); });
  if (!synced && synced.error().code != ErrorCode::kCorrupt) return synced.error();
  run_->still_differs |=
      options_.dry_run && synced &&
      (synced->outcome == SyncOutcome::kWritten || synced->outcome == SyncOutcome::kRemoved);
  return Done{};
}

Result<bool> Comparison::Finish(const Context& context) {
  if (!options_.dry_run) TRY(rows_.StoreMark(context, run_->mark));
  const bool is_current = !run_->still_differs;
  run_.reset();
  const std::lock_guard lock(mutex_);
  if (begins_) return false;
  rows_.SetTrusted(is_current);
  return true;
}

}  // namespace tidemark::documents
