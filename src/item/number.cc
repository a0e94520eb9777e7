#include "item/number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "item/limits.h"

namespace tidemark::item {

namespace {

__extension__ typedef unsigned __int128 Wide;

// The magnitude of a number is the power of ten of its first significant digit: 2 for 345. These
// are DynamoDB's limits.
constexpr int kMinMagnitude = -130;
constexpr int kMaxMagnitude = 125;

// A larger exponent in a text is read as this one: the number is out of range in both cases. It is
// so far below the maximum of int64_t that adding the length of the text cannot overflow.
constexpr int64_t kHugeExponent = 1'000'000'000'000'000;

constexpr std::array<Wide, 39> MakePowersOfTen() {
  std::array<Wide, 39> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr std::array<Wide, 39> kPowersOfTen = MakePowersOfTen();
constexpr Wide kCoefficientEnd = kPowersOfTen[kMaxNumberDigits];

Wide PowerOfTen(int exponent) { return kPowersOfTen[static_cast<size_t>(exponent)]; }
uint64_t High(Wide value) { return static_cast<uint64_t>(value >> 64); }
uint64_t Low(Wide value) { return static_cast<uint64_t>(value); }
Wide Join(uint64_t high, uint64_t low) { return static_cast<Wide>(high) << 64 | low; }

int BitCount(Wide value) {
  return High(value) != 0 ? 64 + std::bit_width(High(value)) : std::bit_width(Low(value));
}

// 0 for zero. Values from 10^38 on count as 39 digits.
int DigitCount(Wide value) {
  // 1233 / 4096 is so close to log10(2) that, up to 128 bits, this is the count or one less.
  const int estimate = BitCount(value) * 1233 >> 12;
  return estimate + (value >= PowerOfTen(estimate) ? 1 : 0);
}

bool EndsInZero(Wide value) { return High(value) != 0 ? value % 10 == 0 : Low(value) % 10 == 0; }

// Removes the trailing decimal zeros of the coefficient, and returns how many there were.
int StripZeros(Wide* coefficient) {
  int stripped = 0;
  // 128-bit division is slow and most numbers are short.
  while (High(*coefficient) != 0 && *coefficient % 10 == 0) {
    *coefficient /= 10;
    ++stripped;
  }
  if (High(*coefficient) != 0) return stripped;
  uint64_t low = Low(*coefficient);
  while (low != 0 && low % 10 == 0) {
    low /= 10;
    ++stripped;
  }
  *coefficient = low;
  return stripped;
}

// The decimal digits of a coefficient, without a leading zero; "0" for zero.
class Digits {
 public:
  explicit Digits(Wide coefficient) {
    // Two halves of 19 digits, since 128-bit division is slow.
    constexpr uint64_t kHalf = 10'000'000'000'000'000'000U;
    if (coefficient < kHalf) {
      begin_ = Write(Low(coefficient), buffer_.size());
      return;
    }
    const size_t low_begin = Write(Low(coefficient % kHalf), buffer_.size());
    const size_t high_end = buffer_.size() - 19;
    std::fill(buffer_.begin() + high_end, buffer_.begin() + low_begin, '0');
    begin_ = Write(Low(coefficient / kHalf), high_end);
  }
  std::string_view text() const {
    return std::string_view(buffer_.data(), buffer_.size()).substr(begin_);
  }

 private:
  // Writes the digits so that they end at `end`; returns where they begin.
  size_t Write(uint64_t value, size_t end) {
    do {
      buffer_[--end] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    return end;
  }

  std::array<char, 40> buffer_;
  size_t begin_;
};

// These texts are DynamoDB's.
Error Overflow() {
  return Invalid(
      "Number overflow. Attempting to store a number with magnitude larger than supported range");
}

Error Underflow() {
  return Invalid(
      "Number underflow. Attempting to store a number with magnitude smaller than supported range");
}

Error TooManyDigits() {
  return Invalid("Attempting to store more than 38 significant digits in a Number");
}

Error NotANumber(std::string_view text) {
  return Invalid("The parameter cannot be converted to a numeric value: " + std::string(text));
}

// The part of a number's text before its exponent. Trailing zeros are not significant here.
struct Mantissa {
  Wide coefficient = 0;            // The significant digits; meaningless if there are more than 38.
  int64_t significant_digits = 0;  // How many there are, which may be more than 38.
  int64_t exponent = 0;            // The power of ten of the last significant digit.
  bool negative = false;
};

// Reads the digits of a mantissa one by one, in constant memory. A zero is significant only if a
// digit other than zero follows, so zeros are counted first and added when that digit comes.
class MantissaBuilder {
 public:
  void AddDigit(char c) {
    has_digit_ = true;
    if (after_point_) --position_;
    if (c == '0') {
      ++pending_zeros_;
      return;
    }
    // Zeros before the first significant digit do not count; zeros between two do.
    if (mantissa_.significant_digits > 0) AddSignificant(pending_zeros_, 0);
    AddSignificant(1, c - '0');
    pending_zeros_ = 0;
  }
  bool AddPoint() { return !std::exchange(after_point_, true); }
  bool has_digit() const { return has_digit_; }

  Mantissa Finish() {
    if (mantissa_.significant_digits > 0) mantissa_.exponent = position_ + pending_zeros_;
    return mantissa_;
  }

 private:
  void AddSignificant(int64_t count, int digit) {
    const int64_t total = mantissa_.significant_digits + count;
    if (total <= kMaxNumberDigits) {
      mantissa_.coefficient =
          mantissa_.coefficient * PowerOfTen(static_cast<int>(count)) + static_cast<Wide>(digit);
    }
    mantissa_.significant_digits = total;
  }

  Mantissa mantissa_;
  int64_t position_ = 0;  // The power of ten of the digit read last.
  int64_t pending_zeros_ = 0;
  bool after_point_ = false;
  bool has_digit_ = false;
};

bool TakeSign(std::string_view* text) {
  if (text->empty() || (text->front() != '-' && text->front() != '+')) return false;
  const bool negative = text->front() == '-';
  text->remove_prefix(1);
  return negative;
}

// Takes the mantissa off the front; nullopt when there is none.
std::optional<Mantissa> TakeMantissa(std::string_view* text) {
  const bool negative = TakeSign(text);
  MantissaBuilder builder;
  size_t length = 0;
  for (; length < text->size(); ++length) {
    const char c = (*text)[length];
    if (IsDigit(c)) {
      builder.AddDigit(c);
    } else if (c != '.' || !builder.AddPoint()) {
      break;
    }
  }
  if (!builder.has_digit()) return std::nullopt;
  text->remove_prefix(length);
  Mantissa mantissa = builder.Finish();
  mantissa.negative = negative;
  return mantissa;
}

// Reads "" or "e5" to the end of the text; nullopt when it is anything else. Huge exponents are
// cut to kHugeExponent, which is out of range with every mantissa.
std::optional<int64_t> TakeExponent(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  text.remove_prefix(1);
  const bool negative = TakeSign(&text);
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsDigit)) return std::nullopt;
  int64_t exponent = 0;
  for (char c : text) exponent = std::min(exponent * 10 + (c - '0'), kHugeExponent);
  return negative ? -exponent : exponent;
}

// The number has this many digits, and the power of ten of the last one is `exponent`.
bool InRange(int64_t digits, int64_t exponent) {
  const int64_t magnitude = exponent + digits - 1;
  return magnitude >= kMinMagnitude && magnitude <= kMaxMagnitude;
}

Status CheckMagnitude(int64_t digits, int64_t exponent) {
  const int64_t magnitude = exponent + digits - 1;
  if (magnitude > kMaxMagnitude) return Overflow();
  if (magnitude < kMinMagnitude) return Underflow();
  return Done{};
}

// 0, -1, 1, -2, … become 0, 1, 2, 3, …, so that small negative exponents have short varints too.
uint64_t ZigZag(int value) {
  return value < 0 ? static_cast<uint64_t>(-value) * 2 - 1 : static_cast<uint64_t>(value) * 2;
}

int64_t UnZigZag(uint64_t value) {
  const int64_t half = static_cast<int64_t>(value >> 1);
  return value % 2 == 0 ? half : -half - 1;
}

// The bytes of an ordered number (docs/formats/keys.md). The first byte is the class, so that all
// negative numbers sort before zero, and zero before all positive ones.
constexpr uint8_t kNegativeClass = 1;
constexpr uint8_t kZeroClass = 2;
constexpr uint8_t kPositiveClass = 3;
constexpr uint8_t kEndMark = 0;
constexpr int kMaxPairs = kMaxNumberDigits / 2;

// The first byte of a compact number (docs/formats/items.md).
constexpr uint8_t kLengthMask = 0x1f;
constexpr uint8_t kReservedFlag = 0x20;
constexpr uint8_t kExponentFlag = 0x40;
constexpr uint8_t kNegativeFlag = 0x80;

// Reads the pairs of digits of an ordered number up to the end mark. Each pair is stored as its
// value plus one, so that the end mark, a zero, sorts before every pair. Fails the reader on bytes
// that EncodeOrdered does not write: there would be two keys for one number.
Wide ReadPairs(Reader* reader, uint8_t flip) {
  Wide coefficient = 0;
  uint8_t last = 0;
  for (int pairs = 0; reader->ok(); ++pairs) {
    const uint8_t byte = reader->Byte() ^ flip;
    if (byte == kEndMark) break;
    last = byte - 1;
    if (byte > 100 || pairs == kMaxPairs || (pairs == 0 && last < 10)) reader->Fail();
    coefficient = coefficient * 100 + last;
  }
  if (last == 0) reader->Fail();
  return coefficient;
}

}  // namespace

// Makes Numbers from their parts, and takes them apart.
class NumberParts {
 public:
  // The coefficient has no trailing zero and the magnitude is in range.
  static Number Make(bool negative, Wide coefficient, int64_t exponent) {
    Number number;
    number.coefficient_high_ = High(coefficient);
    number.coefficient_low_ = Low(coefficient);
    number.exponent_ = static_cast<int16_t>(exponent);
    number.negative_ = negative;
    return number;
  }

