#include "tables/embedded/stream_record.h"

#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "item/encoding.h"

namespace tidemark::embedded {

namespace {

constexpr uint8_t kVersion = 1;
// As long as DynamoDB's shortest ones. 64 bits need 20 digits, so the first one is always 0.
constexpr size_t kSequenceDigits = 21;

// These bits are stored. A record with another bit is damaged or of a later version, and is
// refused.
enum Flag : uint8_t { kExpired = 1, kHasOld = 2, kHasNew = 4 };

Error DamagedRecord() {
  return {ErrorCode::kCorrupt, "a stream record does not decode; restore a backup"};
}

}  // namespace

std::string StreamRowKey(uint32_t stream, uint64_t sequence) {
  std::string key;
  AppendFixed32(stream, &key);
  AppendFixed64(sequence, &key);
  return key;
}

// A Reader that has passed the end returns zeros and is not AtEnd. So one check after all reads is
// enough, here and below.
Result<uint64_t> SequenceOfRowKey(std::string_view row_key) {
  Reader reader(row_key);
  reader.Fixed32();
  const uint64_t sequence = reader.Fixed64();
  if (!reader.AtEnd()) return DamagedRecord();
  return sequence;
}

Range StreamRange(uint32_t stream) {
  std::string prefix;
  AppendFixed32(stream, &prefix);
  return PrefixRange(std::move(prefix));
}

// The numbers are not kept anywhere else: after a start, new records are numbered on from the last
// one that is stored. If all were trimmed, the catalog knows how far (`trimmed_through`).
Result<std::optional<uint64_t>> LastSequence(const Store& store, uint32_t stream) {
  Cursor cursor = store.Iterate(Family::kStreams, StreamRange(stream));
  cursor.SeekToLast();
  TRY(cursor.status());
  if (!cursor.valid()) return std::optional<uint64_t>();
  return std::optional<uint64_t>(TRY(SequenceOfRowKey(cursor.key())));
}

std::string SequenceText(uint64_t sequence) {
  return fmt::format("{:0{}}", sequence, kSequenceDigits);
}

std::optional<uint64_t> ParseSequence(std::string_view text) {
  uint64_t sequence = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, sequence);
  if (text.empty() || error != std::errc() || rest != end) return std::nullopt;
  return sequence;
}

// The images come last, so that CreationTimeOf, which trimming calls for many records, does not
// pass over them. They are encoded already: the new one has the bytes of the item's own row.
void EncodeStreamRecord(const NewRecord& record, std::string* out) {
  uint8_t flags = record.expired ? kExpired : 0;
  if (!record.old_image.empty()) flags |= kHasOld;
  if (!record.new_image.empty()) flags |= kHasNew;
  out->push_back(static_cast<char>(kVersion));
  out->push_back(static_cast<char>(record.kind));
  out->push_back(static_cast<char>(record.view));
  out->push_back(static_cast<char>(flags));
  AppendVarint(static_cast<uint64_t>(record.created_at), out);
  item::EncodeItem(record.keys, out);
  out->append(record.old_image);
  out->append(record.new_image);
}

namespace {

struct RecordHead {
  tables::ChangeKind kind;
  tables::StreamView view;
  uint8_t flags;
  EpochSeconds created_at;
};

Result<RecordHead> ReadHead(Reader* reader) {
  const uint8_t version = reader->Byte();
  const uint8_t kind = reader->Byte();
  const uint8_t view = reader->Byte();
  const uint8_t flags = reader->Byte();
  if (version != kVersion || kind > static_cast<uint8_t>(tables::ChangeKind::kRemove) ||
      view > static_cast<uint8_t>(tables::StreamView::kNewAndOldImages) || flags > 7) {
    return DamagedRecord();
  }
  return RecordHead{.kind = static_cast<tables::ChangeKind>(kind),
                    .view = static_cast<tables::StreamView>(view),
                    .flags = flags,
                    .created_at = static_cast<EpochSeconds>(reader->Varint())};
}

}  // namespace

Result<EpochSeconds> CreationTimeOf(std::string_view value) {
  Reader reader(value);
  const RecordHead head = TRY(ReadHead(&reader));
  if (!reader.ok()) return DamagedRecord();
  return head.created_at;
}

Result<tables::StreamRecord> DecodeStreamRecord(std::string_view row_key, std::string_view value) {
  Reader reader(value);
  const RecordHead head = TRY(ReadHead(&reader));
  tables::StreamRecord record{.sequence = SequenceText(TRY(SequenceOfRowKey(row_key))),
                              .kind = head.kind,
                              .view = head.view,
                              .created_at = head.created_at,
                              .expired = (head.flags & kExpired) != 0};
  record.keys = item::DecodeItem(&reader);
  if ((head.flags & kHasOld) != 0) record.old_image = item::DecodeItem(&reader);
  if ((head.flags & kHasNew) != 0) record.new_image = item::DecodeItem(&reader);
  if (!reader.AtEnd()) return DamagedRecord();
  return record;
}

}  // namespace tidemark::embedded
