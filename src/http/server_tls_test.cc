// The server over TLS: versions, cipher suites, and certificates that are replaced while it runs.
#include <filesystem>
#include <fstream>
#include <memory>
#include <signal.h>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "http/server.h"
#include "tests/support/certificate.h"
#include "tests/support/server_fixture.h"
#include "tests/support/temp_folder.h"

namespace tidemark::http {
namespace {

template <typename T, auto kFree>
struct Freer {
  void operator()(T* object) const { kFree(object); }
};
using Certificate = std::unique_ptr<X509, Freer<X509, X509_free>>;
using ContextPointer = std::unique_ptr<SSL_CTX, Freer<SSL_CTX, SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, Freer<SSL, SSL_free>>;

void WriteCertificate(const TlsFiles& files, const std::string& name) {
  tidemark::testing::WriteCertificate("DNS:" + name,
                                      {.certificate = files.certificate, .key = files.key});
}

// A client that accepts any certificate, because the tests check which one they get.
class TlsClient {
 public:
  struct Options {
    int min_version = TLS1_2_VERSION;
    int max_version = TLS1_3_VERSION;
    std::string suites = {};
  };

  TlsClient(uint16_t port, const Options& options)
      : connection_(port), context_(SSL_CTX_new(TLS_client_method())) {
    // Without this the client would not offer old versions.
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), options.min_version);
    SSL_CTX_set_max_proto_version(context_.get(), options.max_version);
    if (!options.suites.empty()) {
      SSL_CTX_set_cipher_list(context_.get(), options.suites.c_str());
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), connection_.descriptor());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }

  bool connected() const { return connected_; }
  SSL* ssl() { return ssl_.get(); }

  // Everything that the server sends until it closes the connection.
  std::string Ask(const std::string& request) {
    SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size()));
    std::string answer;
    char bytes[4096];
    for (int count = 0; (count = SSL_read(ssl_.get(), bytes, sizeof bytes)) > 0;) {
      answer.append(bytes, static_cast<size_t>(count));
    }
    ended_cleanly_ = SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN;
    return answer;
  }
  bool ended_cleanly() const { return ended_cleanly_; }

  std::string ServerName() {
    const Certificate certificate(SSL_get1_peer_certificate(ssl_.get()));
    char name[256] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name,
                              sizeof name);
    return name;
  }

 private:
  tidemark::testing::RawConnection connection_;
  ContextPointer context_;
  SslPointer ssl_;
  bool connected_ = false;
  bool ended_cleanly_ = false;
};

class ServerTlsTest : public ServerFixture {
 protected:
  ServerTlsTest() {
    // OpenSSL may write to a closed connection, which raises SIGPIPE.
    signal(SIGPIPE, SIG_IGN);
    files_ = {.certificate = folder_.path() + "/certificate.pem",
              .key = folder_.path() + "/key.pem"};
    options_.tls = files_;
    WriteCertificate(files_, "first.example");
  }

  TempFolder folder_;
  TlsFiles files_;
};

constexpr char kGetAndClose[] = "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

// Both versions of TLS, with a reply and a clean end of the connection.
TEST_F(ServerTlsTest, AnswersOverTls) {
  Start();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(server_->port(), {.min_version = version, .max_version = version});
    ASSERT_TRUE(client.connected());
    EXPECT_TRUE(client.Ask(kGetAndClose).ends_with("\r\n\r\nGET /a|"));
    EXPECT_TRUE(client.ended_cleanly());
  }
}

// Both bodies need many TLS records and arrive completely.
TEST_F(ServerTlsTest, CarriesLargeBodies) {
  Start();
  TlsClient client(server_->port(), {});
  const std::string body(300'000, 'b');
  const std::string answer = client.Ask(
      "POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n" + body);
  EXPECT_TRUE(answer.ends_with("\r\n\r\nPOST /a|" + body));
}

// A body from a source: pieces are read while others are encrypted.
TEST_F(ServerTlsTest, CarriesBodiesOfASource) {
  class LetterSource final : public BodySource {
    Result<std::string> Read(uint64_t offset, size_t size) override {
      return std::string(size, static_cast<char>('a' + offset / kBodyPieceBytes));
    }
  };
  handler_.AnswerWith([](const std::string&) {
    return Response{.source = std::make_shared<LetterSource>(),
                    .source_size = 3 * kBodyPieceBytes + 1};
  });
  Start();
  TlsClient client(server_->port(), {});
  const std::string answer = client.Ask(kGetAndClose);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + std::string(kBodyPieceBytes, 'a') +
                               std::string(kBodyPieceBytes, 'b') +
                               std::string(kBodyPieceBytes, 'c') + "d"));
  EXPECT_TRUE(client.ended_cleanly());
}

