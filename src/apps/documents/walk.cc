#include "apps/documents/walk.h"

#include <utility>

#include <fmt/format.h>

#include "apps/documents/converter.h"

namespace tidemark::documents {

namespace {

constexpr size_t kObjectsPage = 500;
// So many documents cannot all be broken: their store is.
constexpr int kMaxFailuresInARow = 10;

}  // namespace

Outcome<std::optional<Filter>> FilterOf(const WalkOptions& walk) {
  if (!walk.from && !walk.to && !walk.customer) return std::optional<Filter>();
  const RangeQuery query{.from = walk.from.value_or(0),
                         .to = walk.to.value_or(kLastSecond),
                         .customer = walk.customer};
  return std::optional(TRY(ParseFilter(query)));
}

std::optional<CoverageMark> MarkOf(const DocumentsOptions& options, const WalkOptions& walk,
                                   std::chrono::milliseconds start) {
  if (walk.dry_run || options.dry_run || walk.customer || walk.to) return std::nullopt;
  if (!walk.after.empty() && !walk.mark) return std::nullopt;
  const auto oldest = std::chrono::floor<std::chrono::seconds>(start - options.ttl);
  const CoverageMark mark =
      walk.mark.value_or(CoverageMark{.complete_from = oldest.count(), .as_of = start});
  if (walk.from.value_or(0) > mark.complete_from) return std::nullopt;
  return mark;
}

Outcome<bool> StoreMarkInTime(const Context& context, RowStore& rows, const CoverageMark& mark) {
  const Outcome<Done> stored = rows.StoreMark(context, mark);
  if (!stored && !IsInterruption(context, stored.error())) return stored.error();
  return stored.has_value();
}

Outcome<Done> MayGoOn(const Context& context, const WalkOptions& walk) {
  if (context.IsOver()) return Cancelled("the run was stopped, or its deadline has passed");
  if (walk.pause && walk.pause()) return Cancelled("the run pauses");
  return Done{};
}

bool IsInterruption(const Context& context, const CacheError& error) {
  return error.type == CacheErrorType::kCancelled || context.IsOver();
}

Outcome<Done> Patience::After(const Context& context, const Outcome<Done>& visit) {
  if (visit) {
    in_a_row_ = 0;
    return Done{};
  }
  ++in_a_row_;
  if (IsInterruption(context, visit.error()) || in_a_row_ == kMaxFailuresInARow) {
    return visit.error();
  }
  return Done{};
}

ObjectWalk::ObjectWalk(const DocumentsOptions& options, DocumentStore* store,
                       const Observer* observer, const WalkOptions* walk)
    : options_(options),
      store_(*store),
      observer_(*observer),
      walk_(*walk),
      progress_{.checked = 0, .last_key = walk->after} {}

Outcome<Done> ObjectWalk::Run(const Context& context, const Visit& visit) {
  if (!walk_.after.empty() && !walk_.after.starts_with(options_.prefix)) {
    return Refused(fmt::format("'{}' is no checkpoint: it does not begin with '{}'", walk_.after,
                               options_.prefix));
  }
  std::optional<std::string> after = walk_.after;
  while (after) {
    const ObjectPage page = TRY(store_.List(context, *after, kObjectsPage));
    for (const ListedObject& object : page.objects) {
      TRY(VisitOne(context, visit, object.id));
    }
    if (page.last) progress_.last_key = *page.last;
    if (walk_.progress) walk_.progress(progress_);
    after = page.last;
  }
  return Done{};
}

Outcome<Done> ObjectWalk::VisitOne(const Context& context, const Visit& visit,
                                   const std::string& id) {
  TRY(MayGoOn(context, walk_));
  const Outcome<Done> visited = visit(id);
  TRY(patience_.After(context, visited));
  if (!visited) {
    ++failed_;
    observer_.Warn("a document was passed over", id, visited.error().message);
  }
  ++progress_.checked;
  progress_.last_key = ObjectKey(options_, id);
  return Done{};
}

}  // namespace tidemark::documents
