#include "item/number.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/long_run.h"

namespace tidemark::item {
namespace {

constexpr char kOverflow[] =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
constexpr char kUnderflow[] =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";
constexpr char kTooManyDigits[] = "Attempting to store more than 38 significant digits in a Number";

Number N(std::string_view text) {
  Result<Number> number = Number::Parse(text);
  EXPECT_TRUE(number.has_value()) << text;
  return number ? *number : Number();
}

std::string ErrorOf(const Result<Number>& result) {
  return result.has_value() ? "no error: " + result->ToString() : result.error().message;
}

std::string Ordered(const Number& number) {
  std::string bytes;
  number.EncodeOrdered(&bytes);
  return bytes;
}

std::string Compact(const Number& number) {
  std::string bytes;
  number.EncodeCompact(&bytes);
  return bytes;
}

std::string Bytes(std::initializer_list<int> bytes) {
  return std::string(bytes.begin(), bytes.end());
}

// DynamoDB returns a canonical text for every form of input.
TEST(NumberTest, WritesEveryNumberAsPlainDecimal) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"0", "0"},
      {"-0", "0"},
      {"+0.000", "0"},
      {"0e999999999999", "0"},
      {"+3", "3"},
      {".5", "0.5"},
      {"5.", "5"},
      {"-.5", "-0.5"},
      {"0001.23", "1.23"},
      {"1e+5", "100000"},
      {"1E5", "100000"},
      {"1e-5", "0.00001"},
      {"1000", "1000"},
      {"1e3", "1000"},
      {"1.000", "1"},
      {"100.50", "100.5"},
      {"0.00100", "0.001"},
      {"12345e-2", "123.45"},
      {"-17.4E37", "-174" + std::string(36, '0')},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(N(text).ToString(), expected) << text;
}

// Java's and C's parsers take some of these; DynamoDB takes none.
TEST(NumberTest, RefusesTextThatIsNotANumberAndQuotesIt) {
  for (const std::string text :
       {"",  " 1", "1 ", "NaN", "Infinity", "-Infinity", "0x1F", "1e",    "1e+", "e5",
        ".", "-",  "+",  "--1", "1.2.3",    "1_000",     "1,5",  "1e5.0", "1f",  "١"}) {
    EXPECT_EQ(ErrorOf(Number::Parse(text)),
              "The parameter cannot be converted to a numeric value: " + text);
  }
}

TEST(NumberTest, RefusesMagnitudesOutOfRange) {
  const std::string nines(38, '9');
  EXPECT_EQ(N("9." + nines.substr(1) + "e125").ToString(), nines + std::string(88, '0'));
  EXPECT_EQ(N("1e-130").ToString(), "0." + std::string(129, '0') + "1");
  EXPECT_EQ(N("-1.5e-130"), N("-15e-131"));
  EXPECT_EQ(ErrorOf(Number::Parse("1e126")), kOverflow);
  EXPECT_EQ(ErrorOf(Number::Parse("-1e126")), kOverflow);
  EXPECT_EQ(ErrorOf(Number::Parse("9.9e-131")), kUnderflow);
  EXPECT_EQ(ErrorOf(Number::Parse("-9.9e-131")), kUnderflow);
}

// Exponents that fit no integer type must neither overflow nor make the parser write out the zeros.
TEST(NumberTest, RefusesHugeExponentsWithoutExpandingThem) {
  for (const char* text :
       {"1e2147483647", "1e2147483648", "1e99999999999999999999", "1e18446744073709551616"}) {
    EXPECT_EQ(ErrorOf(Number::Parse(text)), kOverflow) << text;
  }
  for (const char* text : {"1e-2147483648", "1e-99999999999999999999", "1e-18446744073709551616"}) {
    EXPECT_EQ(ErrorOf(Number::Parse(text)), kUnderflow) << text;
  }
}

