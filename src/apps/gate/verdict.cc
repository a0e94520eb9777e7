#include "apps/gate/verdict.h"

namespace tidemark::gate {

std::string_view ToString(Decision decision) {
  switch (decision) {
    case Decision::kAllow:
      return "allow";
    case Decision::kDeny:
      return "deny";
    case Decision::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view ToString(Reason reason) {
  switch (reason) {
    case Reason::kVerified:
      return "verified";
    case Reason::kCached:
      return "cached";
    case Reason::kNothingToVerify:
      return "nothing_to_verify";
    case Reason::kSkipped:
      return "skipped";
    case Reason::kBadId:
      return "bad_id";
    case Reason::kNoIds:
      return "no_ids";
    case Reason::kTeamNotFound:
      return "team_not_found";
    case Reason::kUserNotFound:
      return "user_not_found";
    case Reason::kChannelNotFound:
      return "channel_not_found";
    case Reason::kUserInactive:
      return "user_inactive";
    case Reason::kChannelInactive:
      return "channel_inactive";
    case Reason::kNoToken:
      return "no_token";
    case Reason::kTimeout:
      return "timeout";
    case Reason::kRateLimited:
      return "rate_limited";
    case Reason::kApiError:
      return "api_error";
    case Reason::kBusy:
      break;
  }
  return "busy";
}

}  // namespace tidemark::gate
