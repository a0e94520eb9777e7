#include "apps/dedup/key.h"

#include <fmt/format.h>

namespace tidemark::dedup {

Result<std::string> EventKey(const EventParts& parts) {
  if (!parts.event_id.empty()) return std::string(parts.event_id);
  if (parts.file_id.empty() || parts.ts.empty()) {
    return Invalid(
        fmt::format("an event without an id needs a file id and a ts for its key, but "
                    "has file id \"{}\" and ts \"{}\"",
                    parts.file_id, parts.ts));
  }
  if (parts.team.empty()) return fmt::format("{}_{}", parts.file_id, parts.ts);
  return fmt::format("{}:{}_{}", parts.team, parts.file_id, parts.ts);
}

}  // namespace tidemark::dedup
