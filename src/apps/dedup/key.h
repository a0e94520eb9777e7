// The key of an event: the one name under which all its deliveries meet.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::dedup {

struct EventParts {
  std::string_view event_id = {};  // From the envelope; Slack makes it unique.
  std::string_view team = {};
  std::string_view file_id = {};
  std::string_view ts = {};
};

// The event id; without one fileId_ts, behind "TEAM:" where the team is known. kInvalid when
// parts are missing: a key made of nothing would make unrelated events equal.
Result<std::string> EventKey(const EventParts& parts);

}  // namespace tidemark::dedup
