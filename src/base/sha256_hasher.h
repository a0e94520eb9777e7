// The SHA-256 of bytes that come in pieces; base/hashing.h has it for those that are all there.
//
//   Sha256Hasher hasher;
//   hasher.Add(piece);
//   const std::string hash = hasher.Finish();
//
// Belongs to one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tidemark {

class Sha256Hasher {
 public:
  Sha256Hasher();
  ~Sha256Hasher();
  Sha256Hasher(Sha256Hasher&&) noexcept;
  Sha256Hasher& operator=(Sha256Hasher&&) noexcept;

  void Add(std::string_view piece);
  // The 32 bytes; nothing is added after it.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark
