#include "base/result.h"

namespace tidemark {

std::string_view ToString(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kInUse:
      return "in_use";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kThrottled:
      return "throttled";
    case ErrorCode::kUnreachable:
      return "unreachable";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kUnknown:
      return "unknown";
    case ErrorCode::kDenied:
      return "denied";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

}  // namespace tidemark
