// DynamoDB JSON: an item that parses is valid, and decoding its text and its bytes returns the same
// item.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "item/encoding.h"
#include "item/json.h"
#include "item/size.h"
#include "item/validate.h"

namespace item = tidemark::item;
using tidemark::Result;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<item::Item> parsed = item::ParseItemJson(text);
  if (!parsed) return 0;
  CHECK(item::ValidateItem(*parsed).has_value());
  const Result<item::Item> again = item::ParseItemJson(item::ToJson(*parsed));
  CHECK(again.has_value() && *again == *parsed);
  std::string bytes;
  item::EncodeItem(*parsed, &bytes);
  const Result<item::Item> decoded = item::DecodeItem(bytes);
  CHECK(decoded.has_value() && *decoded == *parsed);
  CHECK(item::SizeBytes(*decoded) == item::SizeBytes(*parsed));
  return 0;
}
