// Compressed texts as HTTP sends them (RFC 1952), and the checksum that gzip has too. Pure
// functions; may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark {

std::string Gzip(std::string_view bytes);

// What `packed` unpacks to. kInvalid when it is not gzip, is damaged or cut off, or has something
// behind its end. kThrottled when it unpacks to more than `most` bytes: unpacking ends there, so a
// small text that stands for a huge one costs no more than `most`.
Result<std::string> Gunzip(std::string_view packed, size_t most);

// CRC-32 with the polynomial of zlib.
uint32_t Crc32(std::string_view bytes);

}  // namespace tidemark
