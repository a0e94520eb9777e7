#include "apps/attempts/decision.h"

namespace tidemark::attempts {

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPermitted:
      return "permitted";
    case Verdict::kBusy:
      return "busy";
    case Verdict::kTemporarilyLocked:
      return "temporarily_locked";
    case Verdict::kIndefinitelyLocked:
      return "indefinitely_locked";
    case Verdict::kBlocked:
      return "blocked";
  }
  return "blocked";
}

std::string_view ToString(EmailFraud state) {
  switch (state) {
    case EmailFraud::kPending:
      return "PENDING";
    case EmailFraud::kAllow:
      return "ALLOW";
    case EmailFraud::kDeny:
      return "DENY";
  }
  return "PENDING";
}

}  // namespace tidemark::attempts
