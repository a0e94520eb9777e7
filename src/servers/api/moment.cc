#include "servers/api/moment.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace tidemark::api {

namespace {

// Ten digits of seconds.
constexpr EpochSeconds kFirst = 1'000'000'000;
constexpr EpochSeconds kLast = 9'999'999'999;
constexpr EpochSeconds kSecondsADay = 86'400;

struct Stretch {
  EpochSeconds first = 0;
  EpochSeconds last = 0;  // Its last second.
};

// Digits and nothing else.
std::optional<int64_t> ParseDigits(std::string_view text) {
  const bool digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return digits && !text.empty() && error == std::errc() ? std::optional(number) : std::nullopt;
}

// Whether the text has the form of the picture, such as "0000-00-00", in which '0' is any digit.
bool LooksLike(std::string_view picture, std::string_view text) {
  return std::ranges::equal(picture, text, [](char wanted, char c) {
    return wanted == '0' ? c >= '0' && c <= '9' : c == wanted;
  });
}

std::optional<EpochSeconds> ParseDay(std::string_view text) {
  const std::chrono::year_month_day day{
      std::chrono::year(static_cast<int>(*ParseDigits(text.substr(0, 4)))),
      std::chrono::month(static_cast<unsigned>(*ParseDigits(text.substr(5, 2)))),
      std::chrono::day(static_cast<unsigned>(*ParseDigits(text.substr(8, 2))))};
  if (!day.ok()) return std::nullopt;
  return std::chrono::sys_seconds(std::chrono::sys_days(day)).time_since_epoch().count();
}

std::optional<EpochSeconds> ParseTimeOfDay(std::string_view text) {
  const int64_t hour = *ParseDigits(text.substr(0, 2));
  const int64_t minute = *ParseDigits(text.substr(3, 2));
  const int64_t second = *ParseDigits(text.substr(6, 2));
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return hour * 3600 + minute * 60 + second;
}

std::optional<Stretch> ParseStretch(std::string_view text) {
  if (const auto seconds = ParseDigits(text)) return Stretch{*seconds, *seconds};
  const bool is_second = LooksLike("0000-00-00T00:00:00Z", text);
  if (!is_second && !LooksLike("0000-00-00", text)) return std::nullopt;
  const auto day = ParseDay(text);
  if (!day) return std::nullopt;
  if (!is_second) return Stretch{*day, *day + kSecondsADay - 1};
  const auto time = ParseTimeOfDay(text.substr(11));
  return time ? std::optional(Stretch{*day + *time, *day + *time}) : std::nullopt;
}

}  // namespace

Result<slack::Timestamp> ParseMoment(std::string_view name, std::string_view text, Bound bound) {
  if (auto ts = slack::Timestamp::Parse(text)) return ts;
  const auto stretch = ParseStretch(text);
  if (!stretch || stretch->first < kFirst || stretch->last > kLast) {
    return Invalid(fmt::format(
        "the parameter '{}' should be a Slack ts (1714557600.000100), epoch seconds (1714557600), "
        "a day (2024-05-01) or a second of UTC (2024-05-01T10:00:00Z), not '{}'",
        name, text));
  }
  if (bound == Bound::kStart) return slack::Timestamp::FromSeconds(stretch->first);
  return slack::Timestamp::Parse(fmt::format("{}.999999", stretch->last));
}

}  // namespace tidemark::api
