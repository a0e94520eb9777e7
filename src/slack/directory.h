// A Directory tells whether teams, users and channels exist, as Slack sees it. WebApi asks
// Slack; tests put their own in its place.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "base/secret.h"

namespace tidemark::slack {

enum class EntityKind { kTeam, kUser, kChannel };

std::string_view ToString(EntityKind kind);  // "team", "user", "channel"

struct Lookup {
  EntityKind kind = EntityKind::kTeam;
  std::string id;
  friend bool operator==(const Lookup&, const Lookup&) = default;
};

enum class LookupOutcome {
  kActive,       // It is there.
  kInactive,     // It is there, but the user is deactivated or the channel archived.
  kNotFound,     // Slack says there is none, or answered with another one.
  kTimeout,      // No answer in time. From here on, nothing is known.
  kRateLimited,  // Slack asked us to wait longer than we may, or our own budget is used up.
  kApiError,     // Anything else: a 5xx, a bad token, a missing scope, no JSON.
};

struct LookupReply {
  LookupOutcome outcome = LookupOutcome::kApiError;
  std::string error = {};  // Slack's word for it ("user_not_found"), or ours; for the log.
  uint32_t attempts = 0;   // Calls that were made.
};

class Directory {
 public:
  virtual ~Directory() = default;
  // Looks all up at the same time, and returns one reply a lookup, in order, by the deadline.
  virtual std::vector<LookupReply> LookUp(const Secret& token, std::span<const Lookup> lookups,
                                          const Deadline& deadline) = 0;
};

}  // namespace tidemark::slack
