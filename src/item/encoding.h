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
// Reads an item from the middle of a record. Wrong bytes fail the reader and give an empty item.
Item DecodeItem(Reader* reader);

}  // namespace tidemark::item
