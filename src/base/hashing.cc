#include "base/hashing.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace tidemark {

std::string Sha256(std::string_view bytes) {
  std::string digest(32, '\0');
  // The one way this fails is an OpenSSL without SHA-256, which is a broken installation.
  CHECK(EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                   nullptr, EVP_sha256(), nullptr) == 1);
  return digest;
}

}  // namespace tidemark
