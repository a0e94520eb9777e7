#include "servers/api/archive/places.h"

#include <fmt/format.h>

namespace tidemark::api {

namespace {

constexpr size_t kLinkLength = 17;  // 'p', ten digits of seconds, six of microseconds.
constexpr size_t kFractionDigits = 6;

const std::string& Parameter(const http::RoutedRequest& routed, std::string_view name) {
  return routed.parameters.find(name)->second;
}

}  // namespace

Result<slack::TeamId> TeamIn(const http::RoutedRequest& routed) {
  return slack::TeamId::Parse(Parameter(routed, "team"));
}

Result<archive::Place> PlaceIn(const http::RoutedRequest& routed) {
  slack::TeamId team = TRY(TeamIn(routed));
  slack::ChannelId channel = TRY(slack::ChannelId::Parse(Parameter(routed, "channel")));
  return archive::Place{.team = std::move(team), .channel = std::move(channel)};
}

Result<slack::Timestamp> TsIn(const http::RoutedRequest& routed) {
  return slack::Timestamp::Parse(Parameter(routed, "ts"));
}

Result<slack::Timestamp> ParseLink(std::string_view link) {
  if (link.size() == kLinkLength && link.front() == 'p') {
    const size_t point = kLinkLength - kFractionDigits;
    auto ts = slack::Timestamp::Parse(
        fmt::format("{}.{}", link.substr(1, point - 1), link.substr(point)));
    if (ts) return ts;
  }
  return Invalid(fmt::format(
      "a permalink ends in 'p' and the 16 digits of the message's ts, not in '{}'", link));
}

}  // namespace tidemark::api
