// Numbers: decoding the text and both byte forms of a number returns the same number.
#include "item/number.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

using tidemark::Reader;
using tidemark::Result;
using tidemark::item::Number;

namespace {

template <typename Encode, typename Decode>
void CheckBytes(const Number& number, Encode encode, Decode decode) {
  std::string bytes;
  (number.*encode)(&bytes);
  Reader reader(bytes);
  CHECK(decode(&reader) == number && reader.AtEnd());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Number> number = Number::Parse(text);
  if (!number) return 0;
  const Result<Number> again = Number::Parse(number->ToString());
  CHECK(again.has_value() && *again == *number);
  CheckBytes(*number, &Number::EncodeOrdered, &Number::DecodeOrdered);
  CheckBytes(*number, &Number::EncodeCompact, &Number::DecodeCompact);
  CHECK(number->SizeBytes() >= 1 && number->SizeBytes() <= 22);
  const Result<Number> difference = Subtract(*number, *number);
  CHECK(difference.has_value() && *difference == Number());
  number->Floor();
  return 0;
}
