#include "base/secret.h"

#include <utility>

#include <openssl/crypto.h>

namespace tidemark {

Secret::Secret(std::string&& value) {
  value_.swap(value);
  // Moving a short string copies its bytes, so the caller's copy must be wiped too.
  OPENSSL_cleanse(value.data(), value.capacity());
}

Secret::Secret(Secret&& other) noexcept : value_(std::move(other.value_)) { other.Wipe(); }

Secret& Secret::operator=(const Secret& other) {
  if (this != &other) *this = Secret(other);
  return *this;
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  Wipe();
  value_ = std::move(other.value_);
  other.Wipe();
  return *this;
}

Secret::~Secret() { Wipe(); }

void Secret::Wipe() {
  // Wipes the whole capacity, because a short string keeps its bytes when it is moved from.
  value_.resize(value_.capacity());
  OPENSSL_cleanse(value_.data(), value_.size());
  value_.clear();
}

bool operator==(const Secret& left, const Secret& right) {
  return left.value_.size() == right.value_.size() &&
         CRYPTO_memcmp(left.value_.data(), right.value_.data(), left.value_.size()) == 0;
}

}  // namespace tidemark
