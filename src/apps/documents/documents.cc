#include "apps/documents/documents.h"

#include <utility>

#include "apps/documents/table.h"

namespace tidemark::documents {

// Members stand in the order in which they need each other.
struct Documents::Parts {
  Parts(const DocumentsOptions& given, const Dependencies& given_to_all,
        std::unique_ptr<TokenBucket> table_calls)
      : options(given), dependencies(given_to_all), bucket(std::move(table_calls)) {}

  const DocumentsOptions options;
  const Dependencies dependencies;
  const std::unique_ptr<TokenBucket> bucket;
  const Retrier retrier{dependencies.pauser, bucket.get()};
  const Observer observer{dependencies.clock, dependencies.logger, dependencies.metrics};
  RowStore rows{options, dependencies.tables, &retrier, dependencies.random};
  DocumentStore store{options, dependencies.objects, &retrier};
  CacheManager manager{options, &rows, &observer};
  Synchronizer synchronizer{options, &rows, &store, &observer};
  Settler settler{options, &rows, &synchronizer, &observer};
  Repairs repairs{options, dependencies.objects, &retrier, &synchronizer, &observer};
  WriteThrough writer{
      options,  &rows, &store, &synchronizer, &repairs, dependencies.pauser, dependencies.random,
      &observer};
  FallbackReader reader{options, &rows, &store, &synchronizer, &observer};
  RangeReader ranges{
      options, &manager, &rows, &store, &observer, [this](const Context& context) -> Outcome<Done> {
        TRY(settler.SettleStale(context));
        return Done{};
      }};
  EventHandler events{options, &rows, &synchronizer, &observer};
  documents::Backfill backfill{options, &rows, &store, &synchronizer, &observer};
  documents::Fsck fsck{options, &rows, &store, &synchronizer, &observer};
  StalenessSampler sampler{&rows, &store, dependencies.random, dependencies.clock,
                           dependencies.metrics};
};

Documents::Documents(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Documents::~Documents() = default;

Result<std::unique_ptr<Documents>> Documents::Open(const DocumentsOptions& options,
                                                   const Dependencies& dependencies) {
  TRY(ValidateOptions(options));
  auto bucket = TRY(TokenBucket::Make({.rate_per_second = options.rate_per_second},
                                      dependencies.clock, dependencies.pauser));
  if (options.enabled) TRY(EnsureCacheTable(*dependencies.tables, options.table));
  return std::unique_ptr<Documents>(
      new Documents(std::make_unique<Parts>(options, dependencies, std::move(bucket))));
}

Context Documents::NewContext(std::stop_token stop) const {
  return {.deadline = Deadline::After(*parts_->dependencies.clock, parts_->options.deadline),
          .stop = std::move(stop)};
}

Outcome<WriteResult> Documents::Write(const Context& context, const WriteRequest& request) {
  return parts_->writer.Write(context, request);
}

Outcome<WriteResult> Documents::Delete(const Context& context, const DeleteRequest& request) {
  return parts_->writer.Delete(context, request);
}

Outcome<ReadReply> Documents::Get(const Context& context, const std::string& id) {
  return parts_->reader.Get(context, id);
}

Outcome<RangeReply> Documents::Range(const Context& context, const RangeQuery& query,
                                     Beyond beyond) {
  // Without the cache there is nothing but the objects.
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

Outcome<RepairReport> Documents::Housekeep(const Context& context) {
  if (!parts_->options.enabled) return RepairReport{};
  TRY(parts_->settler.SettleStale(context));
  return parts_->repairs.Run(context);
}

Outcome<Done> Documents::NeedCache() const {
  if (parts_->options.enabled) return Done{};
  return Refused(
      "the cache is disabled, and so there is nothing to fill, check or count: set documents.cache "
      "(DYNAMODB_CACHE_ENABLED) to true");
}

Outcome<BackfillReport> Documents::Backfill(const Context& context, const WalkOptions& walk) {
  TRY(NeedCache());
  return parts_->backfill.Run(context, walk);
}

Outcome<FsckReport> Documents::Fsck(const Context& context, const WalkOptions& walk,
                                    const std::function<void(const FsckFinding&)>& tell) {
  TRY(NeedCache());
  return parts_->fsck.Run(context, walk, tell);
}

Outcome<StalenessReport> Documents::Sample(const Context& context, size_t count) {
  TRY(NeedCache());
  return parts_->sampler.Sample(context, count);
}

Outcome<CacheStats> Documents::Stats(const Context& context) {
  TRY(NeedCache());
  CacheStats stats;
  stats.table = TRY(parts_->rows.Describe(context));
  stats.coverage = TRY(parts_->rows.LoadMark(context));
  const auto first_writes =
      TRY(parts_->rows.ListIntents(context, parts_->dependencies.clock->Now()));
  stats.first_writes = first_writes.size();
  stats.repairs = TRY(parts_->repairs.Count(context));
  stats.counts = parts_->observer.counts();
  return stats;
}

}  // namespace tidemark::documents
