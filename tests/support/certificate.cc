#include "tests/support/certificate.h"

#include <cstdio>
#include <memory>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/check.h"

namespace tidemark::testing {
namespace {

template <auto kFree>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, FreeWith<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, FreeWith<X509_EXTENSION_free>>;
using File = std::unique_ptr<std::FILE, FreeWith<std::fclose>>;

constexpr long kHalfLifeSeconds = 3'600;

void Name(const std::string& subject, X509* certificate) {
  const std::string common_name = subject.substr(subject.find(':') + 1);
  X509_NAME* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  X509_set_issuer_name(certificate, name);
  const Extension extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, subject.c_str()));
  CHECK(extension != nullptr);
  X509_add_ext(certificate, extension.get(), -1);
}

Certificate NewCertificate(const std::string& subject, EVP_PKEY* key) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHalfLifeSeconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kHalfLifeSeconds);
  X509_set_pubkey(certificate.get(), key);
  Name(subject, certificate.get());
  CHECK(X509_sign(certificate.get(), key, EVP_sha256()) != 0);
  return certificate;
}

File Open(const std::string& path) {
  File file(std::fopen(path.c_str(), "w"));
  CHECK(file != nullptr);
  return file;
}

}  // namespace

void WriteCertificate(const std::string& subject, const CertificatePaths& paths) {
  const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const Certificate certificate = NewCertificate(subject, key.get());
  PEM_write_X509(Open(paths.certificate).get(), certificate.get());
  PEM_write_PrivateKey(Open(paths.key).get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
}

}  // namespace tidemark::testing
