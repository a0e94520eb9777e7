// Number is DynamoDB's number: a decimal of at most 38 significant digits, of
// magnitude 1E-130 to 9.99…E+125, or zero. Arithmetic is exact: a result that does
// not fit is an error, never rounded. Equal values have one form, so 1000 and 1e3
// are the same Number, and -0 is 0.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace tidemark::item {

class Number {
 public:
  Number() = default;  // Zero.
  static Number FromInt(int64_t value);

  // Takes "+3", ".5", "0001.23", "-17.4E37"; refuses spaces, names, hex and "1e",
  // more than 38 significant digits and magnitudes out of range, with DynamoDB's texts.
  static Result<Number> Parse(std::string_view text);

  // Plain decimal, never scientific, without needless zeros.
  std::string ToString() const;

  // The length of that text, which is up to 132 for a number that takes two bytes: 1E-130.
  size_t TextBytes() const;

  // Rounded towards minus infinity; nullopt when it does not fit.
  std::optional<int64_t> Floor() const;

  // The bytes that DynamoDB counts for the number.
  size_t SizeBytes() const;

  friend Result<Number> Add(const Number& left, const Number& right);
  friend Result<Number> Subtract(const Number& left, const Number& right);

  friend std::strong_ordering operator<=>(const Number& left, const Number& right);
  friend bool operator==(const Number& left, const Number& right) = default;

  // Bytes in the order of the numbers. A reader sees where they end (docs/formats/keys.md).
  void EncodeOrdered(std::string* out) const;
  static Number DecodeOrdered(Reader* reader);  // Fails the reader on any other bytes.

  // Compact bytes for stored items (docs/formats/items.md).
  void EncodeCompact(std::string* out) const;
  static Number DecodeCompact(Reader* reader);

 private:
  friend class NumberParts;

  // value = ±coefficient × 10^exponent. The coefficient has no trailing zero and at
  // most 38 digits, which fit 127 bits; it is kept as two halves so that a Value is
  // aligned to 8 bytes. Zero has exponent 0 and no sign.
  uint64_t coefficient_high_ = 0;
  uint64_t coefficient_low_ = 0;
  int16_t exponent_ = 0;
  bool negative_ = false;
};

}  // namespace tidemark::item