  // For results of arithmetic. The coefficient is below 3 × 10^38, which fits into 128 bits. It may
  // end in zeros and may have 39 digits: only after the zeros are removed is it known whether it
  // fits.
  static Result<Number> Normalize(bool negative, Wide coefficient, int exponent) {
    if (coefficient == 0) return Number();
    exponent += StripZeros(&coefficient);
    if (coefficient >= kCoefficientEnd) return Overflow();
    TRY(CheckMagnitude(DigitCount(coefficient), exponent));
    return Make(negative, coefficient, exponent);
  }

  static Wide Coefficient(const Number& number) {
    return Join(number.coefficient_high_, number.coefficient_low_);
  }
  static int Magnitude(const Number& number) {
    return number.exponent_ + DigitCount(Coefficient(number)) - 1;
  }

  static Number Negated(Number number) {
    if (Coefficient(number) != 0) number.negative_ = !number.negative_;
    return number;
  }

  static std::strong_ordering CompareMagnitudes(const Number& left, const Number& right) {
    if (left.exponent_ == right.exponent_) return Order(Coefficient(left), Coefficient(right));
    const int left_magnitude = Magnitude(left);
    const int right_magnitude = Magnitude(right);
    if (left_magnitude != right_magnitude) return left_magnitude <=> right_magnitude;
    // Both have the same magnitude, so the one with the higher exponent has fewer digits. With
    // zeros appended it has as many digits as the other, at most 38: the product cannot overflow.
    const int common = std::min(left.exponent_, right.exponent_);
    return Order(Coefficient(left) * PowerOfTen(left.exponent_ - common),
                 Coefficient(right) * PowerOfTen(right.exponent_ - common));
  }

