// Ordered keys: a value that decodes is encoded to the same bytes, and two encoded values sort like
// the values. The first byte chooses the type.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "item/order.h"

namespace item = tidemark::item;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::array kTypes = {item::Type::kString, item::Type::kNumber, item::Type::kBinary};
  if (size == 0) return 0;
  const item::Type type = kTypes[data[0] % kTypes.size()];
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);

  tidemark::Reader reader(bytes);
  const item::Value first = item::DecodeOrdered(type, &reader);
  if (!reader.ok()) return 0;
  const std::string_view first_bytes = bytes.substr(0, bytes.size() - reader.rest().size());
  std::string again;
  item::EncodeOrdered(first, &again);
  CHECK(again == first_bytes);

  const std::string_view rest = reader.rest();
  const item::Value second = item::DecodeOrdered(type, &reader);
  if (!reader.ok()) return 0;
  const std::string_view second_bytes = rest.substr(0, rest.size() - reader.rest().size());
  CHECK(item::Compare(first, second) == first_bytes <=> second_bytes);
  return 0;
}
