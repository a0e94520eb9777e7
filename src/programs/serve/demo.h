// `tidemark demo`: simulates Slack on loopback, with a busy workspace.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

// The secrets with which a server accepts the simulated Slack. They protect nothing.
inline constexpr const char* kDemoSigningSecret = "00000000000000000000000000000000";
inline constexpr const char* kDemoBotToken = "xoxb-demo";

struct DemoOptions {
  std::string listen = "127.0.0.1:8090";
  std::string to = "http://127.0.0.1:8080/slack/events";
  double rate = 10;
  uint64_t events = 0;
  uint64_t seed = 1;
  // Slack's waits are divided by this, so that a retry after one minute is visible in seconds.
  double speed = 30;
};

// Serves the Web API and sends events, until SIGINT or SIGTERM or until all events are sent. Then
// prints the totals.
Result<ExitCode> RunDemo(const DemoOptions& options);

}  // namespace tidemark::programs
