#include "slack/timestamp.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/ascii.h"

namespace tidemark::slack {

namespace {

constexpr size_t kSecondsDigits = 10;
constexpr size_t kLength = kSecondsDigits + 1 + 6;
constexpr EpochSeconds kFirst = 1'000'000'000;
constexpr EpochSeconds kLast = 9'999'999'999;

}  // namespace

Result<Timestamp> Timestamp::Parse(std::string_view text) {
  const bool well_formed = text.size() == kLength && text[kSecondsDigits] == '.' &&
                           std::count_if(text.begin(), text.end(), IsDigit) == kLength - 1;
  if (!well_formed) {
    return Invalid(fmt::format(
        "a Slack timestamp is ten digits, a point and six digits, such as 1620000000.000200; this "
        "is \"{}\"",
        text.substr(0, 40)));
  }
  return Timestamp(std::string(text));
}

Timestamp Timestamp::FromSeconds(EpochSeconds seconds) {
  return Timestamp(fmt::format("{}.000000", std::clamp(seconds, kFirst, kLast)));
}

EpochSeconds Timestamp::seconds() const {
  EpochSeconds seconds = 0;
  std::from_chars(text_.data(), text_.data() + kSecondsDigits, seconds);
  return seconds;
}

}  // namespace tidemark::slack
