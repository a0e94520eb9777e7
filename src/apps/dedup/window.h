// Whether keys are remembered for long enough.
#pragma once

#include <chrono>

#include "base/result.h"

namespace tidemark::dedup {

// What a window must span. Slack's three retries come within minutes; with Delayed Events on it
// goes on hourly for a day, and may be two hours late itself.
struct WindowNeeds {
  std::chrono::seconds longest_redelivery = std::chrono::hours(24);
  std::chrono::seconds longest_outage = std::chrono::hours(2);
  std::chrono::seconds skew = std::chrono::seconds(2);
};

// redelivery + outage + 2 × skew.
std::chrono::seconds ShortestWindow(const WindowNeeds& needs);

// kInvalid, with what may go wrong and what to set, when the window is shorter than that.
Status CheckWindow(std::chrono::seconds window, const WindowNeeds& needs);

}  // namespace tidemark::dedup
