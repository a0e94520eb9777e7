// `tidemark demo`: a pretend Slack on loopback, with a workspace that is busy.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

// What a server is told to take the pretend Slack for the real one. They protect nothing.
inline constexpr const char* kDemoSigningSecret = "00000000000000000000000000000000";
inline constexpr const char* kDemoBotToken = "xoxb-demo";

struct DemoOptions {
  std::string listen = "127.0.0.1:8090";
  std::string to = "http://127.0.0.1:8080/slack/events";
  double rate = 10;
  uint64_t events = 0;
  uint64_t seed = 1;
  // How much faster than at Slack waits pass: a newcomer sees a retry after a minute in seconds.
  double speed = 30;
};

// Serves the Web API and sends events until SIGINT, SIGTERM, or all events are sent; then prints
// what became of them.
Result<ExitCode> RunDemo(const DemoOptions& options);

}  // namespace tidemark::programs
