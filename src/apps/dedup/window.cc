#include "apps/dedup/window.h"

#include <fmt/format.h>

namespace tidemark::dedup {

std::chrono::seconds ShortestWindow(const WindowNeeds& needs) {
  return needs.longest_redelivery + needs.longest_outage + 2 * needs.skew;
}

Status CheckWindow(std::chrono::seconds window, const WindowNeeds& needs) {
  const std::chrono::seconds shortest = ShortestWindow(needs);
  if (window >= shortest) return Done{};
  return Invalid(
      fmt::format("events are remembered for {} s, but one may be delivered again up to {} s later "
                  "and would then be handled twice: set dedup.window to {} s or more, or turn "
                  "Delayed Events off in the Slack app",
                  window.count(), shortest.count(), shortest.count()));
}

}  // namespace tidemark::dedup
