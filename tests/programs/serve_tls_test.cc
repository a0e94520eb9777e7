// `tidemark serve` over TLS, with certificates that change while it runs.
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/check.h"
#include "tests/programs/serve_fixture.h"

namespace tidemark::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

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

// For an address, signed by its own key; from an hour ago to in an hour.
Certificate NewCertificate(EVP_PKEY* key, const std::string& host) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3'600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3'600);
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("a test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_set_pubkey(certificate.get(), key);
  const Extension subject(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("IP:" + host).c_str()));
  X509_add_ext(certificate.get(), subject.get(), -1);
  CHECK(X509_sign(certificate.get(), key, EVP_sha256()) != 0);
  return certificate;
}

class ServeTlsTest : public ServeFixture {
 protected:
  ServeTlsTest() { WriteCertificate("first.pem", own_host_); }

  // A new certificate and key where the server looks for them; the certificate also under another
  // name, for a client to trust.
  void WriteCertificate(const std::string& authority, const std::string& host) const {
    const Key key(EVP_EC_gen("P-256"));
    const Certificate certificate = NewCertificate(key.get(), host);
    for (const std::string& name : {std::string("certificate.pem"), authority}) {
      const File file(std::fopen(path(name).c_str(), "w"));
      PEM_write_X509(file.get(), certificate.get());
    }
    const File file(std::fopen(path("key.pem").c_str(), "w"));
    PEM_write_PrivateKey(file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }

  void ServeOverTls() { Serve({"--tls-certificate", "certificate.pem", "--tls-key", "key.pem"}); }

  // What a client that trusts only this authority makes of the server, on a connection of its own:
  // the status of the answer, or 0 when it does not talk to it.
  int GetTrusting(const std::string& authority) {
    http::CurlClient client({.authorities = path(authority)}, &clock_, &sleeper_);
    const http::Exchange exchange = client.Send({.url = "https://" + address_ + "/healthz"},
                                                Deadline::After(clock_, seconds(30)));
    return exchange.outcome == http::Outcome::kAnswered ? exchange.response.status : 0;
  }
};

// A certificate is renewed every few weeks; nobody restarts a server for that.
TEST_F(ServeTlsTest, ReadsItsCertificateAgainOnSighup) {
  ServeOverTls();
  EXPECT_EQ(GetTrusting("first.pem"), 200);
  WriteCertificate("second.pem", own_host_);
  EXPECT_EQ(GetTrusting("second.pem"), 0);
  server_->Send(SIGHUP);
  ASSERT_TRUE(server_->AwaitError("the certificate was read again")) << server_->err();
  EXPECT_EQ(GetTrusting("second.pem"), 200);
  EXPECT_EQ(GetTrusting("first.pem"), 0);
}

// Half a renewal must not take the server down.
TEST_F(ServeTlsTest, KeepsTheCertificateWhenTheNewOneIsBroken) {
  ServeOverTls();
  std::ofstream(path("certificate.pem")) << "not a certificate\n";
  server_->Send(SIGHUP);
  ASSERT_TRUE(server_->AwaitError("the certificate could not be read; the old one stays"));
  EXPECT_THAT(server_->err(), HasSubstr("certificate.pem"));
  EXPECT_EQ(GetTrusting("first.pem"), 200);
  WriteCertificate("second.pem", own_host_);
  server_->Send(SIGHUP);
  ASSERT_TRUE(server_->AwaitError("the certificate was read again"));
  EXPECT_EQ(GetTrusting("second.pem"), 200);
}

// Without TLS there is no certificate, and a reload is no reason to stop.
TEST_F(ServeTlsTest, SurvivesSighupWithoutTls) {
  Serve();
  server_->Send(SIGHUP);
  EXPECT_TRUE(server_->AwaitError("the certificate "));
  EXPECT_EQ(Get("/healthz"), 200);
  EXPECT_EQ(StopServer(), kOk);
}

// With what is no certificate there is nothing to serve with.
TEST_F(ServeTlsTest, DoesNotStartWithABrokenCertificate) {
  std::ofstream(path("certificate.pem")) << "not a certificate\n";
  const Outcome outcome = Run({"serve", "--listen", address_, "--tls-certificate",
                               "certificate.pem", "--tls-key", "key.pem"});
  EXPECT_EQ(outcome.exit_code, kInvalid);
  EXPECT_THAT(outcome.err, HasSubstr("the TLS certificate in certificate.pem cannot be used"));
}

// A doctor asks the server by its address, for which certificates rarely are.
TEST_F(ServeTlsTest, IsKnownToTheDoctorByItsCertificate) {
  ServeOverTls();
  const Words environment = {"TIDEMARK_LISTEN=" + address_,
                             "TIDEMARK_TLS_CERTIFICATE=certificate.pem", "TIDEMARK_TLS_KEY=key.pem",
                             "TIDEMARK_SLACK_API_URL=http://" + own_host_ + ":1"};
  EXPECT_THAT(Run({"doctor"}, environment).out,
              HasSubstr("ok       store: 'tidemark-data' is in use by the server"));
  EXPECT_EQ(StopServer(), kOk);
  WriteCertificate("second.pem", "127.0.0.1");
  ServeOverTls();
  EXPECT_THAT(Run({"doctor"}, environment).out, HasSubstr("warning  store: "));
}

}  // namespace
}  // namespace tidemark::testing
