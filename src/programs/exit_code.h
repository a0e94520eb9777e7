// The exit codes of the program.
#pragma once

#include "base/result.h"

namespace tidemark::programs {

enum class ExitCode {
  kOk = 0,
  kNotMet = 1,       // A condition does not hold, an item does not exist, or a check failed.
  kInvalid = 2,      // The command line is wrong: change it.
  kEnvironment = 3,  // A folder is in use or damaged, or the disk is full.
};

constexpr ExitCode ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:
    case ErrorCode::kInUse:
      return ExitCode::kInvalid;
    case ErrorCode::kConflict:
    case ErrorCode::kUnavailable:
    case ErrorCode::kThrottled:
    case ErrorCode::kUnreachable:
    case ErrorCode::kCancelled:
    case ErrorCode::kUnknown:
    case ErrorCode::kDenied:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      return ExitCode::kEnvironment;
  }
  return ExitCode::kEnvironment;
}

// For a table, kInUse means that the name is taken: the caller must choose another. For a folder or
// a port it means that another process uses it: the caller can only wait. This makes the second
// case kUnavailable.
inline Error HeldByAnother(Error error) {
  if (error.code == ErrorCode::kInUse) error.code = ErrorCode::kUnavailable;
  return error;
}

}  // namespace tidemark::programs
