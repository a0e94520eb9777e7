// FailureLog logs the failures of work that is tried again and again, without a line for each of
// them: the first at once, then at most one a minute with the number of failures since the last
// line, and one line when the work succeeds again.
//
//   FailureLog failures({.level = LogLevel::kWarning, .work = "sending"}, runtime);
//   for (;;) failures.Note(Send());
//
// One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/runtime.h"

namespace tidemark {

struct FailureLogOptions {
  LogLevel level = LogLevel::kWarning;
  std::string work;  // The name of the work; the lines begin with it.
};

class FailureLog {
 public:
  static constexpr std::chrono::seconds kPause{60};

  FailureLog(FailureLogOptions options, const Runtime& runtime)
      : options_(std::move(options)), runtime_(runtime) {}

  void Note(const Status& outcome);

 private:
  void NoteFailure(const Error& error);

  const FailureLogOptions options_;
  const Runtime runtime_;
  std::optional<std::chrono::nanoseconds> logged_at_;
  uint64_t failures_ = 0;       // Since the last line.
  bool tells_success_ = false;  // A failure was logged, and no success since.
};

}  // namespace tidemark