 private:
  static std::strong_ordering Order(Wide left, Wide right) {
    if (left == right) return std::strong_ordering::equal;
    return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
  }
};

Number Number::FromInt(int64_t value) {
  if (value == 0) return Number();
  const uint64_t bits = static_cast<uint64_t>(value);
  Wide coefficient = value < 0 ? 0 - bits : bits;
  const int exponent = StripZeros(&coefficient);
  return NumberParts::Make(value < 0, coefficient, exponent);
}

Result<Number> Number::Parse(std::string_view text) {
  std::string_view rest = text;
  const std::optional<Mantissa> mantissa = TakeMantissa(&rest);
  if (!mantissa) return NotANumber(text);
  const std::optional<int64_t> exponent = TakeExponent(rest);
  if (!exponent) return NotANumber(text);
  if (mantissa->significant_digits == 0) return Number();
  const int64_t last_digit = mantissa->exponent + *exponent;
  // The range is checked first, so a number that has too many digits and is out of range gets the
  // error about the range.
  TRY(CheckMagnitude(mantissa->significant_digits, last_digit));
  if (mantissa->significant_digits > kMaxNumberDigits) return TooManyDigits();
  return NumberParts::Make(mantissa->negative, mantissa->coefficient, last_digit);
}

std::string Number::ToString() const {
  const Digits digits(Join(coefficient_high_, coefficient_low_));
  const std::string_view text = digits.text();
  const int integer_digits = static_cast<int>(text.size()) + exponent_;
  std::string out;
  if (negative_) out += '-';
  if (exponent_ >= 0) {
    out.append(text).append(static_cast<size_t>(exponent_), '0');
  } else if (integer_digits > 0) {
    const size_t point = static_cast<size_t>(integer_digits);
    out.append(text.substr(0, point)).append(".").append(text.substr(point));
  } else {
    out.append("0.").append(static_cast<size_t>(-integer_digits), '0').append(text);
  }
  return out;
}

size_t Number::TextBytes() const {
  // Zero has no digits and is written as one.
  const int digits = std::max(1, DigitCount(Join(coefficient_high_, coefficient_low_)));
  const int integer_digits = digits + exponent_;
  const int length = exponent_ >= 0       ? integer_digits
                     : integer_digits > 0 ? digits + 1
                                          : 2 - integer_digits + digits;
  return static_cast<size_t>(length + (negative_ ? 1 : 0));
}

std::optional<int64_t> Number::Floor() const {
  constexpr Wide kMaxInt = std::numeric_limits<int64_t>::max();
  Wide magnitude = Join(coefficient_high_, coefficient_low_);
  if (exponent_ > 18) return std::nullopt;
  if (exponent_ >= 0) {
    // Checked before the multiplication, so that it cannot overflow: 2^63 × 10^18 is below 2^128.
    if (magnitude > kMaxInt + 1) return std::nullopt;
    magnitude *= PowerOfTen(exponent_);
  } else {
    // The last digit is not zero and is behind the point, so there is always a fraction. The
    // division cuts it off, which for a negative number rounds up: hence the increment.
    magnitude = exponent_ < -kMaxNumberDigits ? 0 : magnitude / PowerOfTen(-exponent_);
    if (negative_) ++magnitude;
  }
  if (magnitude > (negative_ ? kMaxInt + 1 : kMaxInt)) return std::nullopt;
  const uint64_t bits = Low(magnitude);
  return static_cast<int64_t>(negative_ ? 0 - bits : bits);
}

size_t Number::SizeBytes() const {
  const int digits = DigitCount(Join(coefficient_high_, coefficient_low_));
  if (digits == 0) return 1;
  // DynamoDB packs two digits into a byte, separately before and after the point. One more byte is
  // for the exponent, and one for a negative sign.
  // Digits before the point: none for 0.0012, and all of them for 1200, whose zeros are not stored.
  const int integer_digits = std::clamp(digits + exponent_, 0, digits);
  const int fraction_digits = digits - integer_digits;
  const int pairs = (integer_digits + 1) / 2 + (fraction_digits + 1) / 2;
  return static_cast<size_t>(1 + pairs + (negative_ ? 1 : 0));
}

Result<Number> Add(const Number& left, const Number& right) {
  const Number& upper = left.exponent_ >= right.exponent_ ? left : right;
  const Number& lower = left.exponent_ >= right.exponent_ ? right : left;
  const Wide low = NumberParts::Coefficient(lower);
  Wide high = NumberParts::Coefficient(upper);
  if (high == 0) return lower;
  if (low == 0) return upper;

  // `high` is multiplied so that both have the lower exponent. `low` is below 10^38. If `high` is
  // then 2 × 10^38 or more, the result has more than 38 digits even after subtraction. Its last
  // digit is that of the lower number, which is not zero, so no zeros can be removed to make it
  // fit. The check divides, because the multiplication could overflow.
  const int shift = upper.exponent_ - lower.exponent_;
  // `PowerOfTen` has entries up to 10^38, so the shift is checked before it is used.
  if (shift > kMaxNumberDigits || high > 2 * kCoefficientEnd / PowerOfTen(shift)) return Overflow();
  high *= PowerOfTen(shift);
  if (upper.negative_ == lower.negative_) {
    return NumberParts::Normalize(upper.negative_, high + low, lower.exponent_);
  }
  const bool upper_wins = high >= low;
  return NumberParts::Normalize(upper_wins ? upper.negative_ : lower.negative_,
                                upper_wins ? high - low : low - high, lower.exponent_);
}

Result<Number> Subtract(const Number& left, const Number& right) {
  return Add(left, NumberParts::Negated(right));
}

std::strong_ordering operator<=>(const Number& left, const Number& right) {
  const auto sign = [](const Number& number) {
    if (NumberParts::Coefficient(number) == 0) return 0;
    return number.negative_ ? -1 : 1;
  };
  const int left_sign = sign(left);
  if (left_sign != sign(right)) return left_sign <=> sign(right);
  if (left_sign == 0) return std::strong_ordering::equal;
  return left_sign > 0 ? NumberParts::CompareMagnitudes(left, right)
                       : NumberParts::CompareMagnitudes(right, left);
}

void Number::EncodeOrdered(std::string* out) const {
  const Wide coefficient = Join(coefficient_high_, coefficient_low_);
  if (coefficient == 0) {
    out->push_back(static_cast<char>(kZeroClass));
    return;
  }
  const Digits digits(coefficient);
  const std::string_view text = digits.text();
  // The larger the magnitude of a negative number, the earlier it sorts: so its bytes are inverted.
  const uint8_t flip = negative_ ? 0xff : 0;
  const auto append = [out, flip](int byte) { out->push_back(static_cast<char>(byte ^ flip)); };

  out->push_back(static_cast<char>(negative_ ? kNegativeClass : kPositiveClass));
  append(exponent_ + static_cast<int>(text.size()) - 1 - kMinMagnitude);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int second = i + 1 < text.size() ? text[i + 1] - '0' : 0;
    append((text[i] - '0') * 10 + second + 1);
  }
  append(kEndMark);
}

