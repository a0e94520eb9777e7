// The Purger removes the text, files and older bodies of deleted messages for good once the
// policy's time has passed. It sweeps the table once an hour, a page at a time. Readers do not
// depend on it: what the policy hides is hidden before the sweep comes.
//
// Belongs to one thread. It never touches a message that is not deleted, and does nothing under
// another policy than kPurge.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "apps/archive/message.h"
#include "apps/archive/reader.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
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
  // All outlive this; objects and logger may be null.
  Purger(PurgerOptions options, tables::Tables* tables, objects::Objects* objects,
         const Clock* clock, const Logger* logger);

  // One page of the sweep, when one is under way or due. The number of messages that were purged.
  Result<uint64_t> Step();

 private:
  Result<bool> Purge(const item::Item& row);
  Result<bool> DeleteVersions(const Message& message);
  Result<bool> Empty(const Message& message, const item::Item& row);

  const PurgerOptions options_;
  tables::Tables& tables_;
  objects::Objects* const objects_;
  const Clock& clock_;
  const Logger* const logger_;
  std::optional<item::Item> swept_to_ = std::nullopt;  // nullopt: no sweep is under way.
  std::optional<std::chrono::nanoseconds> ended_at_ = std::nullopt;  // The last one.
};

}  // namespace tidemark::archive
