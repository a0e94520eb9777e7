// Hashes of byte strings. May be called from any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace tidemark {

// The 32 bytes of the SHA-256 hash.
std::string Sha256(std::string_view bytes);

// The SHA-256 hash of bytes that come in pieces. Belongs to one thread at a time.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;

  void Add(std::string_view bytes);
  // The 32 bytes. May be called once, and Add may not be called after it.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The 32 bytes of the HMAC-SHA-256 over the concatenated parts. The caller need not copy the parts
// into one text.
std::string HmacSha256(const Secret& key, std::initializer_list<std::string_view> parts);

// XXH3, the same in every run. It is very fast and detects damage, but it does not protect against
// forgery.
uint64_t FastHash(std::string_view bytes);

// Two lower-case hexadecimal digits a byte.
std::string ToHex(std::string_view bytes);

// Whether the texts are equal. The time depends only on their lengths.
bool EqualInConstantTime(std::string_view left, std::string_view right);

}  // namespace tidemark
