// The gate's verdict on a request: one of three decisions, with a reason. The reason is for the
// audit log; no reply to a client contains it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tidemark::gate {

enum class Decision {
  kAllow,
  kDeny,     // Something that the event names does not exist or is not active.
  kUnknown,  // We could not find out. The policy kRefuse refuses such an event.
};

enum class Reason {
  // Allow:
  kVerified,         // Slack confirmed it just now.
  kCached,           // Slack confirmed it less than 300 s ago.
  kNothingToVerify,  // The event revokes the token, so there is no token to ask with.
  kSkipped,          // There is no token for the team, and the setting allows that.
  // Deny:
  kBadId,  // An id does not have Slack's format.
  kNoIds,  // The team is missing, or another id that the settings require.
  kTeamNotFound,
  kUserNotFound,
  kChannelNotFound,
  kUserInactive,
  kChannelInactive,
  // Unknown:
  kNoToken,
  kTimeout,
  kRateLimited,  // By Slack, by our budget for the method, or by our limit for the team.
  kApiError,
  kBusy,  // The maximum number of look-ups was already running.
};

std::string_view ToString(Decision decision);
std::string_view ToString(Reason reason);  // "user_not_found"

struct Verdict {
  Decision decision = Decision::kUnknown;
  Reason reason = Reason::kApiError;
  std::string detail = {};  // Slack's error code, if it gave one.
  // Slack said that the event's channel is public, now or in the last 300 s. False when Slack did
  // not say so.
  bool in_public_channel = false;
};

// Whether a limit kept us from asking Slack, or Slack asked us to wait. Such a verdict says nothing
// about the event.
inline bool IsForLackOfBudget(const Verdict& verdict) {
  return verdict.reason == Reason::kRateLimited || verdict.reason == Reason::kBusy;
}

inline Verdict Deny(Reason reason, std::string detail = {}) {
  return {Decision::kDeny, reason, std::move(detail)};
}

}  // namespace tidemark::gate
