// Hashes of byte strings. May be called from any thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace tidemark {

// The 32 bytes of the SHA-256 hash.
std::string Sha256(std::string_view bytes);

// The 32 bytes of the HMAC-SHA-256 over the parts one after the other, so that what lies in
// several places need not be copied together.
std::string HmacSha256(const Secret& key, std::initializer_list<std::string_view> parts);

// Two lower-case hexadecimal digits a byte.
std::string ToHex(std::string_view bytes);

// Whether the texts are equal, in a time that depends on their lengths alone.
bool EqualInConstantTime(std::string_view left, std::string_view right);

}  // namespace tidemark
