#include "http/observer.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace tidemark::http {

namespace {

// A client may send a path of many kilobytes with each request. No path of ours is longer.
constexpr size_t kMaxLoggedPathBytes = 512;
constexpr std::chrono::seconds kSlow{1};

std::string CutForLog(std::string_view path) {
  if (path.size() <= kMaxLoggedPathBytes) return std::string(path);
  return fmt::format("{}… ({} bytes)", path.substr(0, kMaxLoggedPathBytes), path.size());
}

LogLevel LevelOf(const Served& served) {
  const bool failed = served.status >= 400;
  return failed || served.time >= kSlow ? LogLevel::kInfo : LogLevel::kDebug;
}

}  // namespace

Observer::Observer(const Logger& logger, Metrics* metrics, PathForLog path_for_log,
                   const Labels& labels)
    : logger_(logger),
      path_for_log_(std::move(path_for_log)),
      seconds_(metrics->AddHistogram(
          {.metric = {.name = "tidemark_http_request_seconds",
                      .help = "Time from a whole request to its reply.",
                      .labels = labels},
           .bounds = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 3, 10}})),
      connections_(metrics->AddGauge({.name = "tidemark_http_connections",
                                      .help = "Connections that are open.",
                                      .labels = labels})),
      refused_(metrics->AddCounter(
          {.name = "tidemark_http_refused_total",
           .help = "Requests and connections that the server refused by itself.",
           .labels = labels})),
      bad_(metrics->AddCounter({.name = "tidemark_http_bad_requests_total",
                                .help = "Requests without a route, without a valid token or "
                                        "signature, or that are not valid HTTP.",
                                .labels = labels})),
      over_limit_(metrics->AddCounter(
          {.name = "tidemark_http_bad_requests_limited_total",
           .help = "Bad requests that got 429 because their address had sent too many.",
           .labels = labels})),
      slow_readers_(metrics->AddCounter(
          {.name = "tidemark_http_slow_readers_total",
           .help = "Connections that were closed because their client read a reply too slowly.",
           .labels = labels})) {
  for (size_t i = 0; i < answered_.size(); ++i) {
    Labels with_status = labels;
    with_status.emplace("status", fmt::format("{}xx", i + 1));
    answered_[i] = &metrics->AddCounter({.name = "tidemark_http_requests_total",
                                         .help = "Requests answered, by the kind of status.",
                                         .labels = std::move(with_status)});
  }
}

void Observer::RecordAnswer(const Served& served) {
  const int kind = std::clamp(served.status / 100, 1, 5);
  answered_[static_cast<size_t>(kind - 1)]->Add();
  seconds_.Observe(std::chrono::duration<double>(served.time).count());
  if (!served.cause.empty()) {
    logger_.Log(
        LogLevel::kError, "a request failed",
        {{"cause", served.cause}, {"status", served.status}, {"request_id", served.request_id}});
  }
  const LogLevel level = LevelOf(served);
  if (!logger_.Writes(level) || served.is_over_limit) return;
  logger_.Log(
      level, "request",
      {{"method", served.method},
       {"path", CutForLog(path_for_log_ ? path_for_log_(served.path) : std::string(served.path))},
       {"status", served.status},
       {"bytes", served.body_bytes},
       {"ms", std::chrono::duration<double, std::milli>(served.time).count()},
       {"peer", served.peer},
       {"token", served.caller},
       {"request_id", served.request_id}});
}

void Observer::LogCutShort(std::string_view request_id, std::string_view reason) {
  logger_.Log(LogLevel::kError, "body cut short", {{"reason", reason}, {"request_id", request_id}});
}

void Observer::CountRefusal() { refused_.Add(); }

void Observer::CountBadRequest() { bad_.Add(); }

void Observer::CountSlowReader() { slow_readers_.Add(); }

void Observer::CountOverLimit() { over_limit_.Add(); }

void Observer::LogOverLimit(std::string_view address, uint64_t refused) {
  logger_.Log(LogLevel::kWarning,
              "too many bad requests came from one address: further ones get 429 and no line",
              {{"address", address}, {"refused_since_last_line", refused}});
}

void Observer::CountOpened() { connections_.Add(1); }

void Observer::CountClosed() { connections_.Add(-1); }

}  // namespace tidemark::http
