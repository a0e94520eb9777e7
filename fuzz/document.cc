// Fuzzes the input of documents: the text of a document, and a stored row as DynamoDB JSON. A
// document that parses keeps every byte and is decoded from its row again. A row that was decoded
// from any item can be stored and decoded again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apps/documents/document_store.h"
#include "apps/documents/row_encoding.h"
#include "base/check.h"
#include "item/json.h"

namespace {

using namespace tidemark::documents;

void TryDocument(std::string_view text) {
  const auto document = Document::Parse(std::string(text));
  if (!document) {
    CHECK(document.error().code == tidemark::ErrorCode::kInvalid);
    return;
  }
  CHECK(document->json() == text);
  CHECK(ValidateId(document->id()).has_value());
  CHECK(IdOfKey({}, ObjectKey({}, document->id())) == document->id());
  const std::chrono::seconds now(document->facts().created_at);
  const Row row =
      CommitVersion({}, Row{.id = document->id(), .revision = "r"}, *document, "e", now);
  CHECK(row.committed.has_value());
  const auto item = EncodeRow({}, row);
  const auto decoded = DecodeRow(item);
  CHECK(decoded && decoded->committed && decoded->committed->facts.kind == document->facts().kind);
  if (item.Contains("document_json")) CHECK(*decoded == row);
  CHECK(EncodePointers(row).size() + 1 == std::max<size_t>(document->facts().customers.size(), 1));
}

void TryRow(std::string_view text) {
  const auto item = tidemark::item::ParseItemJson(text);
  const auto row = item ? DecodeRow(*item) : std::nullopt;
  if (!row) return;
  if (row->intent) IsStale(*row->intent, std::chrono::milliseconds(0), {});
  EncodePointers(*row);
  const auto again = DecodeRow(EncodeRow({}, *row));
  CHECK(again && again->intent == row->intent && again->tombstone == row->tombstone);
  CHECK(IsServable(*again, 1) == IsServable(*row, 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TryDocument(text);
  TryRow(text);
  return 0;
}
