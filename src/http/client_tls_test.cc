#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <signal.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/check.h"
#include "http/client.h"
#include "http/scripted_server.h"

namespace tidemark::http {
namespace {

using std::chrono::seconds;

template <auto kFree>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, FreeWith<X509_free>>;
using Context = std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, FreeWith<SSL_free>>;

// Signed by its own key, for this subject: "IP:127.0.0.1". From the day before to the day after.
Certificate NewCertificate(EVP_PKEY* key, const char* subject) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -86'400);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86'400);
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("a test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_set_pubkey(certificate.get(), key);
  X509_EXTENSION* const extension =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, subject);
  X509_add_ext(certificate.get(), extension, -1);
  X509_EXTENSION_free(extension);
  CHECK(X509_sign(certificate.get(), key, EVP_sha256()) != 0);
  return certificate;
}

// A server with a certificate for the subject, which also lies in a file for the client to trust.
class TlsServer {
 public:
  explicit TlsServer(const char* subject) : key_(EVP_EC_gen("P-256")) {
    certificate_ = NewCertificate(key_.get(), subject);
    CHECK(SSL_CTX_use_PrivateKey(context_.get(), key_.get()) == 1);
    CHECK(SSL_CTX_use_certificate(context_.get(), certificate_.get()) == 1);
    std::FILE* const file = std::fopen(authorities_.c_str(), "w");
    CHECK(file != nullptr);
    PEM_write_X509(file, certificate_.get());
    std::fclose(file);
  }
  ~TlsServer() { std::filesystem::remove(authorities_); }

  std::string url() const { return "https://127.0.0.1:" + std::to_string(server_.port()) + "/"; }
  const std::string& authorities() const { return authorities_; }
  size_t answered() const { return answered_; }

 private:
  void Serve(ScriptedServer::Connection& connection) {
    constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
    // OpenSSL writes to a client that has hung up; only this thread may overhear that.
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    Session session(SSL_new(context_.get()));
    SSL_set_fd(session.get(), connection.socket());
    char request[4096];
    if (SSL_accept(session.get()) != 1) return;
    while (SSL_read(session.get(), request, sizeof(request)) > 0) {
      SSL_write(session.get(), kAnswer.data(), static_cast<int>(kAnswer.size()));
      ++answered_;
    }
  }

  const std::string authorities_ =
      std::filesystem::temp_directory_path() / ("authority." + std::to_string(::getpid()));
  Key key_;
  Certificate certificate_;
  Context context_{SSL_CTX_new(TLS_server_method())};
  std::atomic<size_t> answered_ = 0;
  ScriptedServer server_{[this](ScriptedServer::Connection& connection) { Serve(connection); }};
};

struct ClientTlsTest : testing::Test {
  Exchange Send(const TlsServer& server, ClientOptions options) {
    CurlClient client(std::move(options), &clock, &sleeper);
    return client.Send({.url = server.url()}, Deadline::After(clock, seconds(30)));
  }

  ManualClock clock;
  ManualSleeper sleeper{&clock};
};

TEST_F(ClientTlsTest, TrustsTheAuthoritiesGiven) {
  TlsServer server("IP:127.0.0.1");
  const Exchange exchange = Send(server, {.authorities = server.authorities()});
  EXPECT_EQ(exchange.outcome, Outcome::kAnswered) << exchange.detail;
  EXPECT_EQ(exchange.response.body, "secret");
}

// Nothing may be said to somebody whom nobody vouches for.
TEST_F(ClientTlsTest, SendsNothingToPeersItCannotVerify) {
  TlsServer server("IP:127.0.0.1");
  EXPECT_EQ(Send(server, {}).outcome, Outcome::kNotSent);
  EXPECT_EQ(Send(server, {.authorities = "/no/such/file"}).outcome, Outcome::kNotSent);
  EXPECT_EQ(server.answered(), 0u);
}

// A good certificate of somebody else is a bad one.
TEST_F(ClientTlsTest, SendsNothingToPeersOfAnotherName) {
  TlsServer server("DNS:slack.test");
  EXPECT_EQ(Send(server, {.authorities = server.authorities()}).outcome, Outcome::kNotSent);
  EXPECT_EQ(server.answered(), 0u);
}

}  // namespace
}  // namespace tidemark::http
