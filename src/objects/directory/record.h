// What is stored about an object in addition to its bytes, as an attribute of its file
// (docs/formats/objects.md, "The record"). Any thread may call these functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "objects/objects.h"

namespace tidemark::directory {

inline constexpr char kRecordAttribute[] = "user.tidemark";
inline constexpr size_t kMaxRecordBytes = 3200;

struct Record {
  std::chrono::milliseconds modified{0};
  uint64_t size = 0;
  std::string sha256;  // 32 bytes.
  uint64_t nonce = 0;
  std::string content_type;
  objects::Metadata metadata;
  friend bool operator==(const Record&, const Record&) = default;
};

std::string EncodeRecord(const Record& record);
// Returns nullopt if the bytes are not a valid record, so they are damaged.
std::optional<Record> DecodeRecord(std::string_view bytes);

std::string EtagOf(const Record& record);

}  // namespace tidemark::directory