Number Number::DecodeOrdered(Reader* reader) {
  const uint8_t number_class = reader->Byte();
  if (number_class == kZeroClass) return Number();
  if (number_class != kNegativeClass && number_class != kPositiveClass) reader->Fail();
  const uint8_t flip = number_class == kNegativeClass ? 0xff : 0;
  const int magnitude = (reader->Byte() ^ flip) + kMinMagnitude;
  Wide coefficient = ReadPairs(reader, flip);
  if (!reader->ok()) return Number();
  // A pair may have brought in one zero at the end, which the coefficient must not have.
  StripZeros(&coefficient);
  const int exponent = magnitude - DigitCount(coefficient) + 1;
  return NumberParts::Make(number_class == kNegativeClass, coefficient, exponent);
}

void Number::EncodeCompact(std::string* out) const {
  const Wide coefficient = Join(coefficient_high_, coefficient_low_);
  const int length = (BitCount(coefficient) + 7) / 8;
  int head = length;
  if (exponent_ != 0) head |= kExponentFlag;
  if (negative_) head |= kNegativeFlag;
  out->push_back(static_cast<char>(head));
  if (exponent_ != 0) AppendVarint(ZigZag(exponent_), out);
  for (int i = length - 1; i >= 0; --i) out->push_back(static_cast<char>(coefficient >> (8 * i)));
}

Number Number::DecodeCompact(Reader* reader) {
  const uint8_t head = reader->Byte();
  if (head == 0) return Number();
  const int64_t exponent = (head & kExponentFlag) != 0 ? UnZigZag(reader->Varint()) : 0;
  const std::string_view bytes = reader->Take(head & kLengthMask);
  Wide coefficient = 0;
  for (char byte : bytes) coefficient = coefficient << 8 | static_cast<uint8_t>(byte);

  const bool shortest = !bytes.empty() && bytes.front() != 0 && bytes.size() <= sizeof(Wide) &&
                        !EndsInZero(coefficient) && (exponent != 0 || (head & kExponentFlag) == 0);
  // Damaged bytes can hold any exponent. Its limits are checked first, so that adding the number of
  // digits cannot overflow.
  const bool in_range = coefficient < kCoefficientEnd && exponent > -1'000 && exponent < 1'000 &&
                        InRange(DigitCount(coefficient), exponent);
  if ((head & kReservedFlag) != 0 || !shortest || !in_range) {
    reader->Fail();
    return Number();
  }
  return NumberParts::Make((head & kNegativeFlag) != 0, coefficient, exponent);
}

}  // namespace tidemark::item
