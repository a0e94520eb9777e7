// Stored items: bytes that decode are the very bytes that the item encodes to.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "item/encoding.h"

namespace item = tidemark::item;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const tidemark::Result<item::Item> decoded = item::DecodeItem(bytes);
  if (!decoded) return 0;
  std::string again;
  item::EncodeItem(*decoded, &again);
  CHECK(again == bytes);
  return 0;
}
