#include "apps/dedup/claim.h"

namespace tidemark::dedup {

std::string_view ToString(ClaimOutcome outcome) {
  switch (outcome) {
    case ClaimOutcome::kNew:
      return "new";
    case ClaimOutcome::kDone:
      return "done";
    case ClaimOutcome::kRunning:
      return "running";
    case ClaimOutcome::kFailed:
      return "failed";
    case ClaimOutcome::kPayloadMismatch:
      return "payload_mismatch";
    case ClaimOutcome::kOutcomeUnknown:
      return "outcome_unknown";
    case ClaimOutcome::kRefused:
      return "refused";
  }
  return "refused";
}

}  // namespace tidemark::dedup
