// The cache's items: Row ↔ item of the table, and the pointers that make a document findable by
// each of its customers. docs/formats/documents.md describes them.
//
// Pure functions; may be called from any thread. Decoding never trusts what is stored.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/documents/document.h"
#include "apps/documents/options.h"
#include "apps/documents/row.h"
#include "base/clock.h"
#include "item/value.h"

namespace tidemark::documents {

// Where the object of a document is.
std::string ObjectKey(const DocumentsOptions& options, std::string_view id);
// The id whose truth lies at this key; nullopt when the key is not of the authoritative prefix or
// names no document.
std::optional<std::string> IdOfKey(const DocumentsOptions& options, std::string_view key);

// When a document's row ends: so long after the later of its creation and its modification.
EpochSeconds CalculateTtl(EpochSeconds created_at, EpochSeconds modified_at,
                          std::chrono::seconds life);
// As much of a version as a row can hold. nullopt when its life is over already: it is not cached.
std::optional<Committed> CommittedFrom(const DocumentsOptions& options, Document document,
                                       std::string etag, EpochSeconds now);

// The item of a row; a document that does not fit is left out of it.
item::Item EncodeRow(const DocumentsOptions& options, const Row& row);
// A row whose document cannot be read has a committed part without one. nullopt when the item is
// no row at all: a pointer, or without an id.
std::optional<Row> DecodeRow(const item::Item& item);

// The same without its document, whose text is taken out of the item: what a range needs, at a
// fraction of the time. No text when it is damaged, by its hash or, without one, by what it says.
struct UnreadRow {
  Row row;
  std::optional<std::string> json;
};
std::optional<UnreadRow> DecodeUnread(item::Item item);

// Customers behind the first have an item each that points to the row, under this key.
std::string PointerKey(std::string_view id, std::string_view customer);
std::vector<item::Item> EncodePointers(const Row& row);
// The id that a pointer points to; nullopt when the item is no pointer.
std::optional<std::string> DecodePointer(const item::Item& item);

}  // namespace tidemark::documents
