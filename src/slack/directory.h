// A Directory says whether teams, users and channels exist in Slack. WebApi implements it with
// calls to Slack; tests implement it with fixed answers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/deadline.h"
#include "base/secret.h"
#include "slack/entities.h"

namespace tidemark::slack {

enum class EntityKind { kTeam, kUser, kChannel };

std::string_view ToString(EntityKind kind);  // "team", "user", "channel"

struct Lookup {
  EntityKind kind = EntityKind::kTeam;
  std::string id;
  friend bool operator==(const Lookup&, const Lookup&) = default;
};

enum class LookupOutcome {
  kActive,    // It exists.
  kInactive,  // It exists, but the user is deactivated or the channel is archived.
  kNotFound,  // Slack says that it does not exist, or answered with another id.
  // With the outcomes below we do not know whether it exists.
  kTimeout,
  kRateLimited,  // Slack asked for a longer wait than the deadline allows, or our budget is used
                 // up.
  kApiError,     // Anything else: a 5xx, a bad token, a missing scope, an answer that is not JSON.
};

struct LookupReply {
  LookupOutcome outcome = LookupOutcome::kApiError;
  bool is_public = false;  // Slack says that this channel is public.
  std::string error = {};  // Slack's error code ("user_not_found") or our own; for the log.
  uint32_t attempts = 0;   // Calls made to Slack.
  // The user or channel as Slack described it, when it exists.
  std::variant<std::monostate, Person, Conversation> entity = {};
};

class Directory {
 public:
  virtual ~Directory() = default;
  // Looks up all ids at the same time. Returns one reply for each lookup, in the same order, not
  // later than the deadline.
  virtual std::vector<LookupReply> LookUp(const Secret& token, std::span<const Lookup> lookups,
                                          const Deadline& deadline) = 0;
};

}  // namespace tidemark::slack
