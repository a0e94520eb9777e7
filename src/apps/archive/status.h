// How far the archive's processors are, read from the positions that they keep: any process can
// tell, whichever does the work. Nothing here writes. May be called from any thread.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct ProcessorStatus {
  bool held = false;        // Somebody holds its lease.
  int64_t lag_seconds = 0;  // The age of the oldest change that it has not handled.
  // When the last change that it handled was made; nullopt: it has handled none.
  std::optional<EpochSeconds> last_change_at = std::nullopt;
  int64_t gaps = 0;  // How often changes may have been trimmed before it read them.
};

// `consumer` is one of those in processors.h, `table` the archive's. One that never ran is at the
// beginning of the stream.
Result<ProcessorStatus> ReadProcessorStatus(tables::Tables& tables, const Clock& clock,
                                            const std::string& table, const std::string& consumer);

}  // namespace tidemark::archive
