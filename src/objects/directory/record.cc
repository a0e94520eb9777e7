#include "objects/directory/record.h"

#include "base/bytes.h"
#include "base/hashing.h"

namespace tidemark::directory {

namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kHashBytes = 32;
constexpr size_t kChecksumBytes = 8;

std::string ChecksumOf(std::string_view bytes) { return Sha256(bytes).substr(0, kChecksumBytes); }

objects::Metadata ReadMetadata(Reader* reader) {
  objects::Metadata metadata;
  for (uint64_t left = reader->Varint(); left > 0 && reader->ok(); --left) {
    const std::string name(reader->Text());
    metadata[name] = reader->Text();
  }
  return metadata;
}

}  // namespace

std::string EncodeRecord(const Record& record) {
  std::string bytes(1, static_cast<char>(kVersion));
  AppendFixed64(static_cast<uint64_t>(record.modified.count()), &bytes);
  AppendVarint(record.size, &bytes);
  bytes += record.sha256;
  AppendFixed64(record.nonce, &bytes);
  AppendText(record.content_type, &bytes);
  AppendVarint(record.metadata.size(), &bytes);
  for (const auto& [name, value] : record.metadata) {
    AppendText(name, &bytes);
    AppendText(value, &bytes);
  }
  return bytes + ChecksumOf(bytes);
}

std::optional<Record> DecodeRecord(std::string_view bytes) {
  if (bytes.size() < kChecksumBytes) return std::nullopt;
  const std::string_view body = bytes.substr(0, bytes.size() - kChecksumBytes);
  // Before anything is decoded: a flipped bit in a length could still decode to a valid record.
  if (ChecksumOf(body) != bytes.substr(body.size())) return std::nullopt;
  Reader reader(body);
  if (reader.Byte() != kVersion) return std::nullopt;
  Record record;
  record.modified = std::chrono::milliseconds(static_cast<int64_t>(reader.Fixed64()));
  record.size = reader.Varint();
  record.sha256 = reader.Take(kHashBytes);
  record.nonce = reader.Fixed64();
  record.content_type = reader.Text();
  record.metadata = ReadMetadata(&reader);
  if (!reader.AtEnd()) return std::nullopt;
  return record;
}

std::string EtagOf(const Record& record) {
  std::string nonce;
  AppendFixed64(record.nonce, &nonce);
  return ToHex(record.sha256) + "-" + ToHex(nonce);
}

}  // namespace tidemark::directory
