// What the program tells its caller when it ends.
#pragma once

#include "base/result.h"

namespace tidemark::programs {

enum class ExitCode {
  kOk = 0,
  kNotMet = 1,       // A condition did not hold, something is not there, or was found wrong.
  kInvalid = 2,      // The command line, or what it names, is wrong: change it.
  kEnvironment = 3,  // The folder is in use or damaged, the disk is full: the command may be right.
};

constexpr ExitCode ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:
    case ErrorCode::kInUse:
      return ExitCode::kInvalid;
    case ErrorCode::kConflict:
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnknown:
    case ErrorCode::kDenied:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      return ExitCode::kEnvironment;
  }
  return ExitCode::kEnvironment;
}

// Within tables kInUse says that a name is taken, which another name helps; of a folder or a port
// it says that a process has it, which only waiting helps.
inline Error HeldByAnother(Error error) {
  if (error.code == ErrorCode::kInUse) error.code = ErrorCode::kUnavailable;
  return error;
}

}  // namespace tidemark::programs
