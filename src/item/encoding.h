// Items as stored bytes (docs/formats/items.md). Equal items have equal bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "item/value.h"

namespace tidemark::item {

void EncodeItem(const Item& item, std::string* out);

// Fails with kCorrupt on anything that EncodeItem does not write.
Result<Item> DecodeItem(std::string_view bytes);
// From the middle of a record; fails the reader instead.
Item DecodeItem(Reader* reader);

}  // namespace tidemark::item
