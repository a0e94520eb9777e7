// The Purger removes the text, files and older versions of deleted messages once the policy's time
// has passed. It sweeps the table once an hour, one page for each Step. Readers do not depend on
// it: the Reader hides what the policy hides, even before the sweep.
//
// Used by one thread. It never touches a message that is not deleted, and does nothing unless the
// policy is kPurge.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "apps/archive/archive_table.h"
#include "apps/archive/message.h"
#include "apps/archive/reader.h"
#include "base/result.h"
#include "base/runtime.h"
#include "item/value.h"
#include "objects/objects.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct PurgerOptions {
  std::string table = "SlackArchive";
  DeletedPolicy policy = {};
};

class Purger {
 public:
  // All outlive this. `objects` may be null: then there are no files.
  Purger(PurgerOptions options, tables::Tables* tables, objects::Objects* objects,
         const Runtime& runtime);

  // Sweeps one page when a sweep is running or due. Returns the number of purged messages.
  Result<uint64_t> Step();

 private:
  // Also removes what is kept of the message under other ids of its channel.
  Result<bool> Purge(const item::Item& row);
  // False when nothing was left of it under this id.
  Result<bool> PurgeUnder(const Place& id, const slack::Timestamp& ts);
  Result<bool> DeleteVersions(const Place& id, const slack::Timestamp& ts);
  Result<bool> Empty(const Place& id, const item::Item& row);

  const PurgerOptions options_;
  const ArchiveTable table_;
  objects::Objects* const objects_;
  const Runtime runtime_;
  std::optional<item::Item> swept_to_ = std::nullopt;  // nullopt: no sweep is running.
  std::optional<std::chrono::nanoseconds> ended_at_ = std::nullopt;  // Of the last sweep.
};

}  // namespace tidemark::archive
