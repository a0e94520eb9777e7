// What the gate thinks of a request: three answers, each with a reason. The reason is for the
// audit record; no reply to the outside carries it.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::gate {

enum class Decision {
  kAllow,
  kDeny,     // It is not Slack's, or what it names does not exist.
  kUnknown,  // It could not be found out. Only a named policy may let it pass.
};

enum class Reason {
  kVerified,         // Allow: Slack said so just now.
  kCached,           // Allow: Slack said so less than 300 s ago.
  kNothingToVerify,  // Allow: a lifecycle event about something that is gone by then.
  kSkipped,          // Allow: the lenient policy lets pass what has no token.
  kBadId,            // Deny: an id that is not Slack's.
  kNoIds,            // Deny: nothing to check.
  kTeamNotFound,
  kUserNotFound,
  kChannelNotFound,
  kUserInactive,
  kChannelInactive,
  kNoToken,      // Deny.
  kTimeout,      // From here on, unknown.
  kRateLimited,  // By Slack, by a method's budget or by the team's.
  kApiError,
  kBusy,  // As many look-ups as allowed were under way.
};

std::string_view ToString(Decision decision);
std::string_view ToString(Reason reason);  // "user_not_found"

struct Verdict {
  Decision decision = Decision::kUnknown;
  Reason reason = Reason::kApiError;
  std::string detail = {};  // Slack's word for it, when it said one.
};

}  // namespace tidemark::gate
