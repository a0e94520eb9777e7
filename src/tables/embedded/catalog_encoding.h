// Tables and streams as catalog rows (docs/formats/folder.md). A row's value is an item, so
// that a newer version can add attributes that an older one ignores.
#pragma once

#include <map>

#include "base/result.h"
#include "item/value.h"
#include "tables/embedded/catalog.h"

namespace tidemark::embedded {

item::Item EncodeStream(const Stream& stream);
Result<Stream> DecodeStream(const item::Item& row);

// A table's row refers to streams by their numbers. `streams` has every stream that the row may
// refer to.
item::Item EncodeTable(const Table& table);
Result<Table> DecodeTable(const item::Item& row, const std::map<StreamId, StreamPtr>& streams);

}  // namespace tidemark::embedded
