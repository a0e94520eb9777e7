#include "apps/documents/walk.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/hashing.h"

namespace tidemark::documents {

namespace {

constexpr size_t kObjectsPage = 500;
// When this many fail in a row, it is not the documents: a store is unavailable.
constexpr int kMaxFailuresInARow = 10;

// Takes the text up to the next comma; nullopt when there is no comma.
std::optional<std::string_view> TakeField(std::string_view& text) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view field = text.substr(0, comma);
  text.remove_prefix(comma + 1);
  return field;
}

std::optional<int64_t> NumberFrom(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < 0) return std::nullopt;
  return number;
}

constexpr size_t kSealBytes = 16;

std::string SealOf(const Secret& key, const DocumentsOptions& options, std::string_view run,
                   const WalkOptions& walk, std::string_view text) {
  const std::string scope =
      fmt::format("{},{},{},{},{}", run, walk.dry_run || options.dry_run, walk.from.value_or(-1),
                  walk.to.value_or(-1), options.prefix);
  const std::string sum =
      HmacSha256(key, {scope, ",", walk.customer.value_or(""), walk.customer ? "," : ";", text});
  return ToHex(sum.substr(0, kSealBytes));
}

Error NotACheckpoint(std::string_view text) {
  return Invalid(fmt::format(
      "'{}' is not a checkpoint: give the text that the interrupted run printed", text));
}

}  // namespace

std::string ToText(const Checkpoint& checkpoint) {
  if (!checkpoint.mark) return ",," + checkpoint.last_key;
  return fmt::format("{},{},{}", checkpoint.mark->as_of.count(), checkpoint.mark->complete_from,
                     checkpoint.last_key);
}

Result<Checkpoint> ParseCheckpoint(std::string_view text) {
  std::string_view rest = text;
  const auto as_of = TakeField(rest);
  const auto complete_from = as_of ? TakeField(rest) : std::nullopt;
  if (!complete_from) return NotACheckpoint(text);
  Checkpoint checkpoint{.last_key = std::string(rest)};
  if (as_of->empty() && complete_from->empty()) return checkpoint;
  const auto milliseconds = NumberFrom(*as_of);
  const auto seconds = NumberFrom(*complete_from);
  if (!milliseconds || !seconds) return NotACheckpoint(text);
  checkpoint.mark =
      CoverageMark{.complete_from = *seconds, .as_of = std::chrono::milliseconds(*milliseconds)};
  return checkpoint;
}

std::string SealCheckpoint(const Secret& key, const DocumentsOptions& options, std::string_view run,
                           const WalkOptions& walk, const Checkpoint& checkpoint) {
  const std::string text = ToText(checkpoint);
  return fmt::format("{},{}", SealOf(key, options, run, walk, text), text);
}

Result<Checkpoint> OpenCheckpoint(const Secret& key, const DocumentsOptions& options,
                                  std::string_view run, const WalkOptions& walk) {
  std::string_view text = walk.checkpoint;
  const auto seal = TakeField(text);
  Checkpoint checkpoint = TRY(ParseCheckpoint(text));
  if (seal && *seal == SealOf(key, options, run, walk, text)) return checkpoint;
  return Invalid(
      fmt::format("'{}' is not a checkpoint of this run: it was made by a run with other options, "
                  "or before the cache was created again; begin without it",
                  walk.checkpoint));
}

Result<std::optional<Filter>> FilterOf(const WalkOptions& walk) {
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
  // Rows of older documents have expired, so nothing is claimed about them.
  const auto oldest = std::chrono::floor<std::chrono::seconds>(start - options.ttl);
  const CoverageMark mark =
      walk.mark.value_or(CoverageMark{.complete_from = oldest.count(), .as_of = start});
  if (walk.from.value_or(0) > mark.complete_from) return std::nullopt;
  return mark;
}

Result<bool> StoreMarkInTime(const Context& context, RowStore& rows, const CoverageMark& mark) {
  const Status stored = rows.StoreMark(context, mark);
  if (!stored && !IsInterruption(context, stored.error())) return stored.error();
  return stored.has_value();
}

Status VerifyMayContinue(const Context& context, const WalkOptions& walk) {
  if (context.IsOver())
    return Error{ErrorCode::kCancelled, "the run was stopped, or its deadline has passed"};
  if (walk.pause && walk.pause()) return Error{ErrorCode::kCancelled, "the run pauses"};
  return Done{};
}

bool IsInterruption(const Context& context, const Error& error) {
  return error.code == ErrorCode::kCancelled || context.IsOver();
}

Status FailureLimit::Check(const Context& context, const Status& visit) {
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

Status ObjectWalk::Run(const Context& context, const Visit& visit) {
  if (!walk_.after.empty() && !walk_.after.starts_with(options_.prefix)) {
    return Invalid(fmt::format("'{}' is not a checkpoint: it does not begin with '{}'", walk_.after,
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

Status ObjectWalk::VisitOne(const Context& context, const Visit& visit, const std::string& id) {
  TRY(VerifyMayContinue(context, walk_));
  const Status visited = visit(id);
  TRY(failures_.Check(context, visited));
  if (!visited) {
    ++failed_;
    observer_.Warn("a document was skipped", id, visited.error().message);
  }
  ++progress_.checked;
  progress_.last_key = ObjectKey(options_, id);
  return Done{};
}

}  // namespace tidemark::documents