// Zeros before the first and after the last significant digit do not count, even if there are many.
TEST(NumberTest, CountsSignificantDigitsOnly) {
  const std::string digits = "12345678901234567890123456789012345678";
  EXPECT_EQ(N(digits).ToString(), digits);
  EXPECT_EQ(N(std::string(100'000, '0') + digits + "." + std::string(100'000, '0')).ToString(),
            digits);
  EXPECT_EQ(N("1" + std::string(50'000, '0') + "e-50000").ToString(), "1");
  EXPECT_EQ(N("0." + std::string(50'000, '0') + "1e50001").ToString(), "1");
}

TEST(NumberTest, RejectsThirtyNineDigits) {
  EXPECT_EQ(ErrorOf(Number::Parse("123456789012345678901234567890123456789")), kTooManyDigits);
  EXPECT_EQ(ErrorOf(Number::Parse("1." + std::string(37, '0') + "1")), kTooManyDigits);
  EXPECT_EQ(ErrorOf(Number::Parse("1" + std::string(50, '0') + "1")), kTooManyDigits);
  // 2^128 + 1: arithmetic that wraps would take it for 1.
  EXPECT_EQ(ErrorOf(Number::Parse("340282366920938463463374607431768211457")), kTooManyDigits);
}

TEST(NumberTest, FromIntAcceptsEveryInteger) {
  EXPECT_EQ(Number::FromInt(0), Number());
  EXPECT_EQ(Number::FromInt(1'000), N("1e3"));
  EXPECT_EQ(Number::FromInt(-17).ToString(), "-17");
  for (int64_t extreme :
       {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(Number::FromInt(extreme).ToString(), std::to_string(extreme));
    EXPECT_EQ(Number::FromInt(extreme).Floor(), extreme);
  }
}

TEST(NumberTest, FloorsTowardsMinusInfinity) {
  EXPECT_EQ(N("0").Floor(), 0);
  EXPECT_EQ(N("1.9").Floor(), 1);
  EXPECT_EQ(N("-1.1").Floor(), -2);
  EXPECT_EQ(N("1e-130").Floor(), 0);
  EXPECT_EQ(N("-1e-130").Floor(), -1);
  EXPECT_EQ(N("5e3").Floor(), 5'000);
  EXPECT_EQ(N("9223372036854775807.999").Floor(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(N("-9223372036854775807.5").Floor(), std::numeric_limits<int64_t>::min());
}

TEST(NumberTest, FloorIsAbsentOutsideTheRangeOfInt64) {
  for (const char* text : {"9223372036854775808", "-9223372036854775808.5", "-9223372036854775809",
                           "1e19", "1e125", "-1e125", "36893488147419103233"}) {
    EXPECT_EQ(N(text).Floor(), std::nullopt) << text;
  }
}

// DynamoDB's documented sizes (dynamodb-facts 4.1), and numbers with one digit more or less.
TEST(NumberTest, CountsBytesAsDynamoDbDoes) {
  const std::vector<std::pair<std::string, size_t>> cases = {
      {"0", 1},
      {"1", 2},
      {"12", 2},
      {"123", 3},
      {"-1", 3},
      {"3.14159", 5},
      {"1e125", 2},
      {"100", 2},
      {"0.5", 2},
      {"0.01", 2},
      {"1e-130", 2},
      {"1.005", 4},
      {"100.5", 4},
      {"-3.14159", 6},
      {"12345678901234567890123456789012345678", 20},
      {"-1.2345678901234567890123456789012345678", 22},
  };
  for (const auto& [text, size] : cases) EXPECT_EQ(N(text).SizeBytes(), size) << text;
}

TEST(NumberTest, AddsAcrossCarriesAndCancellation) {
  const std::string nines(38, '9');
  EXPECT_EQ(*Add(N("0.1"), N("0.2")), N("0.3"));
  EXPECT_EQ(*Add(N("-5"), N("5")), Number());
  EXPECT_EQ(*Subtract(Number(), N("7")), N("-7"));
  EXPECT_EQ(*Subtract(N("7"), Number()), N("7"));
  EXPECT_EQ(*Subtract(N("1e38"), N("1")), N(nines));
  EXPECT_EQ(*Add(N(nines), N("1")), N("1e38"));
  EXPECT_EQ(*Add(N("5" + std::string(37, '0')), N("5" + std::string(37, '0'))), N("1e38"));
}

// An inexact result is an error, reported as overflow (dynamodb-facts 4.1).
TEST(NumberTest, NeverRoundsAResult) {
  EXPECT_EQ(ErrorOf(Add(N("1e50"), N("1"))), kOverflow);
  EXPECT_EQ(ErrorOf(Add(N("1e125"), N("1e-130"))), kOverflow);
  EXPECT_EQ(ErrorOf(Add(N(std::string(38, '9')), N("0.1"))), kOverflow);
  EXPECT_EQ(ErrorOf(Add(N(std::string(38, '9')), N("2"))), kOverflow);
  EXPECT_EQ(ErrorOf(Add(N("9.9e125"), N("9.9e125"))), kOverflow);
  EXPECT_EQ(ErrorOf(Subtract(N("1.1e-130"), N("1e-130"))), kUnderflow);
}

// The worked examples of docs/formats/keys.md and items.md.
TEST(NumberTest, WritesTheDocumentedBytes) {
  EXPECT_EQ(Ordered(N("0")), Bytes({2}));
  EXPECT_EQ(Ordered(N("1")), Bytes({3, 0x82, 0x0b, 0}));
  EXPECT_EQ(Ordered(N("1000")), Bytes({3, 0x85, 0x0b, 0}));
  EXPECT_EQ(Ordered(N("3.14")), Bytes({3, 0x82, 0x20, 0x29, 0}));
  EXPECT_EQ(Ordered(N("-1")), Bytes({1, 0x7d, 0xf4, 0xff}));
  EXPECT_EQ(Compact(N("0")), Bytes({0}));
  EXPECT_EQ(Compact(N("7")), Bytes({1, 7}));
  EXPECT_EQ(Compact(N("-7")), Bytes({0x81, 7}));
  EXPECT_EQ(Compact(N("1000")), Bytes({0x41, 6, 1}));
  EXPECT_EQ(Compact(N("3.14")), Bytes({0x42, 3, 1, 0x3a}));
}

TEST(NumberTest, RefusesOrderedBytesThatNoNumberEncodesTo) {
  const std::string pairs20(20, '\x0b');
  const std::vector<std::string> cases = {
      "",
      Bytes({0}),
      Bytes({4, 0x82, 0x0b, 0}),
      Bytes({3}),
      Bytes({3, 0x82}),
      Bytes({3, 0x82, 0}),              // No digits.
      Bytes({3, 0x82, 0x0b}),           // No end.
      Bytes({3, 0x82, 0x0a, 0}),        // A leading zero: 09.
      Bytes({3, 0x82, 0x0b, 0x01, 0}),  // Trailing zeros: 10 00.
      Bytes({3, 0x82, 0x66, 0}),        // A pair of 101.
      Bytes({1, 0x7d, 0x0b, 0xff}),     // Negative, but not complemented.
      Bytes({3, 0x82}) + pairs20 + Bytes({0}),
  };
  for (const std::string& bytes : cases) {
    Reader reader(bytes);
    EXPECT_EQ(Number::DecodeOrdered(&reader), Number());
    EXPECT_FALSE(reader.ok()) << ::testing::PrintToString(bytes);
  }
}

TEST(NumberTest, RefusesCompactBytesThatAreNotCanonical) {
  const std::vector<std::string> cases = {
      "",
      Bytes({1}),
      Bytes({0x80}),                 // Minus zero.
      Bytes({1, 0}),                 // Zero with a length.
      Bytes({2, 0, 7}),              // A padded coefficient.
      Bytes({1, 10}),                // A trailing decimal zero.
      Bytes({0x41, 0, 7}),           // A needless exponent.
      Bytes({0x21, 7}),              // The reserved bit.
      Bytes({0x41, 0xfc, 0x01, 1}),  // 10^126.
      Bytes({0x41, 0x85, 0x02, 1}),  // 10^-131.
      Bytes({0x41, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1}),
      Bytes({17}) + std::string(17, '\x01'),
      Bytes({16}) + std::string(16, '\xff'),  // 39 digits.
  };
  for (const std::string& bytes : cases) {
    Reader reader(bytes);
    EXPECT_EQ(Number::DecodeCompact(&reader), Number());
    EXPECT_FALSE(reader.ok()) << ::testing::PrintToString(bytes);
  }
}

// Schoolbook arithmetic with one digit for each power of ten, from 10^-200 to 10^199. It is slow,
// and so simple that a reader can see that it is right.
class Oracle {
 public:
  static Oracle Of(bool negative, const std::string& digits, int exponent) {
    Oracle oracle;
    for (size_t i = 0; i < digits.size(); ++i) {
      oracle.At(exponent + static_cast<int>(digits.size() - 1 - i)) =
          (digits[i] - '0') * (negative ? -1 : 1);
    }
    return oracle;
  }

  Oracle Plus(const Oracle& other) const {
    Oracle sum;
    for (size_t i = 0; i < kPlaces; ++i) sum.places_[i] = places_[i] + other.places_[i];
    return sum.Signed();
  }
  Oracle Negated() const {
    Oracle result = *this;
    for (int& place : result.places_) place = -place;
    return result;
  }

  int Sign() const {
    auto place =
        std::find_if(places_.rbegin(), places_.rend(), [](int digit) { return digit != 0; });
    return place == places_.rend() ? 0 : (*place > 0 ? 1 : -1);
  }

  // What Number should give for this value: its text, or the error of the arithmetic.
  std::string Text() const {
    if (Sign() == 0) return "0";
    int top = kTop;
    while (Digit(top) == 0) --top;
    int bottom = -kTop;
    while (Digit(bottom) == 0) ++bottom;
    if (top - bottom >= 38 || top > 125) return kOverflow;
    if (top < -130) return kUnderflow;
    std::string text = Sign() < 0 ? "-" : "";
    for (int place = std::max(top, 0); place >= std::min(bottom, 0); --place) {
      if (place == -1) text += '.';
      text += static_cast<char>('0' + std::abs(Digit(place)));
    }
    return text;
  }

 private:
  static constexpr int kTop = 199;
  static constexpr size_t kPlaces = 2 * kTop + 1;

  int& At(int power) { return places_[static_cast<size_t>(power + kTop)]; }
  int Digit(int power) const { return places_[static_cast<size_t>(power + kTop)]; }

  // Brings every place to one digit, all of the value's sign.
  Oracle Signed() const {
    Oracle result = *this;
    const int sign = Sign();
    int carry = 0;
    for (int& place : result.places_) {
      const int value = place * sign + carry + 100;
      place = value % 10 * sign;
      carry = value / 10 - 10;
    }
    return result;
  }

  std::array<int, kPlaces> places_{};
};

struct Sample {
  Number number;
  Oracle oracle;
};

// Each run has another seed, so that many runs together try many numbers.
int NumbersToTry() { return testing::AmountOf({.usual = 20'000, .release = 1'000'000}); }

class NumberPropertyTest : public ::testing::Test {
 protected:
  // A failure is replayed with --gtest_random_seed.
  NumberPropertyTest() {
    const int chosen = GTEST_FLAG_GET(random_seed);
    const unsigned seed =
        chosen != 0 ? static_cast<unsigned>(chosen) : std::random_device()() % 100'000;
    engine_.seed(seed);
    std::printf("seed %u\n", seed);
  }

  int Between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

  // Digits that carry or cancel are frequent. `magnitude` is the power of ten of the first digit.
  Sample Near(int magnitude) {
    std::string digits;
    const int style = Between(0, 3);
    const int count = Between(1, 38);
    for (int i = 0; i < count; ++i) {
      const int random = Between(0, 9);
      digits += static_cast<char>('0' + (style == 0 ? 9 : style == 1 ? (random == 0) : random));
    }
    if (digits[0] == '0') digits[0] = '1';
    const bool negative = Between(0, 1) == 1;
    const int exponent = magnitude - count + 1;
    const std::string text = (negative ? "-" : "") + digits + "e" + std::to_string(exponent);
    return {N(text), Oracle::Of(negative, digits, exponent)};
  }
  Sample Any() { return Near(Between(-130, 125)); }

  // Two numbers, mostly close enough for arithmetic to be exact.
  std::pair<Sample, Sample> Pair() {
    const int magnitude = Between(-130, 125);
    const int spread = Between(0, 3) == 0 ? 60 : 5;
    return {Near(magnitude), Near(std::clamp(magnitude + Between(-spread, spread), -130, 125))};
  }

  std::mt19937_64 engine_;
};

std::string TextOf(const Result<Number>& result) {
  return result.has_value() ? result->ToString() : result.error().message;
}

TEST_F(NumberPropertyTest, AgreesWithSchoolbookArithmetic) {
  for (int i = 0; i < NumbersToTry(); ++i) {
    const auto [left, right] = Pair();
    ASSERT_EQ(left.number.ToString(), left.oracle.Text());
    ASSERT_EQ(TextOf(Add(left.number, right.number)), left.oracle.Plus(right.oracle).Text())
        << left.number.ToString() << " + " << right.number.ToString();
    const Oracle difference = left.oracle.Plus(right.oracle.Negated());
    ASSERT_EQ(TextOf(Subtract(left.number, right.number)), difference.Text())
        << left.number.ToString() << " - " << right.number.ToString();
    ASSERT_EQ(left.number <=> right.number, difference.Sign() <=> 0)
        << left.number.ToString() << " <=> " << right.number.ToString();
  }
}

TEST_F(NumberPropertyTest, OrderedBytesSortAsTheNumbersDo) {
  for (int i = 0; i < NumbersToTry(); ++i) {
    const auto [left, right] = Pair();
    ASSERT_EQ(Ordered(left.number) <=> Ordered(right.number), left.number <=> right.number)
        << left.number.ToString() << " " << right.number.ToString();
  }
}

TEST_F(NumberPropertyTest, IsTheSameAfterWritingAndReading) {
  for (int i = 0; i < NumbersToTry(); ++i) {
    const Number number = Any().number;
    ASSERT_EQ(N(number.ToString()), number);
    const std::string ordered = Ordered(number);
    Reader ordered_reader(ordered);
    ASSERT_EQ(Number::DecodeOrdered(&ordered_reader), number);
    ASSERT_TRUE(ordered_reader.AtEnd());
    const std::string compact = Compact(number);
    Reader compact_reader(compact);
    ASSERT_EQ(Number::DecodeCompact(&compact_reader), number);
    ASSERT_TRUE(compact_reader.AtEnd());
  }
}

// Every power of ten and its neighbours: where digit counts change.
TEST(NumberTest, DistinguishesEveryPowerOfTenFromItsNeighbours) {
  for (int power = 0; power < 38; ++power) {
    const Number ten = N("1e" + std::to_string(power));
    const Number below = *Subtract(ten, N("1"));
    EXPECT_LT(below, ten);
    EXPECT_LT(Ordered(below), Ordered(ten));
    EXPECT_EQ(below.ToString(), power == 0 ? "0" : std::string(static_cast<size_t>(power), '9'));
  }
}

}  // namespace
}  // namespace tidemark::item
