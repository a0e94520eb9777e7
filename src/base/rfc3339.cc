#include "base/rfc3339.h"

#include <chrono>

namespace tidemark {

namespace {

// A cursor over the text. Each step returns false when the text does not have what it expects.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool Digits(size_t count, int* out) {
    if (rest_.size() < count) return false;
    *out = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!IsDigit(rest_[i])) return false;
      *out = *out * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    return true;
  }
  bool OneOf(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) return false;
    last_ = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }
  // Either nothing, or a point and at least one digit.
  bool Fraction() {
    if (!OneOf(".")) return true;
    size_t count = 0;
    for (int digit = 0; Digits(1, &digit);) ++count;
    return count > 0;
  }
  char last() const { return last_; }
  bool AtEnd() const { return rest_.empty(); }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  std::string_view rest_;
  char last_ = 0;
};

struct TimeOfDay {
  int hour = 0;
  int minute = 0;
  int second = 0;
};

bool ScanDate(Scanner& scanner, std::chrono::year_month_day* date) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!scanner.Digits(4, &year) || !scanner.OneOf("-") || !scanner.Digits(2, &month) ||
      !scanner.OneOf("-") || !scanner.Digits(2, &day)) {
    return false;
  }
  *date = std::chrono::year(year) / std::chrono::month(static_cast<unsigned>(month)) /
          std::chrono::day(static_cast<unsigned>(day));
  return date->ok();
}

bool ScanTime(Scanner& scanner, TimeOfDay* time) {
  // Second 60 is a leap second. It counts as the first second of the next minute.
  return scanner.Digits(2, &time->hour) && scanner.OneOf(":") && scanner.Digits(2, &time->minute) &&
         scanner.OneOf(":") && scanner.Digits(2, &time->second) && scanner.Fraction() &&
         time->hour < 24 && time->minute < 60 && time->second <= 60;
}

bool ScanOffset(Scanner& scanner, int64_t* seconds) {
  if (scanner.OneOf("Zz")) return true;
  if (!scanner.OneOf("+-")) return false;
  const int64_t sign = scanner.last() == '-' ? -1 : 1;
  int hours = 0;
  int minutes = 0;
  if (!scanner.Digits(2, &hours) || !scanner.OneOf(":") || !scanner.Digits(2, &minutes)) {
    return false;
  }
  *seconds = sign * (hours * 3600 + minutes * 60);
  return hours < 24 && minutes < 60;
}

}  // namespace

std::optional<EpochSeconds> ParseRfc3339(std::string_view text) {
  Scanner scanner(text);
  std::chrono::year_month_day date;
  TimeOfDay time;
  int64_t offset = 0;
  if (!ScanDate(scanner, &date) || !scanner.OneOf("Tt ") || !ScanTime(scanner, &time) ||
      // Between date and time, RFC 3339 allows a lower-case t, and a space for readability.
      !ScanOffset(scanner, &offset) || !scanner.AtEnd()) {
    return std::nullopt;
  }
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86'400 + time.hour * 3'600 + time.minute * 60 + time.second - offset;
}

}  // namespace tidemark
