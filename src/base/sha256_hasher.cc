#include "base/sha256_hasher.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace tidemark {

struct Sha256Hasher::State {
  State() : context(EVP_MD_CTX_new()) {
    CHECK(context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1);
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  EVP_MD_CTX* const context;
};

Sha256Hasher::Sha256Hasher() : state_(std::make_unique<State>()) {}
Sha256Hasher::~Sha256Hasher() = default;
Sha256Hasher::Sha256Hasher(Sha256Hasher&&) noexcept = default;
Sha256Hasher& Sha256Hasher::operator=(Sha256Hasher&&) noexcept = default;

void Sha256Hasher::Add(std::string_view piece) {
  CHECK(EVP_DigestUpdate(state_->context, piece.data(), piece.size()) == 1);
}

std::string Sha256Hasher::Finish() {
  std::string digest(32, '\0');
  CHECK(EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.data()),
                           nullptr) == 1);
  return digest;
}

}  // namespace tidemark
