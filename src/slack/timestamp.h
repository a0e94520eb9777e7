// A Timestamp is Slack's "ts": seconds, a point and six digits, as text. It names a message within
// its channel and orders messages and events. Ten digits before the point make the order of the
// texts the order of the times; it is never turned into a floating-point number, which has too
// few digits for it.
//
//   Timestamp ts = TRY(Timestamp::Parse("1620000000.000200"));
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace tidemark::slack {

class Timestamp {
 public:
  // kInvalid unless it is ten digits, a point and six digits.
  static Result<Timestamp> Parse(std::string_view text);
  // The start of a second between 2001 and 2286; others are brought to the nearer end.
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
