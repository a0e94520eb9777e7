#include "tables/embedded/log_tail.h"

#include <memory>
#include <string>

#include <rocksdb/file_checksum.h>

namespace tidemark::embedded {

namespace {

constexpr size_t kBatchHeadBytes = 12;  // Sequence number 8, count 4.
constexpr size_t kHeadBytes = 7;        // Checksum 4, length 2, type 1; little-endian.
constexpr uint8_t kFull = 1;
constexpr uint8_t kFirst = 2;
constexpr uint8_t kLast = 4;

uint8_t ByteAt(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

uint64_t LittleEndian(std::string_view bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | ByteAt(bytes, i);
  return value;
}

// CRC-32C of the type and what follows it, as RocksDB masks it in its logs.
uint32_t ChecksumOf(std::string_view type_and_payload) {
  const std::unique_ptr<rocksdb::FileChecksumGenerator> generator =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({});
  generator->Update(type_and_payload.data(), type_and_payload.size());
  generator->Finalize();
  uint32_t crc = 0;
  for (const char byte : generator->GetChecksum()) crc = crc << 8 | static_cast<uint8_t>(byte);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

}  // namespace

bool LogTail::Parse(std::string_view bytes, Record* record) {
  if (bytes.size() < kHeadBytes) return false;
  const uint64_t length = LittleEndian(bytes.substr(4), 2);
  const uint8_t type = ByteAt(bytes, 6);
  if (type < kFull || type > kLast || length > bytes.size() - kHeadBytes) return false;
  if (LittleEndian(bytes, 4) != ChecksumOf(bytes.substr(6, 1 + length))) return false;
  *record = {type, bytes.substr(kHeadBytes, length)};
  return true;
}

bool LogTail::Record::BeginsBatch() const {
  return (type == kFull || type == kFirst) && payload.size() >= kBatchHeadBytes;
}
bool LogTail::Record::EndsBatch() const { return type == kFull || type == kLast; }
uint64_t LogTail::Record::sequence() const { return LittleEndian(payload, 8); }
uint64_t LogTail::Record::next_sequence() const {
  return sequence() + LittleEndian(payload.substr(8), 4);
}

// Reads records up to the first place that is not a whole record. From there on it only searches:
// after a torn end there are no whole records, after damage there are whole records of later
// batches.
void LogTail::Add(std::string_view block) {
  const uint64_t block_end = read_bytes_ + block.size();
  read_bytes_ = block_end;
  while (end_ == LogEnd::kWhole && block.size() >= kHeadBytes) {
    Record record;
    if (!Parse(block, &record)) {
      end_ = LogEnd::kTorn;
      block.remove_prefix(1);
      break;
    }
    if (record.BeginsBatch()) {
      if (first_sequence_ == 0) first_sequence_ = record.sequence();
      sequence_after_ = record.next_sequence();
    }
    block.remove_prefix(kHeadBytes + record.payload.size());
    // Only at the last record of a batch: until then, this batch is still the one that must follow.
    if (!record.EndsBatch()) continue;
    next_sequence_ = sequence_after_;
    whole_bytes_ = block_end - block.size();
  }
  if (end_ == LogEnd::kTorn) Search(block);
}

// Tries every byte as the beginning of a record, because a damaged length hides where the next
// record begins. A correct checksum is not enough: a stored value may itself contain the bytes of a
// log. A later batch must also have a higher sequence number than the batch that must follow.
void LogTail::Search(std::string_view bytes) {
  for (; bytes.size() >= kHeadBytes; bytes.remove_prefix(1)) {
    const uint8_t type = ByteAt(bytes, 6);
    if (type != kFull && type != kFirst) continue;
    Record record;
    if (!Parse(bytes, &record) || !record.BeginsBatch()) continue;
    if (record.sequence() > next_sequence_) end_ = LogEnd::kDamaged;
  }
}

}  // namespace tidemark::embedded
