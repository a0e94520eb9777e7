#include "base/failure_log.h"

namespace tidemark {

void FailureLog::Note(const Status& outcome) {
  if (!outcome) return NoteFailure(outcome.error());
  if (!tells_success_) return;
  tells_success_ = false;
  runtime_.logger.Log(LogLevel::kInfo, options_.work + " succeeds again");
}

// The pause begins with the last line, even if the work succeeded since: work that fails and
// succeeds in turn must not fill the log either.
void FailureLog::NoteFailure(const Error& error) {
  ++failures_;
  const std::chrono::nanoseconds now = runtime_.clock.Monotonic();
  if (logged_at_ && now - *logged_at_ < kPause) return;
  runtime_.logger.Log(options_.level, options_.work + " failed and will be tried again",
                      {{"error", error.message}, {"failures", failures_}});
  logged_at_ = now;
  failures_ = 0;
  tells_success_ = true;
}

}  // namespace tidemark
