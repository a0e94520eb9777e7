// Stream records as stored rows (docs/formats/streams.md). The key is the stream's number and the
// record's sequence number, so the records of a stream are adjacent and in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tables/embedded/store.h"
#include "tables/requests.h"

namespace tidemark::embedded {

std::string StreamRowKey(uint32_t stream, uint64_t sequence);
Result<uint64_t> SequenceOfRowKey(std::string_view row_key);
Range StreamRange(uint32_t stream);

// The number of the last record that is stored, if there is one.
Result<std::optional<uint64_t>> LastSequence(const Store& store, uint32_t stream);

// The form that callers see: 21 digits, so that texts sort like numbers.
std::string SequenceText(uint64_t sequence);
std::optional<uint64_t> ParseSequence(std::string_view text);

// A record that is not stored yet. Its sequence number is in the row's key.
struct NewRecord {
  tables::ChangeKind kind = tables::ChangeKind::kInsert;
  tables::StreamView view = tables::StreamView::kKeysOnly;
  EpochSeconds created_at = 0;
  bool expired = false;
  item::Item keys;
  // Items as item::EncodeItem writes them, which is never an empty text. Empty: this image is not
  // part of the record.
  std::string_view old_image;
  std::string_view new_image;
};
void EncodeStreamRecord(const NewRecord& record, std::string* out);
// When the record was made, without decoding its images.
Result<EpochSeconds> CreationTimeOf(std::string_view value);
Result<tables::StreamRecord> DecodeStreamRecord(std::string_view row_key, std::string_view value);

}  // namespace tidemark::embedded
