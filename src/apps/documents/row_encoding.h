// The items of the cache's table: rows, and the pointers by which each customer of a document finds
// its row. docs/formats/documents.md describes them.
//
// Pure functions; may be called from any thread. Decoding never trusts what is stored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/documents/options.h"
#include "apps/documents/row.h"
#include "item/value.h"

namespace tidemark::documents {

// A row that never held a version has this in the place of its type. So TimeRangeIndex lists first
// writes that are under way.
inline constexpr std::string_view kIntentPartition = "~intent";

// The item of a row. A document that does not fit into an item is left out.
item::Item EncodeRow(const DocumentsOptions& options, const Row& row);
// When the stored document is damaged, the row has its version without the document. Returns
// nullopt when the item is not a row: a pointer, the mark, or an item without an id.
std::optional<Row> DecodeRow(const item::Item& item);

// The same without parsing the document: its text is moved out of the item. A range needs no more,
// and this takes a fraction of the time. There is no text when it is damaged. Its hash tells that;
// rows of other programs have no hash, so their text is parsed.
struct UnparsedRow {
  Row row;
  std::optional<std::string> json;
};
std::optional<UnparsedRow> DecodeUnparsedRow(item::Item item);

// Every customer but the first has an item that points to the row, with this key.
std::string PointerKey(std::string_view id, std::string_view customer);
std::vector<item::Item> EncodePointers(const Row& row);
// The id of the row that a pointer points to; nullopt when the item is not a pointer, or has
// another key than a pointer to that row.
std::optional<std::string> DecodePointer(const item::Item& item);

}  // namespace tidemark::documents
