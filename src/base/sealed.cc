#include "base/sealed.h"

#include <memory>

#include <openssl/evp.h>

#include "base/bytes.h"
#include "base/check.h"

namespace tidemark {

namespace {

constexpr size_t kNonceBytes = 12;
constexpr int kTagBytes = 16;

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

const unsigned char* In(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* Out(std::string* bytes) { return reinterpret_cast<unsigned char*>(bytes->data()); }

// OpenSSL's functions fail here only when it has no memory or no AES.
Cipher Begin(const Secret& key, std::string_view nonce, std::string_view bound_to, int encrypts) {
  CHECK(key.Reveal().size() == kSealKeyBytes);
  Cipher cipher(EVP_CIPHER_CTX_new());
  CHECK(cipher != nullptr);
  CHECK(EVP_CipherInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, In(key.Reveal()), In(nonce),
                          encrypts) == 1);
  int length = 0;
  CHECK(EVP_CipherUpdate(cipher.get(), nullptr, &length, In(bound_to),
                         static_cast<int>(bound_to.size())) == 1);
  return cipher;
}

std::string Translate(EVP_CIPHER_CTX* cipher, std::string_view text) {
  std::string translated(text.size(), '\0');
  int length = 0;
  CHECK(EVP_CipherUpdate(cipher, Out(&translated), &length, In(text),
                         static_cast<int>(text.size())) == 1);
  return translated;
}

}  // namespace

std::string Seal(const Secret& key, std::string_view text, std::string_view bound_to,
                 Random& random) {
  std::string sealed;
  AppendFixed64(random.Next(), &sealed);
  AppendFixed32(static_cast<uint32_t>(random.Next()), &sealed);
  const Cipher cipher = Begin(key, sealed, bound_to, 1);
  sealed += Translate(cipher.get(), text);
  int length = 0;
  std::string tag(kTagBytes, '\0');
  CHECK(EVP_CipherFinal_ex(cipher.get(), Out(&tag), &length) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1);
  return sealed + tag;
}

Result<Secret> Unseal(const Secret& key, std::string_view sealed, std::string_view bound_to) {
  const Error refusal{ErrorCode::kCorrupt,
                      "a sealed text does not open: it was changed, or the key is another"};
  if (sealed.size() < kNonceBytes + kTagBytes) return refusal;
  const Cipher cipher = Begin(key, sealed.substr(0, kNonceBytes), bound_to, 0);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  sealed.remove_prefix(kNonceBytes);
  sealed.remove_suffix(kTagBytes);
  Secret text(Translate(cipher.get(), sealed));
  CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1);
  int length = 0;
  if (EVP_CipherFinal_ex(cipher.get(), Out(&tag), &length) != 1) return refusal;
  return text;
}

}  // namespace tidemark
