// A Timestamp is Slack's "ts": ten digits of seconds, a point and six digits, kept as text. It
// identifies a message within its channel. Because the length is fixed, comparing the texts
// compares the times. It is never converted to a floating-point number: a double cannot hold all
// 16 digits exactly.
//
//   Timestamp ts = TRY(Timestamp::Parse("1620000000.000200"));
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"

namespace tidemark::slack {

class Timestamp {
 public:
  // kInvalid unless it is ten digits, a point and six digits.
  static Result<Timestamp> Parse(std::string_view text);
  // The start of that second. Seconds with fewer or more than ten digits (before 2001 or after
  // 2286) are replaced by the nearest second that has ten.
  static Timestamp FromSeconds(EpochSeconds seconds);

  const std::string& text() const { return text_; }
  // Without the fraction.
  EpochSeconds seconds() const;

  friend bool operator==(const Timestamp&, const Timestamp&) = default;
  friend auto operator<=>(const Timestamp&, const Timestamp&) = default;

 private:
  explicit Timestamp(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace tidemark::slack
