// Hashes of byte strings. May be called from any thread.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

// The 32 bytes of the SHA-256 hash.
std::string Sha256(std::string_view bytes);

}  // namespace tidemark
