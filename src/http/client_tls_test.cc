#include <atomic>
#include <memory>
#include <signal.h>
#include <string>

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "base/check.h"
#include "http/client.h"
#include "tests/support/certificate.h"
#include "tests/support/manual_time.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temp_folder.h"

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
using Context = std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, FreeWith<SSL_free>>;

// A server with a certificate for the subject. The certificate is also in a file that the client
// trusts.
class TlsServer {
 public:
  explicit TlsServer(const std::string& subject) {
    const std::string key = folder_.path() + "/key.pem";
    tidemark::testing::WriteCertificate(subject, {.certificate = authorities_, .key = key});
    CHECK(SSL_CTX_use_PrivateKey_file(context_.get(), key.c_str(), SSL_FILETYPE_PEM) == 1);
    CHECK(SSL_CTX_use_certificate_file(context_.get(), authorities_.c_str(), SSL_FILETYPE_PEM) ==
          1);
  }

  std::string url() const { return "https://127.0.0.1:" + std::to_string(server_.port()) + "/"; }
  const std::string& authorities() const { return authorities_; }
  size_t answered() const { return answered_; }

 private:
  void Serve(ScriptedServer::Connection& connection) {
    constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
    // OpenSSL may write to a closed connection, which raises SIGPIPE. It is blocked on this thread
    // only.
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

  TempFolder folder_;
  const std::string authorities_ = folder_.path() + "/certificate.pem";
  Context context_{SSL_CTX_new(TLS_server_method())};
  std::atomic<size_t> answered_ = 0;
  ScriptedServer server_{[this](ScriptedServer::Connection& connection) { Serve(connection); }};
};

struct ClientTlsTest : ::testing::Test {
  Exchange Send(const TlsServer& server, ClientOptions options) {
    CurlClient client(std::move(options), &clock, &sleeper);
    return client.Send({.url = server.url()}, Deadline::After(clock, seconds(30)));
  }

  ManualClock clock;
  ManualSleeper sleeper{&clock};
};

TEST_F(ClientTlsTest, TrustsTheGivenAuthorities) {
  TlsServer server("IP:127.0.0.1");
  const Exchange exchange = Send(server, {.authorities = server.authorities()});
  EXPECT_EQ(exchange.outcome, Outcome::kAnswered) << exchange.detail;
  EXPECT_EQ(exchange.response.body, "secret");
}

// Nothing may be sent to a server whose certificate cannot be verified.
TEST_F(ClientTlsTest, SendsNothingToPeersItCannotVerify) {
  TlsServer server("IP:127.0.0.1");
  EXPECT_EQ(Send(server, {}).outcome, Outcome::kNotSent);
  EXPECT_EQ(Send(server, {.authorities = "/no/such/file"}).outcome, Outcome::kNotSent);
  EXPECT_EQ(server.answered(), 0u);
}

// A valid certificate for another name must be refused.
TEST_F(ClientTlsTest, SendsNothingToPeersWithAnotherName) {
  TlsServer server("DNS:slack.test");
  EXPECT_EQ(Send(server, {.authorities = server.authorities()}).outcome, Outcome::kNotSent);
  EXPECT_EQ(server.answered(), 0u);
}

}  // namespace
}  // namespace tidemark::http
