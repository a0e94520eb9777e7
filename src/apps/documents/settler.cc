#include "apps/documents/settler.h"

namespace tidemark::documents {

Settler::Settler(const DocumentsOptions& options, RowStore* rows, Synchronizer* synchronizer,
                 const Observer* observer)
    : options_(options), rows_(*rows), synchronizer_(*synchronizer), observer_(*observer) {}

Outcome<size_t> Settler::SettleStale(const Context& context) {
  const auto started_by = observer_.clock().Now() - options_.intent_lease - 2 * options_.skew;
  size_t settled = 0;
  for (const std::string& id : TRY(rows_.ListIntents(context, started_by))) {
    if (TRY(SettleOne(context, id))) ++settled;
  }
  return settled;
}

Outcome<bool> Settler::SettleOne(const Context& context, const std::string& id) {
  Outcome<SyncReply> synced = observer_.Observe<SyncReply>(
      context, {.name = "settle", .key = id},
      [&](const Context& counted, Operation&) { return synchronizer_.Sync(counted, {.id = id}); });
  if (!synced && context.IsOver()) return std::move(synced).error();
  // One that fails keeps no other from being settled; it is stale the next time too.
  return synced && synced->outcome != SyncOutcome::kInFlight;
}

}  // namespace tidemark::documents