// Old versions, and suites without forward secrecy.
TEST_F(ServerTlsTest, RefusesOldVersionsAndSuites) {
  Start();
  EXPECT_FALSE(
      TlsClient(server_->port(), {.min_version = TLS1_VERSION, .max_version = TLS1_1_VERSION})
          .connected());
  for (const char* suites : {"AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "eNULL"}) {
    EXPECT_FALSE(
        TlsClient(server_->port(), {.max_version = TLS1_2_VERSION, .suites = suites}).connected())
        << suites;
  }
  EXPECT_TRUE(handler_.requests().empty());
}

// Session tickets are encrypted with one key for the whole life of the process, which weakens
// forward secrecy.
TEST_F(ServerTlsTest, GivesNoSessionTickets) {
  Start();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(server_->port(), {.min_version = version, .max_version = version});
    client.Ask(kGetAndClose);
    EXPECT_EQ(SSL_SESSION_has_ticket(SSL_get_session(client.ssl())), 0);
  }
}

// A client without TLS gets no reply, and its request does not reach the handler.
TEST_F(ServerTlsTest, RefusesPlainHttp) {
  Start();
  RawConnection connection(server_->port());
  connection.Send(kGetAndClose);
  EXPECT_EQ(connection.ReadToEnd().find("HTTP/"), std::string::npos);
  EXPECT_TRUE(handler_.requests().empty());
}

// A client that connects and sends nothing is disconnected.
TEST_F(ServerTlsTest, TimesOutOnTheHandshake) {
  options_.limits.head_timeout = std::chrono::milliseconds(20);
  Start();
  RawConnection connection(server_->port());
  EXPECT_TRUE(connection.IsClosedByPeer());
}

// The limits hold over TLS too, and the client gets the refusal.
TEST_F(ServerTlsTest, RefusesWithinTls) {
  Start();
  TlsClient client(server_->port(), {});
  const std::string answer = client.Ask(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n" + std::string(kGetAndClose));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_TRUE(handler_.requests().empty());
}

// New connections get the new certificate. An open connection continues with the old one.
TEST_F(ServerTlsTest, ReloadsItsCertificate) {
  Start();
  TlsClient before(server_->port(), {});
  EXPECT_EQ(before.ServerName(), "first.example");
  WriteCertificate(files_, "second.example");
  ASSERT_TRUE(server_->ReloadCertificate().has_value());
  EXPECT_EQ(TlsClient(server_->port(), {}).ServerName(), "second.example");
  EXPECT_TRUE(before.Ask(kGetAndClose).ends_with("GET /a|"));
}

// A mistake in the files must not end the service.
TEST_F(ServerTlsTest, KeepsTheOldCertificateWhenTheNewIsBad) {
  Start();
  const TlsFiles other{.certificate = files_.certificate, .key = folder_.path() + "/other.pem"};
  WriteCertificate(other, "second.example");  // The key does not belong to it.
  EXPECT_EQ(server_->ReloadCertificate().error().code, ErrorCode::kInvalid);
  std::ofstream(files_.certificate) << "no certificate";
  EXPECT_EQ(server_->ReloadCertificate().error().code, ErrorCode::kInvalid);
  std::filesystem::remove(files_.certificate);
  EXPECT_EQ(server_->ReloadCertificate().error().code, ErrorCode::kInvalid);
  EXPECT_EQ(TlsClient(server_->port(), {}).ServerName(), "first.example");
}

// A server with a bad certificate does not start. A server without TLS has no certificate to
// reload.
TEST_F(ServerTlsTest, SaysThatTheCertificateIsBad) {
  std::ofstream(files_.key) << "no key";
  const auto started = Server::Start(options_, &handler_, runtime());
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code, ErrorCode::kInvalid);
  EXPECT_NE(started.error().message.find("key"), std::string::npos);
  options_.tls.reset();
  Start();
  EXPECT_EQ(server_->ReloadCertificate().error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace tidemark::http
