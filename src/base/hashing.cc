#include "base/hashing.h"

#include <memory>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // XXH3 with the widest registers that the machine has.
#else
#include <xxhash.h>
#endif

#include "base/check.h"

namespace tidemark {

namespace {

const unsigned char* Unsigned(const char* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

struct FreeContext {
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using MacContext = std::unique_ptr<EVP_MAC_CTX, FreeContext>;

// Finding the algorithm costs more than hashing a short text, so it is found once. What each call
// uses is a copy, which no other thread sees.
MacContext NewHmacSha256() {
  static const EVP_MAC_CTX* const prototype = [] {
    EVP_MAC* mac = EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
    EVP_MAC_CTX* context = EVP_MAC_CTX_new(mac);
    CHECK(context != nullptr);
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};
    CHECK(EVP_MAC_CTX_set_params(context, parameters) == 1);
    return context;
  }();
  MacContext context(EVP_MAC_CTX_dup(prototype));
  CHECK(context != nullptr);
  return context;
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  std::string digest(32, '\0');
  // This fails only if OpenSSL has no SHA-256, which means a broken installation.
  CHECK(EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                   nullptr, EVP_sha256(), nullptr) == 1);
  return digest;
}

struct Sha256Stream::State {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  CHECK(state_->context != nullptr);
  CHECK(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}

Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::Add(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256Stream::Finish() {
  std::string digest(32, '\0');
  CHECK(EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.data()),
                           nullptr) == 1);
  return digest;
}

std::string HmacSha256(const Secret& key, std::initializer_list<std::string_view> parts) {
  const MacContext context = NewHmacSha256();
  const std::string_view bytes = key.Reveal();
  // OpenSSL reads a null key as "the same key as before", but there is no key before.
  const char* start = bytes.empty() ? "" : bytes.data();
  CHECK(EVP_MAC_init(context.get(), Unsigned(start), bytes.size(), nullptr) == 1);
  for (std::string_view part : parts) {
    CHECK(EVP_MAC_update(context.get(), Unsigned(part.data()), part.size()) == 1);
  }
  std::string code(32, '\0');
  size_t length = 0;
  CHECK(EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(code.data()), &length,
                      code.size()) == 1);
  CHECK(length == code.size());
  return code;
}

uint64_t FastHash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string ToHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

bool EqualInConstantTime(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace tidemark
