// Encrypts what must not be readable at rest, with AES-256-GCM.
//
//   std::string sealed = Seal(key, secret.Reveal(), "AKID", random);
//   Secret secret = TRY(Unseal(key, sealed, "AKID"));
//
// `bound_to` says what the text belongs to. It is not stored, and unsealing with another one fails:
// so a sealed text cannot be moved to another row. May be called from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"

namespace tidemark {

inline constexpr size_t kSealKeyBytes = 32;

// The key has kSealKeyBytes. The result is 28 bytes longer than the text: 12 random bytes, the
// encrypted text, and 16 bytes that prove that nothing was changed.
std::string Seal(const Secret& key, std::string_view text, std::string_view bound_to,
                 Random& random);
// kCorrupt when the key, the text or `bound_to` is another.
Result<Secret> Unseal(const Secret& key, std::string_view sealed, std::string_view bound_to);

}  // namespace tidemark
