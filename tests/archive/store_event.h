// Stores an event in the archive alone, without the front door: tests of the archive need no claim
// and no check of the sender.
#pragma once

#include <utility>

#include "apps/archive/archive.h"
#include "apps/archive/archive_table.h"
#include "base/result.h"
#include "slack/event.h"
#include "tables/tables.h"

namespace tidemark::archive {

// Plans, writes and counts, as the front door does. Plans again when another writer was faster.
inline Result<ArchiveOutcome> StoreEvent(Archive& archive, tables::Tables& tables,
                                         const slack::EventCallback& callback,
                                         ToldChannel told = ToldChannel::kUnknown) {
  const ArchiveTable table(&tables, archive.options().table);
  while (true) {
    Plan plan = TRY(archive.PlanEvent(callback, told));
    TRY(archive.PutObjects(plan.objects));
    if (!plan.actions.empty() && !TRY(table.Write({.actions = std::move(plan.actions)}))) continue;
    archive.Count(plan.outcome);
    return plan.outcome;
  }
}

}  // namespace tidemark::archive
