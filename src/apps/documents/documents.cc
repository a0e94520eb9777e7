#include "apps/documents/documents.h"

#include <utility>

namespace tidemark::documents {

// Each member uses only members above it. docs/flows/documents.md names them in the order in which
// a document meets them.
struct Documents::Parts {
  Parts(const DocumentsOptions& given_options, tables::Tables* tables, objects::Objects* objects,
        std::unique_ptr<RateLimiter> table_calls, const Runtime& given_runtime)
      : options(given_options),
        runtime(given_runtime),
        limiter(std::move(table_calls)),
        rows(options, tables, &retrier, runtime),
        store(options, objects, &retrier, runtime),
        repairs(options, objects, &retrier, &synchronizer, &observer) {}

  const DocumentsOptions options;
  const Runtime runtime;
  const std::unique_ptr<RateLimiter> limiter;
  const Retrier retrier{runtime, limiter.get()};
  const Observer observer{runtime};
  RowStore rows;
  DocumentStore store;
  Synchronizer synchronizer{options, &rows, &store, &observer, runtime};
  Repairs repairs;
  WriteThrough writer{options, &rows, &store, &synchronizer, &repairs, &observer, runtime};
  FallbackReader reader{options, &rows, &store, &synchronizer, &observer};
  RangeReader ranges{options, &rows, &store, &synchronizer, &observer};
  EventHandler events{options, &synchronizer, &observer};
  documents::Backfill backfill{options, &rows, &store, &synchronizer, &observer};
  documents::Fsck fsck{options, &rows, &store, &synchronizer, &observer};
  StalenessSampler sampler{&rows, &store, runtime};
  Comparison comparison{options, &rows, &store, &synchronizer, &observer};
};

Documents::Documents(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Documents::~Documents() = default;

Result<std::unique_ptr<Documents>> Documents::Open(const DocumentsOptions& options,
                                                   tables::Tables* tables,
                                                   objects::Objects* objects,
                                                   const Runtime& runtime) {
  TRY(ValidateOptions(options));
  std::unique_ptr<RateLimiter> limiter;
  if (options.limits_calls) {
    limiter = TRY(RateLimiter::Make({.rate_per_second = options.rate_per_second}, runtime.clock,
                                    runtime.sleeper));
  }
  if (options.enabled) TRY(EnsureCacheTable(*tables, options.table));
  return std::unique_ptr<Documents>(new Documents(
      std::make_unique<Parts>(options, tables, objects, std::move(limiter), runtime)));
}

Context Documents::NewContext(std::stop_token stop) const {
  return {.deadline = Deadline::After(parts_->runtime.clock, parts_->options.deadline),
          .stop = std::move(stop)};
}

Result<WriteResult> Documents::Write(const Context& context, const WriteRequest& request) {
  return parts_->writer.Write(context, request);
}

Result<WriteResult> Documents::Delete(const Context& context, const DeleteRequest& request) {
  return parts_->writer.Delete(context, request);
}

Later<std::optional<ReadReply>> Documents::GetLater(const Context& context, const std::string& id,
                                                    const FallbackReader::RunElsewhere& run) {
  return parts_->reader.GetLater(context, id, run);
}

Result<RangeReply> Documents::Range(const Context& context, const RangeQuery& query,
                                    Beyond beyond) {
  // Without the cache only the objects can answer.
  return parts_->ranges.Read(context, query,
                             parts_->options.enabled ? beyond : Beyond::kSearchObjects);
}

EventReport Documents::HandleEvents(const Context& context, std::string_view notification_json) {
  return parts_->options.enabled ? parts_->events.Handle(context, notification_json)
                                 : EventReport{};
}

EventReport Documents::HandleEvents(const Context& context, const Notification& notification) {
  return parts_->options.enabled ? parts_->events.Handle(context, notification) : EventReport{};
}

Result<RepairReport> Documents::Housekeep(const Context& context) {
  if (!parts_->options.enabled) return RepairReport{};
  TRY(parts_->synchronizer.SettleStale(context));
  return parts_->repairs.Run(context);
}

void Documents::BeginComparison() {
  if (parts_->options.enabled) parts_->comparison.Begin();
}

Result<bool> Documents::Compare(const Context& context, const Deadline& until) {
  return parts_->options.enabled ? parts_->comparison.Advance(context, until) : true;
}

Status Documents::VerifyEnabled() const {
  if (parts_->options.enabled) return Done{};
  return Invalid(
      "the cache is disabled, so there is nothing to fill, check or count: set documents.cache "
      "(DYNAMODB_CACHE_ENABLED) to true");
}

template <typename Run>
auto Documents::RunSealed(const Context& context, std::string_view name, WalkOptions walk,
                          const Run& run) -> decltype(run(walk)) {
  TRY(VerifyEnabled());
  if (!walk.checkpoint.empty()) {
    const Secret key = TRY(parts_->rows.LoadSealingKey(context));
    Checkpoint checkpoint = TRY(OpenCheckpoint(key, parts_->options, name, walk));
    walk.after = std::move(checkpoint.last_key);
    walk.mark = checkpoint.mark;
  }
  auto report = run(walk);
  if (!report || report->finished) return report;
  // The deadline of the run may be over; its result must not be lost for that.
  const Context finishing = ExtendToFinish(context, parts_->runtime.clock);
  const Secret key = TRY(parts_->rows.LoadSealingKey(finishing));
  report->checkpoint = SealCheckpoint(key, parts_->options, name, walk,
                                      {.last_key = report->last_key, .mark = report->mark});
  return report;
}

Result<BackfillReport> Documents::Backfill(const Context& context, const WalkOptions& walk) {
  return RunSealed(context, "backfill", walk,
                   [&](const WalkOptions& from) { return parts_->backfill.Run(context, from); });
}

Result<FsckReport> Documents::Fsck(const Context& context, const WalkOptions& walk,
                                   const std::function<void(const FsckFinding&)>& tell) {
  return RunSealed(context, "fsck", walk,
                   [&](const WalkOptions& from) { return parts_->fsck.Run(context, from, tell); });
}

Result<StalenessReport> Documents::Sample(const Context& context, size_t count) {
  TRY(VerifyEnabled());
  return parts_->sampler.Sample(context, count);
}

Result<CacheStats> Documents::Stats(const Context& context) {
  TRY(VerifyEnabled());
  CacheStats stats;
  stats.table = TRY(parts_->rows.Describe(context));
  stats.coverage = TRY(parts_->rows.LoadMark(context));
  stats.first_writes = TRY(parts_->rows.ListFirstWrites(context)).size();
  stats.compared = parts_->rows.AreTrusted();
  stats.repairs = TRY(parts_->repairs.Count(context));
  stats.counts = parts_->observer.counts();
  return stats;
}

}  // namespace tidemark::documents
